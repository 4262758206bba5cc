package glob

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.go", "a.go", true}, {"*.go", "a.goo", false}, {"a*b*c", "axxbyyc", true},
		{"?", "é", true}, {"[a-c]x", "bx", true}, {"[!a-c]x", "bx", false}, {"[^a]", "b", true},
		{"[]a]", "]", true}, {"[[:digit:]]*", "1a", true}, {`\*`, "*", true}, {`\*`, "a", false},
		{"*", "a/b", true}, {"[", "[", true}, {"[a", "[a", true}, {"", "", true}, {"*", "", true},
		{"a", "", false}, {`a\`, "a", false}, {"[a-]", "-", true}, {"*.*", ".x", true},
	} {
		if got := Match(c.pattern, c.name, Options{}); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
	if !Match("A*", "abc", Options{Fold: true}) || Match("*", "a/b", Options{Pathname: true}) {
		t.Error("options are not heeded")
	}
}

func TestManyStars(t *testing.T) {
	if Match(strings.Repeat("a*", 2000)+"b", strings.Repeat("a", 5000), Options{}) {
		t.Error("matched")
	}
}
