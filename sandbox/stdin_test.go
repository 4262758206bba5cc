package sandbox_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// A line takes from its stdin what it reads, and no more.
func TestStdinIsNotSwallowed(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, c := range []struct{ line, out, left string }{
		{"echo hi", "hi\n", "a\nb\nc\n"},
		{"true_; env true_; sh -c true_", "", "a\nb\nc\n"},
		{"head1", "a\n", "b\nc\n"},
		{"head1; sh -c head1", "a\nb\n", "c\n"},
		{"(head1) | cat; head1", "a\nb\n", "c\n"},
		{"cat", "a\nb\nc\n", ""},
		{"head1; cat", "a\nb\nc\n", ""},
		{"read x; echo $x; cat", "a\nb\nc\n", ""},
		{"head1; read x; echo $x; read x; echo $x", "a\nb\nc\n", ""},
		{"echo x | cat; cat", "x\na\nb\nc\n", ""},
		{"cat < /workspace/none; cat", "a\nb\nc\n", ""},
		{"mapfile -t x; echo ${x[2]}", "c\n", ""},
		{"sh", "", ""},
	} {
		in := strings.NewReader("a\nb\nc\n")
		var out, errw bytes.Buffer
		if _, err := s.Run(t.Context(), policy.Command{Text: c.line}, in, &out, &errw); err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		left, _ := io.ReadAll(in)
		if out.String() != c.out || string(left) != c.left {
			t.Errorf("%s: printed %q, left %q, want %q and %q; stderr %q", c.line, &out, left, c.out, c.left, &errw)
		}
	}
}

// No stdin is an empty one (security 042).
func TestNoStdin(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for line, want := range map[string]string{
		"cat; echo $?": "0\n", "read x; echo $?": "1\n", "head1; echo $?": "0\n", "select x in a b; do :; done; echo $?": "1\n", "while read l; do :; done; echo end": "end\n",
		"mapfile x; echo ${#x[@]}": "0\n", "sh; echo $?": "0\n", "cat | cat; echo $?": "0\n", "xargs echo": "\n", "sh -c cat": "",
	} {
		var out bytes.Buffer
		if _, err := s.Run(t.Context(), policy.Command{Text: line}, nil, &out, io.Discard); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v, want %q", line, &out, err, want)
		}
	}
}

// Two writers of one buffer are never written at once, and writes of
// programs do not reach a writer that has gone.
func TestWriters(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	var both bytes.Buffer // not safe for concurrent use
	status, err := s.Run(t.Context(), policy.Command{Text: "for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5; do echo out; echo err >&2; done) & done; wait"}, nil, &both, &both)
	if status != 0 || err != nil || strings.Count(both.String(), "\n") != 80 {
		t.Errorf("%d, %v, %q", status, err, &both)
	}
	r, w := io.Pipe()
	go func() { io.CopyN(io.Discard, r, 10); r.Close() }()
	for _, line := range []string{"yes", "while :; do echo y; done", "while printf y; do :; done"} {
		if status, err := s.Run(t.Context(), policy.Command{Text: line}, nil, w, io.Discard); status != 141 || err != nil {
			t.Errorf("%s: %d, %v", line, status, err)
		}
	}
}

// A reader that left ends the writers: builtins too.
func TestBrokenPipe(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, func(c *sandbox.Config) {})
	for _, line := range []string{"yes | head1", "while :; do echo y; done | head1", "while printf 'y\\n'; do :; done | head1", "yes | cat | head1", "for ((;;)); do echo y; done | cat | head1"} {
		if out, errw, status, err := do(t, s, line, ""); out != "y\n" || status != 0 || err != nil || errw != "" {
			t.Errorf("%s: %q %q %d %v", line, out, errw, status, err)
		}
	}
}

// The streams have names.
func TestDevStreams(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, c := range []struct{ line, out, errw string }{
		{"cat /dev/stdin", "in\n", ""},
		{"cat < /dev/stdin", "in\n", ""},
		{"cat /dev/fd/0 > f; cat f", "in\n", ""},
		{"echo e > /dev/stderr; echo o > /dev/stdout", "o\n", "e\n"},
		{"x=$(echo e > /dev/stderr; echo o > /dev/stdout); echo [$x]", "[o]\n", "e\n"},
		{"echo a | cat /dev/stdin | upper > /dev/stderr", "", "A\n"},
		{"echo x > /dev/null; cat /dev/null; yes > /dev/full", "", "donax: internal error in yes\n"},
		{"read l < /dev/stdin; echo $l", "in\n", ""},
		{"cp /dev/stdin /dev/stdout", "in\n", ""},
		{". /dev/stdin <<< 'echo sourced'", "sourced\n", ""},
		{"sh /dev/stdin", "", "/dev/stdin: line 1: in: command not found\n"},
	} {
		out, errw, _, _ := do(t, s, c.line, "in\n")
		if out != c.out || errw != c.errw {
			t.Errorf("%s: %q %q", c.line, out, errw)
		}
	}
}
