package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// A command is SERVER.TOOL. Both parts are letters, digits, _ and -, so that
// a dot parts them at one place, and no tool can have the name of a builtin or
// of a command of the box, which have no dot.
const (
	maxServerName = 32
	maxToolName   = 64
	reserved      = "mcp" // mcp.list and its neighbours are donax's own
)

// safe returns name with all but the safe characters replaced. A name that is
// too long keeps its start and gets a hash of the whole.
func safe(name string, most int) string {
	b := []byte(name)
	if len(name) > most {
		sum := sha256.Sum256([]byte(name))
		b = []byte(name[:most-9] + "_" + hex.EncodeToString(sum[:4]))
	}
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-' && i > 0:
		default:
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "_"
	}
	return string(b)
}

// commandNames returns a safe name for each name, all different and none in
// taken. A name that is safe already is kept: nobody can take it by adding one
// that only becomes it. The others are numbered in their sorted order, so that
// the order in which a server lists does not matter.
func commandNames(names []string, most int, taken ...string) []string {
	used := map[string]bool{}
	for _, t := range taken {
		used[t] = true
	}
	out := make([]string, len(names))
	for i, name := range names {
		if safe(name, most) == name && !used[name] {
			out[i], used[name] = name, true
		}
	}
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	for _, i := range order {
		if out[i] != "" {
			continue
		}
		base := safe(names[i], most)
		name := base
		for n := 2; used[name]; n++ {
			suffix := "_" + strconv.Itoa(n)
			name = base[:min(len(base), most-len(suffix))] + suffix
		}
		out[i], used[name] = name, true
	}
	return out
}

// Resolve is the inverse of naming: the server, by its name in the
// configuration, and the tool, by its own name, that a command stands for.
func (m *Manager) Resolve(command string) (server, tool string, ok bool) {
	prefix, _, _ := strings.Cut(command, ".")
	s := m.byName[prefix]
	if s == nil {
		return "", "", false
	}
	t := s.tool(command)
	if t == nil {
		return "", "", false
	}
	return s.cfg.Name, t.Name, true
}
