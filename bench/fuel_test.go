package bench

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/box"
	"github.com/donax-sh/donax/wasm/box/build"
	"github.com/donax-sh/donax/wasm/rewrite"
)

// suite is work that a processor is kept busy with: a command and its input.
var suite = []struct {
	name  string
	args  []string
	input func() []byte
}{
	{"grep", []string{"grep", "-cE", "[a-f]+1[0-9]*7|xyz"}, func() []byte { return text(1 << 20) }},
	{"sort", []string{"sort"}, func() []byte { return text(512 << 10) }},
	{"sha256", []string{"sha256sum"}, func() []byte { return text(2 << 20) }},
	{"gzip", []string{"gzip", "-c"}, func() []byte { return text(512 << 10) }},
	{"json", []string{"jq", "-c", "map(.n) | add"}, func() []byte {
		var b bytes.Buffer
		b.WriteString("[")
		for i := range 10_000 {
			fmt.Fprintf(&b, "{\"n\":%d,\"name\":\"item %d\",\"tags\":[\"a\",\"b\"]},\n", i, i*7919%10_000)
		}
		b.WriteString("{\"n\":0}]")
		return b.Bytes()
	}},
	{"sed", []string{"sed", "s/[0-9][0-9]*/<&>/g"}, func() []byte { return text(512 << 10) }},
}

// text is n bytes of lines that look like a log.
func text(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d of the log: %x did %d things in %d ms\n", i, i*2654435761%1_000_003, i*7919%1000, i*104729%9973)
	}
	return b.Bytes()[:n]
}

// BenchmarkFuel runs the suite in the box as it is, in the same box without
// checks, and natively where the host has the tool. A command may cost at most
// 1.6 times what it costs without fuel; the median is the last row.
func BenchmarkFuel(b *testing.B) {
	counted, free := fuelled(b, false), fuelled(b, true)
	var ratios []float64
	for _, w := range suite {
		b.Run(w.name, func(b *testing.B) {
			in := w.input()
			var with, without, native least
			tool, err := exec.LookPath(w.args[0])
			for _, r := range []*wasm.Runtime{counted, free} { // the first run of a tier compiles it
				if err := runText(b, r, w.args, in); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				with.run(b, func() error { return runText(b, counted, w.args, in) })
				without.run(b, func() error { return runText(b, free, w.args, in) })
				if err == nil {
					native.run(b, func() error {
						c := exec.Command(tool, w.args[1:]...)
						c.Env = []string{"LC_ALL=C"}
						c.Stdin = bytes.NewReader(in)
						return c.Run()
					})
				}
			}
			ratio := float64(with) / float64(without)
			ratios = append(ratios, ratio)
			b.ReportMetric(ratio, "fuel")
			row := line{what: strings.Join(w.args, " "), ours: with.String(), other: without.String() + " without fuel", ratio: ratio, bar: "at most 1.6", ok: ratio <= 1.6}
			if native > 0 {
				row.other += ", " + native.String() + " natively"
			}
			table.add("Fuel: the CPU suite", row)
		})
	}
	if len(ratios) == len(suite) {
		slices.Sort(ratios)
		m := (ratios[2] + ratios[3]) / 2
		table.add("Fuel: the CPU suite", line{what: "median", ratio: m, bar: "at most 1.3", ok: m <= 1.3})
	}
}

// fuelled is a runtime with the box, compiled anew.
func fuelled(b *testing.B, unchecked bool) *wasm.Runtime {
	b.Helper()
	tiers, err := box.Tiers()
	if err != nil {
		b.Fatal(err)
	}
	var list []wasm.Tier
	for _, t := range tiers {
		if t.WASI { // none of ours
			continue
		}
		raw, err := build.Compile(b.Context(), "..", "./wasm/box/guest/"+t.Name)
		if err != nil {
			b.Fatal(err)
		}
		o := build.Options()
		o.Unchecked = unchecked
		bin, _, err := rewrite.Module(raw, o)
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, wasm.Tier{Name: t.Name, SHA256: fmt.Sprint(t.SHA256, unchecked), Commands: t.Commands, Module: func() ([]byte, error) { return bin, nil }})
	}
	r, err := wasm.New(wasm.Config{Box: list})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	return r
}

// runText runs a command of the box on an input; its output goes nowhere.
func runText(b *testing.B, r *wasm.Runtime, args []string, in []byte) error {
	for _, p := range r.Programs() {
		if p.Usage().Name == args[0] {
			return p.Run(b.Context(), &sandbox.Proc{
				Args: args, Env: []string{"LC_ALL=C"}, Dir: "/", FS: vfs.NewMem(vfs.MemConfig{}),
				Stdin: bytes.NewReader(in), Stdout: io.Discard, Stderr: io.Discard,
			})
		}
	}
	return fmt.Errorf("%s: %w", strings.Join(args, " "), os.ErrNotExist)
}
