package core_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/applettest"
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

var (
	comparisons = flag.Int("comparisons", 12, "comparisons with the GNU tool for each family of commands")
	seed        = flag.Uint64("seed", 1, "of the comparisons")
	family      = flag.String("family", "", "only this family of commands")
)

// gen makes command lines and their inputs.
type gen struct {
	*rand.Rand
	files map[string]string // what the command line reads beside stdin
}

// file names a file that holds text.
func (g gen) file(name, text string) string {
	g.files[name] = text
	return name
}

func (g gen) pick(words ...string) string { return words[g.IntN(len(words))] }

// some returns each of the words with a chance of one in n.
func (g gen) some(n int, words ...string) []string {
	var out []string
	for _, w := range words {
		if g.IntN(n) == 0 {
			out = append(out, strings.Fields(w)...)
		}
	}
	return out
}

// text returns lines of cells from a small alphabet, so that they are often
// alike.
func (g gen) text(seps string) string {
	var b strings.Builder
	for range g.IntN(12) {
		for c := range g.IntN(5) {
			if c > 0 {
				b.WriteByte(seps[g.IntN(len(seps))])
			}
			b.WriteString(g.cell())
		}
		b.WriteByte('\n')
	}
	s := b.String()
	if g.IntN(4) == 0 {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

func (g gen) cell() string {
	switch g.IntN(8) {
	case 0:
		return strconv.Itoa(g.IntN(200) - 50)
	case 1:
		return strconv.FormatFloat(g.Float64()*100-20, 'f', g.IntN(4), 64)
	case 2:
		return g.pick("", " ", "a", "A", "b", "B", "jan", "Feb", "MAR", "1K", "2M", "-1G", "1e3", "0x1f", "nan", "inf", "v1.2", "v1.10", "f.txt", "f10.txt", "f2.txt", "~", "_", "é", "\xff", "\x00", "\t")
	case 3:
		return g.pick("abc", "abd", "ABC", "aBc", "ab", "abcdefgh", "abcdefghi", "abcdefgh1", "key=value", "x-y", "x.y", "[a]")
	}
	n := g.IntN(5)
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcABC012 -.,:"[g.IntN(14)]
	}
	return string(b)
}

func (g gen) num(most int) string { return strconv.Itoa(g.IntN(most)) }

func (g gen) key() string {
	k := g.num(4)
	if g.IntN(3) == 0 {
		k += "." + g.num(4)
	}
	k += g.pick("", "", "", "n", "r", "b", "f", "d", "i", "g", "h", "M", "V", "nr", "bf", "fr")
	if g.IntN(2) == 0 {
		k += "," + g.num(4)
		if g.IntN(3) == 0 {
			k += "." + g.num(4)
		}
		k += g.pick("", "", "", "b", "r", "n")
	}
	return k
}

// families makes one command line of each kind; the second result is stdin.
var families = map[string]func(g gen) ([]string, string){
	"sort": func(g gen) ([]string, string) {
		args := append([]string{"sort"}, g.some(6, "-n", "-r", "-u", "-f", "-b", "-d", "-i", "-s", "-V", "-g", "-h", "-M", "-z", "-c", "-C")...)
		for range g.IntN(3) {
			args = append(args, "-k", g.key())
		}
		args = append(args, g.some(3, "-t "+g.pick(",", ":", "-", "."))...)
		return args, g.text(" ,:\t")
	},
	"cut": func(g gen) ([]string, string) {
		list := g.pick("1", "2", "1,3", "2-", "-2", "1-2,4", "3,1", "2-3,3-4", "1,2-2,5-", g.num(5)+"-"+g.num(6), g.num(4))
		args := []string{"cut", g.pick("-b", "-c", "-f") + list}
		args = append(args, g.some(3, "-d,", "-s", "--complement", "--output-delimiter=+", "-z")...)
		return args, g.text(",,:\t")
	},
	"tr": func(g gen) ([]string, string) {
		set := func() string {
			s := ""
			for range 1 + g.IntN(3) {
				s += g.pick("a", "b", "c", "a-c", "A-C", "0-2", "[:lower:]", "[:upper:]", "[:digit:]", "[:space:]", "[:alpha:]", "[=a=]", "[x*]", "[y*2]", `\n`, `\t`, `\\`, `\101`, "-", "]", "[", "z-a", ".", ",")
			}
			return s
		}
		args := append([]string{"tr"}, g.some(4, "-d", "-s", "-c", "-t")...)
		args = append(args, "--", set())
		if g.IntN(4) > 0 {
			args = append(args, set())
		}
		return args, g.text(" ,:\t")
	},
	"uniq": func(g gen) ([]string, string) {
		args := append([]string{"uniq"}, g.some(5, "-c", "-d", "-u", "-D", "-i", "-z", "-f "+g.num(3), "-s "+g.num(3), "-w "+g.num(4), "--group", "--group=both", "--all-repeated=separate", "--all-repeated=prepend")...)
		return args, strings.ReplaceAll(g.text("  \t"), "b", "a")
	},
	"head": func(g gen) ([]string, string) {
		return []string{"head", g.pick("-n", "-c") + g.pick("", "-") + g.num(12)}, g.text(" ,")
	},
	"tail": func(g gen) ([]string, string) {
		return []string{"tail", g.pick("-n", "-c") + g.pick("", "-", "+") + g.num(12)}, g.text(" ,")
	},
	"wc": func(g gen) ([]string, string) {
		return append([]string{"wc"}, g.some(3, "-l", "-w", "-c", "-m", "-L")...), g.text(" ,:\t\v\f\r")
	},
	"cat": func(g gen) ([]string, string) {
		return append([]string{"cat"}, g.some(3, "-n", "-b", "-s", "-E", "-T", "-v", "-A")...), g.text("\n\r\t")
	},
	"nl": func(g gen) ([]string, string) {
		return append([]string{"nl"}, g.some(3, "-ba", "-bn", "-nln", "-nrz", "-w3", "-s:", "-v5", "-i2", "-l2")...), g.text("\n ")
	},
	"fold": func(g gen) ([]string, string) {
		return append([]string{"fold", "-w", strconv.Itoa(1 + g.IntN(12))}, g.some(2, "-s", "-b")...), g.text(" \t\b\r  ")
	},
	"fmt": func(g gen) ([]string, string) {
		args := append([]string{"fmt"}, g.some(4, "-"+strconv.Itoa(1+g.IntN(40)))...)
		args = append(args, g.some(4, "-c", "-s", "-t", "-u", "-w"+strconv.Itoa(g.IntN(60)), "-p "+g.pick("#", "//", ">"), "-g"+strconv.Itoa(g.IntN(50)))...)
		text := ""
		for range g.IntN(14) {
			text += g.pick("", "", "", "  ", "\t", " ", "# ", "> ", "// ", "#") + g.pick("", " ", "   ")
			for range g.IntN(14) {
				text += g.pick("a", "the", "word", "longer", "(in", "end.", "end)", "what?", "x,", "extraordinarily", "é", "\"No.\"", "e.g.", "[1]") + g.pick(" ", " ", " ", "  ", "\t", "\r")
			}
			text += g.pick("\n", "\n", "\n", "\n\n", "")
		}
		return args, strings.Repeat(text, 1+g.IntN(40)/38*60)
	},
	"expand": func(g gen) ([]string, string) {
		return append([]string{"expand"}, g.some(2, "-i", "-t "+g.pick("1", "3", "2,5", "4,/3", "2,+3"))...), g.text("\t\t \b")
	},
	"unexpand": func(g gen) ([]string, string) {
		text := strings.ReplaceAll(g.text("\t   "), ",", "    ")
		return append([]string{"unexpand"}, g.some(2, "-a", "-t "+g.pick("1", "3", "2,5", "4", "2,4,9"), "--first-only")...), text
	},
	"paste": func(g gen) ([]string, string) {
		args := append([]string{"paste"}, g.some(2, "-s", "-d "+g.pick(",", ",;", `\n`, `\t+`, `x\0`))...)
		return append(args, g.pick("-", "- -", "- a", "a -")[:1]), g.text(" ,")
	},
	"tac": func(g gen) ([]string, string) {
		return append([]string{"tac"}, g.some(2, "-b", "-s "+g.pick(",", "a", "ab"))...), g.text(" ,")
	},
	"od": func(g gen) ([]string, string) {
		args := append([]string{"od"}, g.some(3, "-A"+g.pick("d", "o", "x", "n"), "-t"+g.pick("x1", "o2", "d4", "u8", "c", "a", "x2z", "f4", "f8", "d1c"), "-v", "-w"+g.pick("4", "8", "16"), "-j"+g.num(5), "-N"+g.num(40), "-c", "-x", "-b")...)
		return args, g.text(" \n\x00\xff")
	},
	"xxd": func(g gen) ([]string, string) {
		return append([]string{"xxd"}, g.some(3, "-p", "-u", "-c"+strconv.Itoa(1+g.IntN(20)), "-g"+g.pick("1", "2", "4"), "-l"+g.num(40), "-b")...), g.text(" \n\x00\xff")
	},
	"hexdump": func(g gen) ([]string, string) {
		return append([]string{"hexdump"}, g.some(3, "-C", "-c", "-b", "-v", "-n"+g.num(40), "-x")...), g.text(" \n\x00\xff")
	},
	"base64": func(g gen) ([]string, string) {
		if g.IntN(2) == 0 {
			s := ""
			for range g.IntN(12) {
				s += g.pick("Q", "Y", "w", "0", "=", "\n", "a", "+", "!")
			}
			return append([]string{"base64", "-d"}, g.some(2, "-i")...), s
		}
		return append([]string{g.pick("base64", "base32")}, g.some(2, "-w"+g.num(20))...), g.text(" ,\xff")
	},
	"seq": func(g gen) ([]string, string) {
		n := func() string {
			return g.pick(g.num(20), "-"+g.num(9), strconv.FormatFloat(g.Float64()*5, 'f', g.IntN(3), 64), "-"+strconv.FormatFloat(g.Float64()*5, 'f', 1, 64), "1e1", "0x5")
		}
		args := append([]string{"seq"}, g.some(4, "-w", "-s,", "-f%.3f", "-f%g", "-f%05.1f")...)
		switch g.IntN(3) {
		case 0:
			return append(args, g.num(20)), ""
		case 1:
			return append(args, n(), n()), ""
		}
		return append(args, n(), g.pick("1", "2", ".5", "-1", "-.25", "0.1", "3"), n()), ""
	},
	"printf": func(g gen) ([]string, string) {
		f := ""
		args := []string{}
		for range 1 + g.IntN(3) {
			f += g.pick("", "x", "%%", `\n`, `\t`, `\101`, `\x41`, `\z`) + "%" + g.pick("", "-", "+", "0", "#", " ", "-+") + g.pick("", "5", "12") + g.pick("", ".0", ".2", ".5") + g.pick("d", "i", "u", "x", "X", "o", "s", "c", "e", "f", "g", "G", "b", "q")
		}
		for range g.IntN(5) {
			args = append(args, g.pick("1", "-5", "255", "0x1f", "017", "3.14159", "-2.5e10", "1e-7", "abc", "a b", "", "'A", "100000", "1234567", "it's", `x\ty`))
		}
		return append([]string{"printf", "--", f + "|"}, args...), ""
	},
	"expr": func(g gen) ([]string, string) {
		args := []string{"expr"}
		for i := range 1 + g.IntN(4) {
			if i > 0 {
				args = append(args, g.pick("+", "-", "*", "/", "%", "<", "<=", "=", "!=", ">", "|", "&", ":"))
			}
			args = append(args, g.pick("0", "1", "-3", "10", "007", "abc", "", "aXb", "[a-z]*", `\(a.*\)b`, `a\{1,2\}`, "length", "abc.txt", `.*\.`))
		}
		return args, ""
	},
	"test": func(g gen) ([]string, string) {
		args := []string{"test"}
		for range g.IntN(7) {
			args = append(args, g.pick("a", "b", "", "1", "2", "-1", "=", "!=", "-eq", "-lt", "-gt", "-n", "-z", "-f", "-e", "!", "(", ")", "-a", "-o", "."))
		}
		return args, ""
	},
	"numfmt": func(g gen) ([]string, string) {
		args := append([]string{"numfmt"}, g.some(2, "--to="+g.pick("si", "iec", "iec-i", "none"), "--from="+g.pick("si", "iec", "auto", "none"))...)
		args = append(args, g.some(4, "--padding=8", "--padding=-8", "--suffix=B", "--round="+g.pick("up", "down", "nearest", "towards-zero"), "--format="+g.pick("%f", "%.1f", "%8.2f", "%-9f"))...)
		for range 1 + g.IntN(3) {
			args = append(args, g.pick("1", "999", "1000", "1023", "1024", "1500", "123456789", "1.5", "9.99", "1K", "2.5M", "3Ki", "1000000", "99999", "1048575"))
		}
		return args, ""
	},
	"column": func(g gen) ([]string, string) {
		return append([]string{"column"}, g.some(2, "-t", "-s,", "-o|", "-c40", "-x")...), strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' || r > 126 {
				return 'x'
			}
			return r
		}, g.text(" ,"))
	},
	"basename": func(g gen) ([]string, string) {
		path := ""
		for range g.IntN(6) {
			path += g.pick("/", "a", "b.c", "..", ".", "//")
		}
		return append([]string{g.pick("basename", "dirname")}, path), ""
	},
}

