package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// body is a response's body that knows whether it was closed.
type body struct {
	io.Reader
	open *atomic.Int64
}

func (b body) Close() error { b.open.Add(-1); return nil }

// TestFetch: a request leaves wasm as it was meant, and the response comes
// back in full, errors included.
func TestFetch(t *testing.T) {
	var open atomic.Int64
	fetch := func(_ context.Context, r sandbox.Request) (*sandbox.Response, error) {
		sent := ""
		if r.Body != nil {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			sent = string(b)
		}
		var in io.Reader = strings.NewReader(strings.Repeat("b", 100_000))
		switch r.URL {
		case "denied":
			return nil, &sandbox.NetError{Kind: sandbox.NetDenied, Msg: "no\nhint"}
		case "large":
			in = io.MultiReader(in, failing{&sandbox.NetError{Kind: sandbox.NetTooLarge, Msg: "x"}})
		case "slow":
			in = io.MultiReader(in, failing{&sandbox.NetError{Kind: sandbox.NetTimeout, Msg: "x"}})
		case "cut":
			in = io.MultiReader(in, failing{&sandbox.NetError{Kind: sandbox.NetBroken, Msg: "x"}})
		case "panic":
			panic("boo")
		case "limit":
			return nil, &sandbox.LimitError{What: "all"}
		}
		open.Add(1)
		return &sandbox.Response{Proto: "HTTP/1.1", Status: 200, Reason: fmt.Sprintf("%s %s %q %d %v %v", r.Method, r.From, sent, r.Size, r.Connect, r.Timeout),
			Header: append(r.Header, sandbox.HeaderField{Name: "é", Value: "\x00"}), Body: body{in, &open}, Remote: "[::1]:80",
			Times: sandbox.NetTimes{Resolved: time.Millisecond, Answered: 1 << 62}}, nil
	}
	const ok = "HTTP/1.1 200 %s [\"A\" \"1\" \"A\" \"\" \"é\" \"\\x00\"] [::1]:80 1ms 1h11m34.967295s\n100000 \"bbbbbbbbbbbbbbbbbbbb\" %s\n"
	for _, c := range []struct{ args, out, errs string }{
		{"GET u", fmt.Sprintf(ok, `GET http://from/ "" 0 1s 2ms`, "<nil>"), ""},
		{"PUT u data", fmt.Sprintf(ok, `PUT http://from/ "data" 4 1s 2ms`, "<nil>"), ""},
		{"PUT u @f", fmt.Sprintf(ok, `PUT http://from/ "in the file" 8589934592 1s 2ms`, "<nil>"), ""},
		{"GET large", fmt.Sprintf(ok, `GET http://from/ "" 0 1s 2ms`, "the response is too large"), ""},
		{"GET slow", fmt.Sprintf(ok, `GET http://from/ "" 0 1s 2ms`, "timed out"), ""},
		{"GET cut", fmt.Sprintf(ok, `GET http://from/ "" 0 1s 2ms`, "the connection ended too early"), ""},
		{"GET denied", "", "3 no\nhint\n"},
		{"PUT u @/", "", "1 Bad file descriptor\n"},
		{"GET many", fmt.Sprintf(ok, `GET http://from/ "" 0 1s 2ms`, "<nil>") + "Too many open files\n", ""},
	} {
		j := newJob(t, append([]string{"fetch"}, strings.Fields(c.args)...)...)
		f, err := j.proc.FS.Open("/f", 0o101, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, "in the file")
		f.Close()
		j.proc.Fetch = fetch
		j.status(t)
		if j.out.String() != c.out || j.err.String() != c.errs {
			t.Errorf("%s:\n got %s%s\nwant %s%s", c.args, j.out.String(), j.err.String(), c.out, c.errs)
		}
		if n := open.Load(); n != 0 {
			t.Errorf("%s: %d bodies were not closed", c.args, n)
		}
	}
	j := newJob(t, "fetch", "GET", "u")
	if j.status(t); j.err.String() != "3 not allowed: not inside the sandbox\n" {
		t.Error(j.err.String())
	}
	for _, u := range []string{"panic", "limit"} {
		j := newJob(t, "fetch", "GET", u)
		j.proc.Fetch = fetch
		var code sandbox.ExitCode
		if err := program(t, "fetch").Run(t.Context(), &j.proc); err == nil || errors.As(err, &code) {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// TestFetchEnds: a request that hangs ends with the command.
func TestFetchEnds(t *testing.T) {
	for _, where := range []string{"head", "body"} {
		j := newJob(t, "fetch", "GET", where)
		ctx, cancel := context.WithCancel(t.Context())
		j.proc.Fetch = func(ctx context.Context, r sandbox.Request) (*sandbox.Response, error) {
			time.AfterFunc(20*time.Millisecond, cancel)
			if r.URL == "head" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &sandbox.Response{Body: io.NopCloser(waiting{ctx})}, nil
		}
		if err := program(t, "fetch").Run(ctx, &j.proc); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", where, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type waiting struct{ ctx context.Context }

func (w waiting) Read([]byte) (int, error) { <-w.ctx.Done(); return 0, w.ctx.Err() }
