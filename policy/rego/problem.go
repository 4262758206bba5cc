package rego

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A Problem is one finding about a policy's text.
type Problem struct {
	Warning bool     `json:"warning,omitempty"` // it does not keep the policy from loading
	File    string   `json:"file,omitempty"`    // "" when it concerns the policy as a whole
	Line    int      `json:"line,omitempty"`    // 1-based; 0 when unknown
	Col     int      `json:"col,omitempty"`     // 1-based
	Code    string   `json:"code"`              // OPA's code (rego_parse_error, ...) or policy_lint
	Msg     string   `json:"msg"`
	Source  string   `json:"source,omitempty"`  // the line, for the caret
	Details []string `json:"details,omitempty"` // further lines: candidates, hints
}

// String returns the finding as compilers print it: place, message, source
// line with a caret, details.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:%d:", p.Line, p.Col)
		}
		b.WriteByte(' ')
	}
	if p.Warning {
		b.WriteString("warning: ")
	}
	fmt.Fprintf(&b, "%s: %s", p.Code, p.Msg)
	if p.Source != "" {
		pad := strings.Map(func(r rune) rune {
			if r == '\t' {
				return '\t' // keeps the caret in column
			}
			return ' '
		}, p.Source[:min(max(p.Col-1, 0), len(p.Source))])
		fmt.Fprintf(&b, "\n\t%s\n\t%s^", p.Source, pad)
	}
	for _, d := range p.Details {
		b.WriteString("\n\t" + d)
	}
	return b.String()
}

type problems []Problem

func (ps problems) errors() (out []Problem) {
	for _, p := range ps {
		if !p.Warning {
			out = append(out, p)
		}
	}
	return out
}

func (ps problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Msg, b.Msg))
	})
}

// A LoadError lists what keeps a policy from being loaded.
type LoadError struct{ Problems []Problem }

// Error returns all problems, one after another.
func (e *LoadError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy: %d problem", len(e.Problems))
	if len(e.Problems) != 1 {
		b.WriteByte('s')
	}
	for _, p := range e.Problems {
		b.WriteString("\n" + p.String())
	}
	return b.String()
}

// fromAST turns OPA's errors into problems and keeps their words.
func (t texts) fromAST(err error) problems {
	var list ast.Errors
	var one *ast.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = ast.Errors{one}
	default:
		return problems{{Code: "policy_error", Msg: err.Error()}}
	}
	var ps problems
	for _, e := range list {
		p := t.at(e.Location)
		p.Code, p.Msg = e.Code, e.Message
		if e.Details != nil && e.Code != ast.ParseErr { // those of the parser are line and caret, which we have
			p.Details = e.Details.Lines()
		}
		if name, ok := strings.CutPrefix(e.Message, "undefined function "); ok && removed(name) {
			p.Details = append(p.Details, name+" is not available to policies: "+whyRemoved(name))
		}
		p.Details = append(p.Details, advice(e, p.Source)...)
		if !slices.ContainsFunc(ps, func(q Problem) bool { return q.String() == p.String() }) { // the parser repeats itself
			ps = append(ps, p)
		}
	}
	return ps
}

// keywords that people misspell; shorter ones are near to too many names.
var keywords = []string{"contains", "default", "every", "import", "package"}

var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\"[^\"]*\"|`[^`]*`|#.*|[a-z]+") })

// operators of other languages, and how Rego says it.
var foreign = []struct{ message, sign, say string }{
	{"illegal token", "'", "strings are written with double quotes or backticks"},
	{"", "&&", "conditions that must all hold stand on lines of their own in { }, or have a ; between them"},
	{"", " and ", "conditions that must all hold stand on lines of their own in { }, or have a ; between them"},
	{"", "||", "write what may hold instead as a second rule of the same name, or as: in {...}"},
	{"", " or ", "write what may hold instead as a second rule of the same name, or as: in {...}"},
	{"non-terminated string", "", "a string ends with the quote it began with, on the same line"},
	{"unexpected eof token", "", "a {, [ or ( further up is not closed"},
	{"package expected", "", "the first line is: package donax"},
	{"empty module", "", "the first line is: package donax"},
	{"cannot be used for rule name", "", "a condition comes after if: allow if input.exec.name == \"ls\""},
	{"rule name conflicts with built-in function", "", "a condition comes after if: allow if input.exec.name == \"ls\""},
}

// advice adds to OPA's words what a newcomer needs.
func advice(e *ast.Error, line string) (out []string) {
	undefined, isUndefined := strings.CutPrefix(e.Message, "undefined function ")
	switch {
	case e.Code == ast.UnsafeVarErr:
		for _, w := range []string{"true", "false", "null"} {
			if strings.EqualFold(e.Message, "var "+w+" is unsafe") {
				return []string{"it is written " + w}
			}
		}
		return []string{"it is never given a value: assign one with :=, or declare it with some ... in"}
	case isUndefined && !removed(undefined):
		if like := nearest(undefined, builtinNames()); like != "" {
			return []string{"did you mean " + like + "?"}
		}
		if strings.HasPrefix(undefined, "data.") {
			return []string{"no loaded file defines it: give --policy the folder that holds both"}
		}
		if lib, _, dotted := strings.Cut(undefined, "."); dotted {
			return []string{"if it is a package of yours, below the package line stands: import data." + lib}
		}
	case e.Code != ast.ParseErr:
		return nil
	}
	for _, f := range foreign {
		if e.Code == ast.ParseErr && strings.Contains(e.Message, f.message) && strings.Contains(line, f.sign) {
			return []string{f.say}
		}
	}
	for _, w := range word().FindAllString(line, -1) {
		if k := nearest(w, keywords); k != "" && e.Code == ast.ParseErr {
			out = append(out, "did you mean "+k+"?")
		}
	}
	return out
}

func builtinNames() (names []string) {
	for _, b := range newCapabilities().Builtins {
		names = append(names, b.Name)
	}
	return names
}

// at returns a problem placed at loc, with its source line.
func (t texts) at(loc *ast.Location) Problem {
	if loc == nil {
		return Problem{}
	}
	p := Problem{File: loc.File, Line: loc.Row, Col: loc.Col}
	if m, ok := t[loc.File]; ok {
		lines := strings.Split(m, "\n")
		if loc.Row >= 1 && loc.Row <= len(lines) {
			p.Source = strings.TrimSuffix(lines[loc.Row-1], "\r")
		}
	}
	return p
}

// lint returns an error of our own at loc.
func (t texts) lint(loc *ast.Location, format string, args ...any) Problem {
	p := t.at(loc)
	p.Code, p.Msg = "policy_lint", fmt.Sprintf(format, args...)
	return p
}
