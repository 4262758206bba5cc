package sed

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// FuzzParse parses any script: it must end in a program or a complaint.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"s/a/b/g;p", "1,3{n;d}", "/x/I,+2!s,a,\\U&,", "y/abc/xyz/", "a\\\nfoo\\\nbar", ":a;N;$!ba", "0~3d", "s/[/]/x/", "$!{h;d}", "i\\", "}", "s/\\(/x/"} {
		f.Add(s, "")
		f.Add(s, "p")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsAny(a+b, "wW") { // these open files
			return
		}
		e := &editor{c: &applet.Ctx{Cmd: Command, Stdout: io.Discard, Stderr: io.Discard}, o: &options{}, sep: '\n', files: map[string]*output{}}
		e.stdout = &output{w: io.Discard, sep: '\n'}
		chunks := []chunk{{text: a}}
		if b != "" {
			chunks = append(chunks, chunk{text: b})
		}
		p := parser{o: e.o, e: e, chunks: chunks}
		if err := p.program(); err != nil && err.Error() == "" {
			t.Error("an empty complaint")
		}
	})
}

func BenchmarkSed(b *testing.B) {
	var data bytes.Buffer
	for i := range 100000 {
		fmt.Fprintf(&data, "user%d some text %d and more\n", i, i%97)
	}
	for _, args := range [][]string{{"s/e/E/g"}, {"-E", `s/([a-z]+)([0-9]+) (.*)/\2 \1 \3/`}, {"-n", "/text 96/p"}, {"s/text/TEXT/"}, {"-n", "$p"}, {"2d"}} {
		b.Run(strings.Join(args, " "), func(b *testing.B) {
			b.SetBytes(int64(data.Len()))
			for range b.N {
				out := bufio.NewWriterSize(io.Discard, 64<<10)
				Command.Run(&applet.Ctx{Cmd: Command, Args: args, Stdin: bytes.NewReader(data.Bytes()), Stdout: out, Stderr: io.Discard})
			}
		})
	}
}
