package filter_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost/filter"
)

// redact writes s in pieces of the given sizes, the last one again and again.
func redact(t testing.TB, list []policy.Redaction, s string, sizes ...int) string {
	t.Helper()
	var out bytes.Buffer
	r, err := filter.NewRedactor(&out, list)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; s != ""; i++ {
		n := min(len(s), sizes[min(i, len(sizes)-1)])
		if k, err := r.Write([]byte(s[:n])); k != n || err != nil {
			t.Fatal(k, err)
		}
		s = s[n:]
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func pattern(p string) policy.Redaction { return policy.Redaction{Name: "x", Pattern: p} }

// Threats: PO-10.
func TestRedact(t *testing.T) {
	key := policy.Redaction{Name: "key", Pattern: `-----BEGIN [A-Z ]+-----`, Until: `-----END [A-Z ]+-----`}
	for name, c := range map[string]struct {
		list     []policy.Redaction
		in, want string
	}{
		"plain":              {[]policy.Redaction{pattern(`AKIA[0-9A-Z]{16}`)}, "id AKIAABCDEFGHIJKLMNOP.\n", "id [x].\n"},
		"replacement":        {[]policy.Redaction{{Name: "x", Pattern: "secret", Replace: "***"}}, "a secret!", "a ***!"},
		"twice":              {[]policy.Redaction{pattern("ab")}, "abab", "[x][x]"},
		"at both ends":       {[]policy.Redaction{pattern("ab")}, "ab-ab", "[x]-[x]"},
		"longest":            {[]policy.Redaction{pattern("foo|foobar")}, "foobar foo", "[x] [x]"},
		"lazy is longest":    {[]policy.Redaction{pattern("a.*?b")}, "a1b2b\nab", "[x]\n[x]"},
		"overlap":            {[]policy.Redaction{pattern("ab"), {Name: "y", Pattern: "bc"}}, "abcd", "[x]d"},
		"word":               {[]policy.Redaction{pattern(`\bkey\b`)}, "key keys key", "[x] keys [x]"},
		"line":               {[]policy.Redaction{pattern(`(?m)^token=.*$`)}, "a\ntoken=1\nb token=2\ntoken=", "a\n[x]\nb token=2\n[x]"},
		"end of text":        {[]policy.Redaction{pattern(`abc$`)}, "abc abc", "abc [x]"},
		"case":               {[]policy.Redaction{pattern(`(?i)key`)}, "KeY \u212aey", "[x] [x]"},
		"characters":         {[]policy.Redaction{pattern(`é+日?`)}, "caféé日本", "caf[x]本"},
		"until":              {[]policy.Redaction{key}, "a\n-----BEGIN RSA KEY-----\nMII\n-----END RSA KEY-----\nb", "a\n[key]\nb"},
		"until never":        {[]policy.Redaction{key}, "a\n-----BEGIN RSA KEY-----\nMII\n", "a\n[key]"},
		"until at once":      {[]policy.Redaction{{Name: "x", Pattern: "<", Until: ">"}}, "a<>b<c>d>e", "a[x]b[x]d>e"},
		"binary":             {[]policy.Redaction{pattern("secret")}, "\xff\xfe\x00secret\x80\x00\xf0", "\xff\xfe\x00[x]\x80\x00\xf0"},
		"bytes in it":        {[]policy.Redaction{pattern("a.c")}, "a\xffc", "[x]"},
		"sequence within":    {[]policy.Redaction{pattern("secret")}, "a sec\x1b[0mret b", "a [x] b"},
		"title within":       {[]policy.Redaction{pattern("secret")}, "sec\x1b]0;title\aret b", "[x] b"},
		"in a title":         {[]policy.Redaction{pattern("secret")}, "\x1b]0;secret\a b", "\x1b]0;[x]\a b"},
		"control within":     {[]policy.Redaction{pattern("secret")}, "s\x07ecret b\x08", "[x] b\x08"},
		"colour after":       {[]policy.Redaction{pattern("secret")}, "\x1b[1msecret\x1b[0m b", "\x1b[1m[x]\x1b[0m b"},
		"string left open":   {[]policy.Redaction{pattern("secret")}, "\x1b]0;a\nsecret\n", "\x1b]0;a\n[x]\n"},
		"everything":         {[]policy.Redaction{pattern("(?s).+")}, "a\nb", "[x]"},
		"no rule":            {nil, "a\xffb", "a\xffb"},
		"started, not ended": {[]policy.Redaction{pattern("secret")}, "secre", "secre"},
	} {
		for _, sizes := range [][]int{{1 << 20}, {1}, {2}, {3, 1}, {5}, {7, 2}} {
			if got := redact(t, c.list, c.in, sizes...); got != c.want {
				t.Errorf("%s in pieces of %v:\n got %q\nwant %q", name, sizes, got, c.want)
			}
		}
	}
}

// TestRedactAgainstRegexp compares with all matches that package regexp finds,
// over random patterns, texts and pieces.
// Threats: PO-10.
func TestRedactAgainstRegexp(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	atoms := []string{"a", "b", "[ab]", "c", ".", "é", "(?:ab|b)", "[^a]", "(?:a|ab|abc)"}
	suffix := []string{"", "", "", "+", "*", "?", "{2}", "{1,3}", "*?"}
	for n := 0; n < 4000; {
		p := ""
		for range 1 + g.IntN(4) {
			p += atoms[g.IntN(len(atoms))] + suffix[g.IntN(len(suffix))]
		}
		if pattern(p).Check() != nil {
			continue
		}
		n++
		var text strings.Builder
		for range g.IntN(16) {
			text.WriteString([]string{"a", "b", "c", "é", "\n", "\xff"}[g.IntN(6)])
		}
		s := text.String()
		re := regexp.MustCompile(`\A(?:` + p + `)\z`)
		// hide what any match covers, as one stretch where they overlap
		end := make([]int, len(s)) // by start: end of the longest match
		for i := range s {
			for j := i + 1; j <= len(s); j++ {
				if re.MatchString(s[i:j]) {
					end[i] = j
				}
			}
		}
		want := ""
		for i := 0; i < len(s); {
			if end[i] == 0 {
				want += s[i : i+1]
				i++
				continue
			}
			to := end[i]
			for j := i; j < to; j++ {
				to = max(to, end[j])
			}
			want += "[x]"
			i = to
		}
		if got := redact(t, []policy.Redaction{pattern(p)}, s, 1+g.IntN(4), 1+g.IntN(9)); got != want {
			t.Fatalf("%q on %q:\n got %q\nwant %q", p, s, got, want)
		}
	}
}

// TestRedactStaysLive looks at what is passed on after each write.
func TestRedactStaysLive(t *testing.T) {
	var out bytes.Buffer
	r, err := filter.NewRedactor(&out, []policy.Redaction{pattern("secret"), pattern(`(?m)^pass: .+$`), {Name: "k", Pattern: "BEGIN", Until: "END"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ write, seen string }{
		{"Continue? [y/n] ", "Continue? [y/n] "}, {"sec", ""}, {"ond ", "second "}, {"secret", "[x]"}, {"x\n", "x\n"},
		{"p", ""}, {"ass: ", ""}, {"a", ""}, {"b\n", "[x]\n"}, {"BEGIN", "[k]"}, {"abc", ""}, {"ENDx", "x"}, {"caf\xc3", "caf\xc3"}, {"\xa9", "\xa9"},
	} {
		out.Reset()
		fmt.Fprint(r, c.write)
		if got := out.String(); got != c.seen {
			t.Errorf("after %q: %q, want %q", c.write, got, c.seen)
		}
	}
}

// TestRedactIsBounded writes what could be a match for ever.
func TestRedactIsBounded(t *testing.T) {
	var out bytes.Buffer
	r, err := filter.NewRedactor(&out, []policy.Redaction{pattern(`"[^"\n]*!"`), pattern(`#.+`)})
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte("z"), 1000)
	fmt.Fprint(r, `a"`)
	for range 100 * filter.Window / len(chunk) {
		if _, err := r.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "a[x]" { // hidden as soon as it is too long to wait for
		t.Errorf("%d bytes: %.20q", len(got), got)
	}
	out.Reset()
	fmt.Fprint(r, "z\" and\n#")
	for range 100 * filter.Window / len(chunk) {
		r.Write(chunk)
	}
	fmt.Fprint(r, "\nend\n")
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasSuffix(got, " and\n[x]\nend\n") {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
	if n := testing.AllocsPerRun(10, func() { r.Write(chunk) }); n > 20 {
		t.Errorf("%v allocations for a write in the middle of nothing", n)
	}
}

func TestRedactRefuses(t *testing.T) {
	for _, p := range []policy.Redaction{pattern(""), pattern("a*"), pattern("("), pattern(strings.Repeat("a", 2000)), pattern("[a-z]{999}[0-9]{999}[a-z]{999}"), {Pattern: "a"}, {Name: "x", Pattern: "a", Until: "b*"}} {
		if _, err := filter.NewRedactor(nil, []policy.Redaction{p}); err == nil {
			t.Errorf("%.20q is accepted", p.Pattern)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestRedactReportsWriteErrors(t *testing.T) {
	r, err := filter.NewRedactor(broken{}, []policy.Redaction{pattern("secret")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write([]byte("abc")); err == nil {
		t.Error("no error")
	}
}

// Threats: PO-11.
func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain é日\t\r\n\x00\xff": "plain é日\t\r\n\x00\xff", "10%\r20%\n": "10%\n20%\n", "a\r\r\nb": "a\n\r\nb", "a\r\x1b[2Kb": "a\nb", "\x1b[31mred\x1b[0m": "red", "\x1b]0;title\aA": "A", "\x1b]52;c;cHduZWQ=\x1b\\A": "A",
		"a\x1b[2J\x1b[1;1Hb": "ab", "a\bb\x7f": "ab", "\u009b31mred": "red", "\u009d0;t\u009cA": "A", "\x1bPq#0\x1b\\A": "A", "\x1b(BA": "A", "\x1bcA": "A",
		"\x1b]0;open\nnext": "\nnext", "\x1b[31\nm": "\nm", "\x1b": "", "a\x1b[": "a", "\x1b[\x1b[31mx": "x", "\x05\x0e\x0f": "", "\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\z": "z",
		"\x1b]0;a\x1b[31mb": "b", "\x1b[" + strings.Repeat("1", 100) + "m": strings.Repeat("1", 36) + "m", "café\u00a0x": "café\u00a0x",
	} {
		if got := string(filter.Visible([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		for n := 1; n < 4; n++ {
			var out bytes.Buffer
			s := &filter.Screen{W: &out}
			for b := []byte(in); len(b) > 0; b = b[min(n, len(b)):] {
				s.Write(b[:min(n, len(b))])
			}
			if got := out.String(); got != want && !strings.HasSuffix(in, "\xff") {
				t.Errorf("%q in pieces of %d: %q, want %q", in, n, got, want)
			}
		}
	}
	for in, want := range map[string]int{"abc": 0, "a\x1b": 1, "a\x1b[3": 3, "a\x1b[3m": 0, "\x1b]0;t": 5, "\x1b]0;t\a": 0, "\x1b]0;" + strings.Repeat("t", 9000): 0, "é": 0} {
		if got := filter.Unfinished([]byte(in)); got != want {
			t.Errorf("unfinished %.10q: %d, want %d", in, got, want)
		}
	}
}

// FuzzRedact looks for output that depends on the pieces.
// Threats: PO-10.
func FuzzRedact(f *testing.F) {
	f.Add("a.c|b+$", "abbc\n\x1b[1m\xff", uint8(3))
	f.Fuzz(func(t *testing.T, p, s string, n uint8) {
		if len(p) > 40 || len(s) > 200 || pattern(p).Check() != nil {
			return
		}
		list := []policy.Redaction{pattern(p), pattern("ab+")}
		if a, b := redact(t, list, s, 1<<20), redact(t, list, s, 1+int(n)%7); a != b {
			t.Errorf("%q on %q: whole %q, in pieces of %d %q", p, s, a, 1+int(n)%7, b)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	list := []policy.Redaction{
		pattern(`AKIA[0-9A-Z]{16}`), pattern(`gh[pousr]_[A-Za-z0-9]{36}`), pattern(`(?i)(?:api[_-]?key|token|password)\s*[=:]\s*\S+`),
		pattern(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`), {Name: "key", Pattern: `-----BEGIN [A-Z ]+-----`, Until: `-----END [A-Z ]+-----`},
	}
	text := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog, line after line of a build's output: 12345 files.\n"), 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r, _ := filter.NewRedactor(&bytes.Buffer{}, list)
		r.Write(text)
		r.Flush()
	}
}
