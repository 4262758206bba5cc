package posixre

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// tool finds a GNU tool to compare with.
func tool(t testing.TB, name string) string {
	p, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatalf("%s is required and not installed", name)
		}
		t.Skipf("%s is not installed", name)
	}
	return p
}

// rounds is how many random patterns a test tries; DONAX_ROUNDS raises it.
func rounds(n int) int {
	if v, err := strconv.Atoi(os.Getenv("DONAX_ROUNDS")); err == nil {
		return v
	}
	return n
}

type gen struct {
	*rand.Rand
	ext    bool
	groups int
	refs   bool
}

func (g *gen) pick(s ...string) string { return s[g.Intn(len(s))] }

func (g *gen) op(s string) string {
	if g.ext {
		return s
	}
	return `\` + s
}

func (g *gen) alt(depth int) string {
	s := g.seq(depth)
	for g.Intn(4) == 0 {
		s += g.op("|") + g.seq(depth)
	}
	return s
}

func (g *gen) seq(depth int) string {
	var s string
	for n := 1 + g.Intn(4); n > 0; n-- {
		s += g.item(depth)
	}
	return s
}

func (g *gen) item(depth int) string {
	var s string
	switch k := g.Intn(16); {
	case k < 6:
		s = g.pick("a", "b", "c", "é", "1", " ", "-")
	case k == 6:
		s = "."
	case k == 7:
		s = g.pick("[ab]", "[^a]", "[a-c]", "[[:alpha:]]", "[[:digit:]b]", "[^[:space:]]", "[]a]", "[^]b-]", "[éb]")
	case k == 8:
		return g.pick(`\b`, `\<`, `\>`)
	case k == 9:
		s = g.pick(`\w`, `\W`, `\s`, `\S`)
	case k == 10 && g.refs && g.groups > 0:
		s = `\` + strconv.Itoa(1+g.Intn(g.groups))
	case k < 14 && depth > 0:
		s = g.op("(") + g.alt(depth-1) + g.op(")")
		g.groups++
	default:
		s = g.pick("ab", "bc", "a", "x")
	}
	switch g.Intn(8) {
	case 0:
		s += "*"
	case 1:
		s += g.op("+")
	case 2:
		s += g.op("?")
	case 3:
		s += g.op("{") + g.pick("2", "1,2", ",2", "1,", "0,1") + g.op("}")
	}
	return s
}

func randomLines(r *rand.Rand, n int) []string {
	var lines []string
	for range n {
		var b strings.Builder
		for k := r.Intn(12); k > 0; k-- {
			b.WriteString([]string{"a", "b", "c", "é", "1", " ", "-", "ab", "x", "_"}[r.Intn(10)])
		}
		lines = append(lines, b.String())
	}
	return lines
}

func run(t testing.TB, stdin string, name string, args ...string) (string, string) {
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run()
	return out.String(), errs.String()
}

// replaceAll is sed's s/re/<&>/g.
func replaceAll(re *Regexp, line string) (string, error) {
	var b strings.Builder
	text := []byte(line)
	from, last := 0, -1
	for from <= len(text) {
		s, e, ok, err := re.Find(text, from)
		if err != nil {
			return "", err
		}
		if !ok {
			break
		}
		b.Write(text[from:s])
		if s == e && s == last {
			if s == len(text) {
				return b.String(), nil
			}
			_, n := decode(text[s:])
			b.Write(text[s : s+n])
			from = s + n
			continue
		}
		b.WriteString("<" + line[s:e] + ">")
		from, last = e, e
		if s == e {
			if s == len(text) {
				return b.String(), nil
			}
			_, n := decode(text[s:])
			b.Write(text[s : s+n])
			from = s + n
		}
	}
	b.Write(text[min(from, len(text)):])
	return b.String(), nil
}

func TestSpansAgainstSed(t *testing.T) {
	sed := tool(t, "sed")
	bad, n := 0, rounds(150)
	// The C library errs where \b stands inside repeated groups.
	defer func() {
		if bad*50 > n {
			t.Errorf("%d of %d patterns differ", bad, n)
		}
	}()
	for seed := range n {
		g := &gen{Rand: rand.New(rand.NewSource(int64(seed))), ext: seed%2 == 0, refs: seed%5 == 0}
		pat := g.alt(2)
		if g.Intn(4) == 0 {
			pat = "^" + pat
		}
		if g.Intn(4) == 0 {
			pat += "$"
		}
		lines := randomLines(g.Rand, 25)
		opt := Options{Dialect: PosixBasic}
		args := []string{"s\x01" + pat + "\x01<&>\x01g"}
		if g.ext {
			opt.Dialect = PosixExtended
			args = append([]string{"-E"}, args...)
		}
		if seed%3 == 0 {
			opt.Fold = true
			args[len(args)-1] += "I"
		}
		out, errs := run(t, strings.Join(lines, "\n")+"\n", sed, args...)
		re, err := Compile([]string{pat}, opt)
		if (err != nil) != (errs != "") {
			t.Errorf("%d %q ext=%v: sed says %q, we %v", seed, pat, g.ext, errs, err)
			continue
		}
		if err != nil {
			if !strings.Contains(errs, err.Error()) {
				t.Errorf("%d %q: sed says %q, we %v", seed, pat, errs, err)
			}
			continue
		}
		// GNU sed matches the empty string inside a character.
		want := strings.Split(strings.ReplaceAll(out, "\xc3<>\xa9", "é"), "\n")
		for i, l := range lines {
			got, err := replaceAll(re, l)
			if err != nil || got != want[i] {
				t.Logf("%d %q ext=%v on %q: sed %q, we %q %v", seed, pat, g.ext, l, want[i], got, err)
				bad++
				break
			}
			m, _ := re.Match([]byte(l))
			if m != (got != l || strings.Contains(got, "<")) {
				t.Errorf("%d %q on %q: Match says %v", seed, pat, l, m)
				break
			}
		}
	}
}

func TestGroupsAgainstSed(t *testing.T) {
	sed := tool(t, "sed")
	bad := 0
	n := rounds(150)
	for seed := range n {
		g := &gen{Rand: rand.New(rand.NewSource(int64(1e6 + seed))), ext: true}
		pat := g.alt(2)
		if g.groups == 0 {
			continue
		}
		lines := randomLines(g.Rand, 25)
		rep := ""
		for i := range min(g.groups, 9) {
			rep += fmt.Sprintf("[\\%d]", i+1)
		}
		out, errs := run(t, strings.Join(lines, "\n")+"\n", sed, "-E", "s\x01"+pat+"\x01"+rep+"\x01")
		re, err := Compile([]string{pat}, Options{Dialect: PosixExtended})
		if err != nil || errs != "" {
			continue
		}
		want := strings.Split(out, "\n")
		for i, l := range lines {
			loc, ok, err := re.FindSubmatch(nil, []byte(l), 0)
			if err != nil {
				t.Fatal(err)
			}
			got := l
			if ok {
				got = l[:loc[0]]
				for k := range min(g.groups, 9) {
					if loc[2*k+2] >= 0 {
						got += "[" + l[loc[2*k+2]:loc[2*k+3]] + "]"
					} else {
						got += "[]"
					}
				}
				got += l[loc[1]:]
			}
			if got != want[i] {
				t.Logf("%d %q on %q: sed %q, we %q", seed, pat, l, want[i], got)
				bad++
				break
			}
		}
	}
	// The C library's own choice of groups has no simple rule where several
	// are possible; patterns as people write them leave no choice.
	if bad*10 > n {
		t.Errorf("%d of %d patterns differ in their groups", bad, n)
	}
}
