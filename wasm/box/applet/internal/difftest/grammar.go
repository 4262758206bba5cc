package difftest

import (
	"math/rand/v2"
	"strings"
)

// A Grammar makes texts at random. As text it is a name at the start of a line
// and below it, each after a tab, what may stand for that name. In those «name»
// is replaced in turn. The first of them must end: it is what is taken when a
// text has become deep. A line may begin with "N* " to count N times.
type Grammar map[string][]string

// symbols are the names of what is hard to write in a line.
var symbols = map[string]string{"": "", "nl": "\n", "tab": "\t", "nul": "\x00", "bad": "\xff", "cr": "\r"}

// ParseGrammar reads a grammar.
func ParseGrammar(text string) Grammar {
	g, name := Grammar{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		alt, inside := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case !inside:
			name = line
		default:
			times := 1
			if len(alt) > 2 && alt[1:3] == "* " && alt[0] >= '2' && alt[0] <= '9' {
				times, alt = int(alt[0]-'0'), alt[3:]
			}
			for range times {
				g[name] = append(g[name], alt)
			}
		}
	}
	return g
}

const deep = 7

// Make makes a text for name.
func (g Grammar) Make(r *rand.Rand, name string) string {
	var b strings.Builder
	g.write(&b, r, name, 0)
	return b.String()
}

func (g Grammar) write(b *strings.Builder, r *rand.Rand, name string, depth int) {
	if s, ok := symbols[name]; ok {
		b.WriteString(s)
		return
	}
	alts := g[name]
	if len(alts) == 0 {
		panic("the grammar has no " + name)
	}
	rest := alts[0]
	if depth < deep {
		rest = alts[r.IntN(len(alts))]
	}
	for {
		before, after, found := strings.Cut(rest, "«")
		b.WriteString(before)
		if !found {
			return
		}
		name, rest, _ = strings.Cut(after, "»")
		g.write(b, r, name, depth+1)
	}
}
