package core_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/core"
)

// lines returns n lines of words, numbers and a few repeated keys, in no order.
func lines(n int) []byte {
	var b []byte
	x := uint32(2463534242)
	for range n {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b = append(b, "key"...)
		b = strconv.AppendUint(b, uint64(x%97), 10)
		b = append(b, ',')
		b = strconv.AppendUint(b, uint64(x), 36)
		b = append(b, " some text of the line,"...)
		b = strconv.AppendUint(b, uint64(x%100000), 10)
		b = append(b, '\n')
	}
	return b
}

func BenchmarkCommands(b *testing.B) {
	text := lines(100_000)
	file := filepath.Join(b.TempDir(), "in")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.Fatal(err)
	}
	sorted := filepath.Join(b.TempDir(), "sorted")
	keys := make([]byte, 0, len(text))
	for i := range 100_000 {
		keys = append(keys, "group "...)
		keys = strconv.AppendInt(keys, int64(i/7), 10)
		keys = append(keys, '\n')
	}
	if err := os.WriteFile(sorted, keys, 0o600); err != nil {
		b.Fatal(err)
	}
	commands := map[string]*applet.Command{}
	for _, c := range core.Commands() {
		commands[c.Name] = c
	}
	for _, line := range [][]string{
		{"cat", file},
		{"wc", file},
		{"wc", "-l", file},
		{"sort", file},
		{"sort", "-t,", "-k3n", file},
		{"sort", "-t,", "-k1,1", "-k3,3nr", file},
		{"sort", "-u", file},
		{"cut", "-d,", "-f1,3", file},
		{"cut", "-c1-10", file},
		{"uniq", "-c", sorted},
		{"tr", "a-z", "A-Z"},
		{"tr", "-d", "aeiou"},
		{"head", "-n", "50000", file},
		{"tail", "-n", "50000", file},
		{"md5sum", file},
		{"base64", file},
	} {
		name := line[0]
		for _, a := range line[1:] {
			if a != file && a != sorted {
				name += "_" + a
			}
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				c := &applet.Ctx{
					Cmd: commands[line[0]], Args: line[1:], Stdin: bytes.NewReader(text),
					Stdout: bufio.NewWriterSize(io.Discard, applet.BufSize), Stderr: os.Stderr,
				}
				if status := applet.Run(c); status != 0 {
					b.Fatalf("status %d", status)
				}
			}
		})
	}
}
