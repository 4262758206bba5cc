package posixre_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// Scan skips to the line that Match would find, in either case, too.
func TestScan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for _, pattern := range []string{"ab1", "error", "k9", "as", "x.zb", "a\\{2\\}bz", "éab", "[ab]bz", "bz$", "^ab", "z\\(ab\\)*1b", "q"} {
		for _, fold := range []bool{false, true} {
			re, err := posixre.Compile([]string{pattern}, posixre.Options{Dialect: posixre.GrepBasic, Fold: fold, HasSep: true, NoNewline: true, Sep: '\n'})
			if err != nil {
				t.Fatal(err)
			}
			for range 60 {
				var text []byte
				for len(text) < 200+rnd.IntN(4000) {
					text = append(text, []string{"a", "A", "b", "B", "z", "Z", "1", " ", "error", "ERROR", "kK9", "asAS", "é", "É", "\u212a9", "\n", "\n", "\n"}[rnd.IntN(18)]...)
				}
				text = append(text, '\n')
				want := 0
				for line := range bytes.Lines(text) {
					if ok, _ := re.Match(line[:len(line)-1]); ok {
						want++
					}
				}
				got := 0
				for pos := 0; pos < len(text); {
					at, unsure := re.Scan(text, pos)
					if at < 0 {
						break
					}
					start := bytes.LastIndexByte(text[:at], '\n') + 1
					end := at + bytes.IndexByte(text[at:], '\n')
					if ok, _ := re.Match(text[start:end]); ok {
						got++
					} else if !unsure {
						t.Fatalf("%q: a line that does not match was found for sure: %q", pattern, text[start:end])
					}
					pos = end + 1
				}
				if got != want {
					t.Fatalf("%q, fold %v: %d lines, want %d, in %q", pattern, fold, got, want, text)
				}
			}
		}
	}
}
