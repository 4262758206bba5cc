package posixre

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzEngines compares the DFA with the simulation, which share nothing but
// the syntax tree, over any pattern.
func FuzzEngines(f *testing.F) {
	for _, s := range []string{"a*b", `\(a\|ab\)\(c\|bcd\)*`, "[[:alpha:]]+x", `\bw`, "^$", "(a|b)*c{2,3}", "é.", "[^a-c]$", `(.)\1`, "x{1,", "[", `\`} {
		f.Add(s, "abc éx w cc", true, false)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, ext, fold bool) {
		if len(pattern) > 60 || len(text) > 200 || strings.ContainsAny(text, "\n") || !utf8.ValidString(pattern) {
			return // a pattern that is not UTF-8 matches bytes, also inside characters
		}
		opt := Options{Dialect: GrepBasic, Fold: fold}
		if ext {
			opt.Dialect = PosixExtended
		}
		re, err := Compile([]string{pattern}, opt)
		if err != nil {
			return
		}
		line := []byte(text)
		ok, err := re.Match(line)
		if err != nil || re.Backrefs() {
			return
		}
		s, e, found := re.sim.find(line, 0, false)
		if ok != found {
			t.Fatalf("%q on %q: DFA %v, simulation %v", pattern, text, ok, found)
		}
		ds, de, dok, err := re.Find(line, 0)
		if err != nil || dok != found || found && (ds != s || de != e) {
			t.Fatalf("%q on %q: DFA %d-%d %v, simulation %d-%d %v", pattern, text, ds, de, dok, s, e, found)
		}
		if found {
			if _, err := re.Submatch(nil, line, ds, de); err != nil {
				t.Fatalf("%q on %q: groups: %v", pattern, text, err)
			}
		}
	})
}

// TestBombs runs patterns that make backtracking engines explode. Work is
// bounded: they end, with an answer or an error, in well under a second.
func TestBombs(t *testing.T) {
	long := []byte(strings.Repeat("a", 2000) + "!")
	xs := []byte(strings.Repeat("x", 5000))
	for _, c := range []struct {
		pattern string
		text    []byte
		want    bool
	}{
		{"^(a+)+$", long, false}, {"(x+x+)+y", xs, false}, {"(.*)*(.*)*(.*)*z", long, false}, {"(a|aa)+$", long, false},
		{"a{1,1000}b", long, false}, {"((((a*)*)*)*)*b", long, false}, {"(a?){100}a{100}", long, true},
	} {
		re, err := Compile([]string{c.pattern}, Options{Dialect: PosixExtended})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := re.Match(c.text); got != c.want || err != nil {
			t.Errorf("%s: %v %v", c.pattern, got, err)
		}
		if _, _, err := re.FindSubmatch(nil, c.text, 0); err != nil && err != ErrTooComplex {
			t.Errorf("%s: %v", c.pattern, err)
		}
	}
	re, err := Compile([]string{`(a*)*(a*)*\1\2b`}, Options{Dialect: PosixExtended})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := re.Match(append(long[:200:200], 'b', '!')); err != nil && err != ErrTooComplex {
		t.Error(err)
	}
	for _, p := range []string{strings.Repeat("(", 100000), "((a{1,32767}){1,32767}){1,32767}"} {
		if _, err := Compile([]string{p}, Options{Dialect: PosixExtended}); err == nil {
			t.Errorf("%.20s... compiled", p)
		}
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          []int
	}{
		{"(a|ab)(c|bcd)(d*)", "abcd", []int{0, 4, 0, 2, 2, 3, 3, 4}},
		{"(a*)(b*)", "aab", []int{0, 3, 0, 2, 2, 3}},
		{"(x)?(y)", "y", []int{0, 1, -1, -1, 0, 1}},
		{"([a-z]+) ([0-9]+)", "id 42", []int{0, 5, 0, 2, 3, 5}},
	} {
		re, err := Compile([]string{c.pattern}, Options{Dialect: PosixExtended})
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := re.FindSubmatch(nil, []byte(c.text), 0)
		if !ok || err != nil || len(got) != len(c.want) {
			t.Errorf("%s on %s: %v %v %v", c.pattern, c.text, got, ok, err)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s on %s: %v, want %v", c.pattern, c.text, got, c.want)
				break
			}
		}
	}
}
