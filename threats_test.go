package donax

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// A test says which threats it covers in the last line of its comment:
// "Threats: FS-1, FS-2."
var (
	covers  = regexp.MustCompile(`(?m)^// Threats: ([A-Z0-9, -]+)\.\nfunc (\w+)\(`)
	covered = regexp.MustCompile(`(?m)\A# Threats: ([A-Z0-9, -]+)\.$`)
	threat  = regexp.MustCompile(`^\| ([A-Z]{2}-\d+)\b`)
)

// TestThreats compares THREATS.md with the tests, both ways: a threat names
// exactly the tests that say they cover it.
func TestThreats(t *testing.T) {
	doc, err := os.ReadFile("THREATS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // id to the column of tests
	for line := range strings.Lines(string(doc)) {
		if m := threat.FindStringSubmatch(line); m != nil {
			if rows[m[1]] != "" {
				t.Errorf("THREATS.md has %s twice", m[1])
			}
			cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|")
			rows[m[1]] = cells[len(cells)-1]
		}
	}
	if len(rows) < 30 {
		t.Fatalf("THREATS.md has %d threats", len(rows))
	}
	named := map[string][]string{} // id to tests
	walk(t, func(name string, data []byte) {
		switch {
		case strings.HasSuffix(name, "_test.go"):
			found := covers.FindAllSubmatch(data, -1)
			for _, m := range found {
				for _, id := range strings.Split(string(m[1]), ", ") {
					named[id] = append(named[id], string(m[2]))
				}
			}
			if n := strings.Count(string(data), "\n// Threats: "); n != len(found) {
				t.Errorf("%s: %d comments about threats, %d of them in front of a test", name, n, len(found))
			}
		case strings.HasSuffix(name, ".txtar"):
			if m := covered.FindSubmatch(data); m != nil {
				for _, id := range strings.Split(string(m[1]), ", ") {
					named[id] = append(named[id], path.Base(name))
				}
			}
		}
	})
	for id, tests := range named {
		row, ok := rows[id]
		if !ok {
			t.Errorf("%v cover %s, which THREATS.md does not have", tests, id)
		}
		for _, test := range tests {
			if ok && !regexp.MustCompile(`\b`+regexp.QuoteMeta(test)+`\b`).MatchString(row) {
				t.Errorf("%s covers %s, which does not name it", test, id)
			}
		}
	}
	for id, row := range rows {
		if named[id] == nil {
			t.Errorf("no test says that it covers %s", id)
		}
		for _, test := range regexp.MustCompile(`\b(Test|Fuzz)\w+|\w+\.txtar`).FindAllString(row, -1) {
			if !strings.Contains(strings.Join(named[id], " ")+" ", test+" ") {
				t.Errorf("%s names %s, which does not say that it covers it", id, test)
			}
		}
	}
}