// TestDifferential compares random command lines with the GNU tools.
// -comparisons=10000 -family=sort looks longer at one of them.
func TestDifferential(t *testing.T) {
	native, gnu := applettest.Native(append(core.Commands(), heavy.Commands()...)), applettest.GNU(t)
	if *family != "" { // the languages' differences are looked for by hand: not all are ours
		maps.Copy(families, languages)
	}
	for name, f := range families {
		if *family != "" && *family != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if why := gnu.Missing(name); why != "" {
				t.Skip(why)
			}
			g := gen{rand.New(rand.NewPCG(*seed, uint64(len(name)))), map[string]string{}}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("1\n2\n3\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			differ := 0
			for range *comparisons {
				clear(g.files)
				args, stdin := f(g)
				for name, text := range g.files {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if strings.Contains(strings.Join(args, ""), "\x00") {
					continue
				}
				if d := compare(t, native, gnu, dir, args, stdin); d != "" {
					t.Errorf("%q < %q\n%s", args, stdin, d)
					if differ++; differ == 8 {
						t.Fatal("too many differences")
					}
				}
			}
		})
	}
}

// addresses are places in programs that bc and awk name and ours do not.
var addresses = regexp.MustCompile(`adr=\d+|line:\d+`)

func compare(t *testing.T, native, gnu applettest.Runner, dir string, args []string, stdin string) string {
	file := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(file, []byte(stdin), 0o600); err != nil {
		t.Fatal(err)
	}
	var res [2]applettest.Result
	for i, r := range []applettest.Runner{native, gnu} {
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		res[i] = r.Run(t, applettest.Invocation{Args: args, Dir: dir, Env: applettest.Env(dir), Stdin: in})
		in.Close()
	}
	first := func(b []byte) string {
		for l := range strings.Lines(string(b)) {
			if !strings.Contains(l, "warning: Invalid multibyte data") {
				return addresses.ReplaceAllString(l, "")
			}
		}
		return ""
	}
	a, b := res[0], res[1]
	if bytes.Equal(a.Stdout, b.Stdout) && a.Status == b.Status && first(a.Stderr) == first(b.Stderr) {
		return ""
	}
	// From the first line that differs on.
	out := [2][]byte{a.Stdout, b.Stdout}
	n := 0
	for n < len(out[0]) && n < len(out[1]) && out[0][n] == out[1][n] {
		n++
	}
	n = bytes.LastIndexByte(out[0][:n], '\n') + 1
	return fmt.Sprintf("got  %d %.200q %q\nwant %d %.200q %q", a.Status, out[0][n:], first(a.Stderr), b.Status, out[1][n:], first(b.Stderr))
}
