package policy

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// A Redaction replaces what matches Pattern in the output of a command before
// anybody sees it. It is best effort, not a boundary: a command can encode
// what it prints.
type Redaction struct {
	Name    string `json:"name"`              // names the kind of secret in the replacement
	Pattern string `json:"pattern"`           // regular expression (RE2), at most 1000 bytes; never matches the empty text. The longest match goes
	Until   string `json:"until,omitempty"`   // when set, everything from Pattern up to a match of Until goes
	Replace string `json:"replace,omitempty"` // replacement; "" means [NAME]
}

// Bounds of the patterns of a redaction.
const (
	maxPattern = 1000 // bytes
	maxProgram = 2000 // instructions: each byte of output may have to be compared with all of them
)

// Check says what keeps r from being applied to a stream, or nil.
func (r Redaction) Check() error {
	if r.Name == "" || r.Pattern == "" {
		return errors.New("a redaction needs name and pattern")
	}
	for _, p := range []string{r.Pattern, r.Until} {
		if p == "" {
			continue
		}
		if len(p) > maxPattern {
			return fmt.Errorf("redaction %q: a pattern of %d bytes, at most %d", r.Name, len(p), maxPattern)
		}
		re, err := regexp.Compile(p)
		if err != nil {
			return fmt.Errorf("redaction %q: %w", r.Name, err)
		}
		if re.MatchString("") {
			return fmt.Errorf("redaction %q: pattern %q matches the empty text", r.Name, p)
		}
		tree, err := syntax.Parse(p, syntax.Perl)
		if err != nil {
			return fmt.Errorf("redaction %q: %w", r.Name, err)
		}
		if prog, err := syntax.Compile(tree.Simplify()); err != nil || len(prog.Inst) > maxProgram {
			return fmt.Errorf("redaction %q: pattern %q is too expensive for a stream: repeat less than {%d} in all", r.Name, p, maxProgram)
		}
	}
	return nil
}

// A MountRule lowers what a mount grants.
type MountRule struct {
	Path string    `json:"path"` // where it is mounted; absolute
	Mode MountMode `json:"mode"`
}

// MountMode says what a mount grants.
type MountMode string

// The modes, from the most to the least restrictive.
const (
	MountRO  MountMode = "ro"
	MountCOW MountMode = "cow"
	MountRW  MountMode = "rw"
)

// MountModes returns the modes, the most restrictive first.
func MountModes() []MountMode { return []MountMode{MountRO, MountCOW, MountRW} }

func (r Redaction) compare(q Redaction) int {
	return cmp.Or(strings.Compare(r.Name, q.Name), strings.Compare(r.Pattern, q.Pattern), strings.Compare(r.Until, q.Until), strings.Compare(r.Replace, q.Replace))
}

// compare orders by path, then by mode, the most restrictive first. A mode
// that is not known counts as most restrictive: nobody may loosen it.
func (m MountRule) compare(n MountRule) int {
	rank := func(m MountMode) int { return slices.Index(MountModes(), m) }
	return cmp.Or(strings.Compare(m.Path, n.Path), cmp.Compare(rank(m.Mode), rank(n.Mode)), cmp.Compare(m.Mode, n.Mode))
}

// StrictestMounts returns one rule for each path, the most restrictive,
// sorted by path.
func StrictestMounts(rules []MountRule) []MountRule {
	return slices.CompactFunc(union(rules, nil, MountRule.compare), func(a, b MountRule) bool { return a.Path == b.Path })
}

// union returns the members of a and b, sorted and each once; nil when there
// are none.
func union[T comparable](a, b []T, compare func(T, T) int) []T {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := append(slices.Clone(a), b...)
	slices.SortFunc(out, compare)
	return slices.Compact(out)
}
