package main

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// lines are measured in the sandbox and in a fresh bash side by side: what
// counts is the ratio in one run, not the time.
var lines = []struct{ name, text string }{
	{"builtin", "echo hi"},
	{"exec", "true; /bin/true"},
	{"ls", "ls -la /tmp"},
	{"pipeline", "seq 1000 | sort -rn | head -1"},
	{"substitution", "for i in 1 2 3 4 5 6 7 8 9 10; do x=$(echo $i); done"},
	{"loop", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"},
}

// BenchmarkLine runs each line through admission and the sandbox.
func BenchmarkLine(b *testing.B) {
	f := sandboxFlags{quiet: true}
	f.defaults()
	box, err := f.open(b.Context(), io.Discard, policy.Session{ID: "bench", Transport: "cli"})
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close()
	if err := box.runtime.Warm(context.Background()); err != nil {
		b.Fatal(err)
	}
	for _, l := range lines {
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				var errs strings.Builder
				if status, err := box.run(b.Context(), policy.Command{Text: l.text, Cwd: "/workspace"}, nil, io.Discard, &errs); status != 0 || err != nil {
					b.Fatal(status, err, errs.String())
				}
			}
		})
	}
}

// BenchmarkBash runs the same lines in bash -c, a process each.
func BenchmarkBash(b *testing.B) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		b.Skip("bash is not installed")
	}
	for _, l := range lines {
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				if err := exec.Command(bash, "-c", l.text).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExec runs a program a hundred times, without and with a record of
// each: their ratio is what the record costs.
func BenchmarkExec(b *testing.B) {
	for _, name := range []string{"off", "on"} {
		b.Run("audit="+name, func(b *testing.B) {
			f := sandboxFlags{quiet: true}
			f.defaults()
			if name == "on" {
				f.waist.audit = filepath.Join(b.TempDir(), "log")
			}
			box, err := f.open(b.Context(), io.Discard, policy.Session{ID: "bench", Transport: "cli"})
			if err != nil {
				b.Fatal(err)
			}
			defer box.Close()
			if err := box.runtime.Warm(context.Background()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c := policy.Command{Text: "for ((i = 0; i < 100; i++)); do /bin/basename /a/b >/dev/null; done", Cwd: "/workspace"}
				if status, err := box.run(b.Context(), c, nil, io.Discard, io.Discard); status != 0 || err != nil {
					b.Fatal(status, err)
				}
			}
		})
	}
}
