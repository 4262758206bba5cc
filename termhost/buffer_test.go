package termhost_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// script is a Runner that writes what it is told to, piece by piece, and
// waits for a token before each.
type script struct {
	pieces []string
	token  chan struct{} // nil: does not wait
}

func (s *script) Inspect(_ context.Context, c policy.Command) (policy.Command, error) { return c, nil }

func (s *script) Run(ctx context.Context, _ policy.Command, _ io.Reader, out, _ io.Writer) (int, error) {
	for _, p := range s.pieces {
		if s.token != nil {
			select {
			case <-s.token:
			case <-ctx.Done():
				return 137, ctx.Err()
			}
		}
		if _, err := io.WriteString(out, p); err != nil {
			return 137, err
		}
	}
	return 0, nil
}

func runScript(t *testing.T, s *script, keep int) *termhost.Terminal {
	t.Helper()
	h := termhost.New(termhost.Config{Runner: s, Engine: policy.AllowAll{}})
	t.Cleanup(func() { h.Close() })
	term, err := h.Create(as("a"), termhost.Spec{Line: "script", Output: keep})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// Threats: PR-4.
func TestKeepsTheEndAtACharacterBoundary(t *testing.T) {
	text := strings.Repeat("aé€😀z", 3)
	for limit := 0; limit <= len(text)+1; limit++ {
		for piece := 1; piece <= len(text); piece++ {
			s := &script{}
			for i := 0; i < len(text); i += piece {
				s.pieces = append(s.pieces, text[i:min(i+piece, len(text))])
			}
			keep := limit
			if keep == 0 {
				keep = -1
			}
			term := runScript(t, s, keep)
			wait(t, term)
			want := text[max(0, len(text)-limit):]
			for len(want) > 0 && !utf8.RuneStart(want[0]) {
				want = want[1:]
			}
			got := term.Output()
			if string(got.Data) != want || got.Truncated != (limit < len(text)) || got.Written != int64(len(text)) || got.Offset != int64(len(text)-len(want)) {
				t.Fatalf("limit %d, pieces of %d: %q %+v, want %q", limit, piece, got.Data, got, want)
			}
		}
	}
}

func TestOffsetsAreAbsolute(t *testing.T) {
	term := runScript(t, &script{pieces: []string{"0123456789", "abcdef"}}, 8)
	wait(t, term)
	for _, c := range []struct {
		off   int64
		limit int
		want  string
		at    int64
	}{
		{0, -1, "89abcdef", 8},
		{9, -1, "9abcdef", 9},
		{9, 2, "9a", 9},
		{-3, -1, "def", 13},
		{16, -1, "", 16},
		{99, -1, "", 16},
		{10, 0, "", 10},
	} {
		s := term.OutputFrom(c.off, c.limit)
		if string(s.Data) != c.want || s.Offset != c.at || s.Written != 16 || !s.Truncated || s.Exit == nil {
			t.Errorf("from %d, limit %d: %q %+v", c.off, c.limit, s.Data, s)
		}
	}
}

func TestOutputIsCompleteWhenTheExitShows(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	for range 300 {
		term := create(t, h, "bytes 5000")
		for {
			s := term.Output()
			if s.Exit != nil {
				if !bytes.HasSuffix(s.Data, []byte("END")) || s.Written != 5003 {
					t.Fatalf("the exit overtook the output: %d bytes", s.Written)
				}
				break
			}
			<-term.Changed(s.Written)
		}
		term.Release()
	}
}

func TestStreamIsWhole(t *testing.T) {
	s := &script{token: make(chan struct{}, 1)}
	want := ""
	for i := range 50 {
		p := strings.Repeat(string(rune('a'+i%26)), i)
		s.pieces = append(s.pieces, p)
		want += p
	}
	term := runScript(t, s, 0)
	s.token <- struct{}{}
	got := ""
	go func() {
		for range 49 {
			s.token <- struct{}{}
		}
	}()
	for c := range term.Stream(t.Context()) {
		if c.Offset != int64(len(got)) || c.Skipped != 0 {
			t.Errorf("chunk at %d after %d bytes", c.Offset, len(got))
		}
		got += string(c.Data)
	}
	if got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestASlowReaderSlowsNobody(t *testing.T) {
	s := &script{pieces: []string{"first", strings.Repeat("x", 1000), "last"}, token: make(chan struct{}, 3)}
	term := runScript(t, s, 10)
	s.token <- struct{}{}
	var skipped, seen int64
	for c := range term.Stream(t.Context()) {
		if seen == 0 {
			s.token <- struct{}{}
			s.token <- struct{}{}
			wait(t, term) // the writer does not wait for this loop
		}
		skipped += c.Skipped
		seen += int64(len(c.Data))
	}
	if skipped+seen != 1009 || seen != 15 {
		t.Errorf("seen %d, skipped %d", seen, skipped)
	}
}

func TestStreamEnds(t *testing.T) {
	h := newHost(t, termhost.Limits{})
	term := create(t, h, "hang x")
	for range term.Stream(t.Context()) {
		break // by its reader
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range term.Stream(ctx) {
		cancel() // by its context
	}
	for range term.Stream(t.Context()) {
		term.Release() // by the release
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, size := range []int{64, 4096, 1 << 20} {
		b.Run(sizeName(size), func(b *testing.B) {
			p := strings.Repeat("x", size)
			h := termhost.New(termhost.Config{Runner: &repeat{p, b}, Engine: policy.AllowAll{}})
			defer h.Close()
			b.SetBytes(int64(size))
			term, err := h.Create(as("a"), termhost.Spec{Line: "x"})
			if err != nil {
				b.Fatal(err)
			}
			<-term.Done()
		})
	}
}

type repeat struct {
	p string
	b *testing.B
}

func (r *repeat) Inspect(_ context.Context, c policy.Command) (policy.Command, error) { return c, nil }

func (r *repeat) Run(_ context.Context, _ policy.Command, _ io.Reader, out, _ io.Writer) (int, error) {
	p := []byte(r.p)
	for r.b.Loop() {
		out.Write(p)
	}
	return 0, nil
}

func sizeName(n int) string {
	if n >= 1<<20 {
		return "1MiB"
	}
	return map[int]string{64: "64B", 4096: "4KiB"}[n]
}

func BenchmarkCreateToExit(b *testing.B) {
	h := termhost.New(termhost.Config{Runner: &fake{}, Engine: policy.AllowAll{}})
	defer h.Close()
	ctx := as("a")
	for b.Loop() {
		term, err := h.Create(ctx, termhost.Spec{Line: "echo hi"})
		if err != nil {
			b.Fatal(err)
		}
		<-term.Done()
		term.Release()
	}
}
