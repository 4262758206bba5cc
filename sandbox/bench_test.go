package sandbox_test

import (
	"io"
	"testing"

	"github.com/donax-sh/donax/policy"
)

func benchmark(b *testing.B, line string) {
	s := newSession(b, policy.AllowAll{}, nil)
	c, err := s.Inspect(b.Context(), policy.Command{Text: line})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if status, err := s.Run(b.Context(), c, nil, io.Discard, io.Discard); status != 0 || err != nil {
			b.Fatal(status, err)
		}
	}
}

func BenchmarkRunNothing(b *testing.B) { benchmark(b, ":") }

// 10,000 turns of a loop that only the shell itself works in.
func BenchmarkLoopOfBuiltins(b *testing.B) {
	benchmark(b, "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done")
}

func BenchmarkLoopOfEchoes(b *testing.B) {
	benchmark(b, "for ((i=0; i<10000; i++)); do echo $i; done")
}

// One start of a program that does nothing, without the shell round it.
func BenchmarkExec(b *testing.B) {
	benchmark(b, "for ((i=0; i<1000; i++)); do true_; done")
}

func BenchmarkPipelineOfTwo(b *testing.B) { benchmark(b, "true_ | true_") }

func BenchmarkInspect(b *testing.B) {
	s := newSession(b, policy.AllowAll{}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Inspect(b.Context(), policy.Command{Text: "for f in *.go; do grep -n func $f | sort | head -3 > out; done && echo done"}); err != nil {
			b.Fatal(err)
		}
	}
}
