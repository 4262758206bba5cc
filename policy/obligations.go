package policy

import (
	"cmp"
	"slices"
	"strings"
)

// A Redaction replaces what matches Pattern in the output of a command before
// anybody sees it. It is best effort, not a boundary: a command can encode
// what it prints.
type Redaction struct {
	Name    string `json:"name"`              // names the kind of secret in the replacement
	Pattern string `json:"pattern"`           // regular expression (RE2); never matches the empty text
	Until   string `json:"until,omitempty"`   // when set, everything from Pattern up to a match of Until goes
	Replace string `json:"replace,omitempty"` // replacement; "" means [NAME]
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
