package diff

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command) }

const setup = `
printf 'one\ntwo\nthree\n' > a; printf 'one\n2\nthree\nfour\n' > b; printf 'x' > nonl; printf 'x\n' > withnl; : > empty
seq 30 > s1; seq 30 | sed '5d;20s/$/x/;28i new' > s2; printf 'a  b\n\nC\n' > w1; printf 'a b \n\n\nc\n' > w2; printf 'a\0b' > bin1; printf 'a\0c' > bin2
mkdir -p d1/sub d2/sub; echo 1 > d1/f; echo 2 > d2/f; echo x > d1/only1; echo y > d2/only2; echo s > d1/sub/g; echo t > d2/sub/g; echo same > d1/same; echo same > d2/same; mkdir d1/mix; echo f > d2/mix
printf 'int main()\n{\n  a;\n  b;\n  c;\n  d;\n  e;\n}\n' > f1.c; sed s/e\;/E\;/ f1.c > f2.c; printf 'a\r\nb\r\n' > cr; printf 'a\nb\n' > lf
touch -d '2024-01-02 03:04:05' a b s1 s2 nonl withnl empty w1 w2 f1.c f2.c d1/* d2/* d1/sub/g d2/sub/g
`

func TestAgainstDiff(t *testing.T) {
	s := difftest.Suite{Commands: []string{"diff"}, Setup: setup, Stderr: true}
	s.Run(t,
		`diff a b`, `diff -y nonl empty`, `diff -y empty nonl`, `diff -y nonl withnl`, `diff -y nonl nonl`, `diff -cT s1 s2`, `diff -uT s1 s2`, `diff -T a b`, `diff a a`, `diff b a`, `diff -u a b`, `diff -c a b`, `diff -u s1 s2`, `diff -c s1 s2`, `diff -U1 s1 s2`, `diff -U 0 s1 s2`, `diff -C1 s1 s2`, `diff -u0 s1 s2 2>/dev/null; true`[:0]+`diff --unified=5 s1 s2`, `diff s1 s2`, `diff nonl withnl`, `diff -u nonl withnl`, `diff -u withnl nonl`, `diff -c nonl withnl`, `diff empty a`, `diff -u a empty`, `diff -c empty a`, `diff -q a b`, `diff -q a a`, `diff -s a a`, `diff --brief a b`, `diff --report-identical-files a b`,
		`diff -u -U1 s1 s2`, `diff -U1 -u s1 s2`, `diff -q --label L1 --label L2 a b`, `diff -y a b`, `diff -y -W 40 a b`, `diff -y -W 20 s1 s2`, `diff -y --suppress-common-lines a b`, `diff -y --left-column a b`, `diff -y -W 30 -t a b`, `diff -y a a`, `diff -y nonl withnl`,
		`diff w1 w2`, `diff -b w1 w2`, `diff -w w1 w2`, `diff -i w1 w2`, `diff -B w1 w2`, `diff -bB w1 w2`, `diff -bBi w1 w2`, `diff -Z w1 w2`, `diff -uB w1 w2`, `diff -I o a b`, `diff -I '[0-9]' -u a b`, `diff --strip-trailing-cr cr lf`, `diff cr lf | od -c`, `diff bin1 bin2`, `diff -a bin1 bin2`, `diff -q bin1 bin2`, `diff bin1 bin1`,
		`diff -e a b`, `diff -e s1 s2`, `diff -n a b`, `diff -n s1 s2`, `diff -e a a`, `diff -e empty a`, `diff -e a empty`, `diff -n a nonl`, `diff -n nonl a`, `diff -e a nonl`, `diff -e nonl withnl`, `diff -e nonl a`, `diff -en a b`, `diff -eB w1 w2`, `diff -er d1 d2`, `diff --ed a <(printf 'one\n.\n.\nx\n.\n')`, `diff --rcs a <(printf 'one\n.\nx')`,
		`diff d1 d2`, `diff -r d1 d2`, `diff -rq d1 d2`, `diff -ru d1 d2`, `diff -rN d1 d2 | sort`, `diff -ruN d1/sub d2`, `diff -r -x f d1 d2`, `diff -rs d1 d2`, `diff d1/f d2`, `diff d1 d2/f`, `diff a d1`, `diff -r a d1`, `diff -p f1.c f2.c`, `diff -up f1.c f2.c`, `diff -uF main f1.c f2.c`, `diff -u --label L1 --label L2 a b`, `diff -uL x a b`, `diff -T a b`, `diff -t a b`,
		`diff nope a`, `diff a nope`, `diff -N nope a`, `diff -uN a nope | tail -n +3`, `diff --nope a b`, `diff a`, `diff`, `diff a b s1`, `diff -u -c a b`, `diff - a < b`, `diff a - < a`, `diff --color=never a b`, `diff --color=auto a b`, `diff --normal a b`, `diff -d s1 s2`, `diff <(echo 1) <(echo 2)`,
	)
}

// TestRandom compares edit scripts over files with few different lines, where
// there are many shortest ones.
func TestRandom(t *testing.T) {
	tool, err := exec.LookPath("diff")
	if err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("diff is not installed")
	}
	dir := t.TempDir()
	bad := 0
	const rounds = 150
	for seed := range rounds {
		r := rand.New(rand.NewSource(int64(seed)))
		file := func(name string, n, kinds int) []byte {
			var b strings.Builder
			for range n {
				fmt.Fprintf(&b, "l%d\n", r.Intn(kinds))
			}
			os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600)
			return []byte(b.String())
		}
		kinds := 2 + r.Intn(12)
		a, b := file("a", r.Intn(30), kinds), file("b", r.Intn(30), kinds)
		cmd := exec.Command(tool, "a", "b")
		cmd.Dir = dir
		want, _ := cmd.Output()
		var got strings.Builder
		p := newPair(&options{}, a, b)
		for _, ch := range p.compare() {
			op := "c"
			if ch.dels == 0 {
				op = "a"
			} else if ch.adds == 0 {
				op = "d"
			}
			got.WriteString(span(ch.a, ch.dels) + op + span(ch.b, ch.adds) + "\n")
		}
		var heads strings.Builder
		for _, l := range strings.SplitAfter(string(want), "\n") {
			if l != "" && l[0] >= '0' && l[0] <= '9' {
				heads.WriteString(l)
			}
		}
		if heads.String() != got.String() {
			t.Logf("seed %d: %q, want %q", seed, got.String(), heads.String())
			bad++
		}
	}
	// GNU diff also leaves out lines that occur very often.
	if bad*10 > rounds {
		t.Errorf("%d of %d scripts differ", bad, rounds)
	}
}
