package rego

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// JUnit returns the report as JUnit XML, which most CI systems show.
func (r *TestReport) JUnit() ([]byte, error) {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Time    string    `xml:"time,attr"`
		Skipped *struct{} `xml:"skipped"`
		Failure *failure  `xml:"failure"`
		Error   *failure  `xml:"error"`
		Output  string    `xml:"system-out,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testcase `xml:"testcase"`
	}{Name: "policy", Tests: len(r.Results)}
	for _, t := range r.Results {
		c := testcase{Class: t.Package, Name: t.Name, Time: fmt.Sprintf("%.6f", t.Duration.Seconds()), Output: printable(t.Output)}
		switch {
		case t.Skipped:
			suite.Skipped++
			c.Skipped = &struct{}{}
		case t.Pass:
		case t.Error != "":
			suite.Errors++
			c.Error = &failure{Message: printable(t.Error), Text: t.Location}
		default:
			suite.Failures++
			c.Failure = &failure{Message: printable(t.Failed), Text: t.Location}
		}
		suite.Cases = append(suite.Cases, c)
	}
	out, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

// printable drops what XML cannot carry.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}
