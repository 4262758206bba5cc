package sandbox_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// network is a Network of the tests: it asks twice, as the real one does, and
// answers with what it was sent.
type network struct{ sent []sandbox.Request }

func (n *network) Do(ctx context.Context, r sandbox.Request, admit sandbox.Admit) (*sandbox.Response, error) {
	for _, ip := range []string{"", "192.0.2.1"} {
		if err := admit(ctx, policy.Net{Scheme: "http", Host: "h", IP: ip}); err != nil {
			return nil, err
		}
	}
	n.sent = append(n.sent, r)
	if r.URL == "hang" {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	body := "body"
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	return &sandbox.Response{Status: 200, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// fetcher requests its first argument, with stdin as body when there is a
// second.
func fetcher() sandbox.Program {
	return fake{"fetch", func(ctx context.Context, p *sandbox.Proc) error {
		r := sandbox.Request{Method: "GET", URL: p.Args[1]}
		if len(p.Args) > 2 {
			r.Body = p.Stdin
		}
		res, err := p.Fetch(ctx, r)
		if err == nil {
			_, err = io.Copy(p.Stdout, res.Body)
			res.Body.Close()
		}
		var ne *sandbox.NetError
		if errors.As(err, &ne) {
			_, _ = io.WriteString(p.Stderr, ne.Msg+"\n")
			return sandbox.ExitCode(7)
		}
		return err
	}}
}

func TestFetch(t *testing.T) {
	netRules := func(deny func(policy.Net) string) *rules {
		return &rules{deny: func(a policy.Action) string {
			if a.Net == nil {
				return ""
			}
			return deny(*a.Net)
		}}
	}
	for _, c := range []struct {
		line    string
		none    bool // no network at all
		deny    func(policy.Net) string
		out     string
		errs    string
		status  int
		reached int
	}{
		{line: "fetch u", out: "body", reached: 1},
		{line: "echo data | fetch u x", out: "data\n", reached: 1},
		{line: "fetch http://h.test:8080/x", none: true, errs: "not allowed: start donax with --allow-net h.test:8080\n", status: 7},
		{line: "fetch \"$(printf 'http://a\\nb/')\"", none: true, errs: "not allowed: start donax with --allow-net HOST\n", status: 7},
		{line: "fetch u", deny: func(policy.Net) string { return "closed" }, errs: "denied by policy: closed [rule keep; decision d1]\n  try: move it to /tmp\n", status: 7},
		{line: "fetch u", deny: func(n policy.Net) string { return n.IP }, errs: "denied by policy: 192.0.2.1 [rule keep; decision d1]\n  try: move it to /tmp\n", status: 7},
		{line: "env fetch u", deny: func(n policy.Net) string { return n.By }, errs: "denied by policy: fetch [rule keep; decision d1]\n  try: move it to /tmp\n", status: 7},
	} {
		if c.deny == nil {
			c.deny = func(policy.Net) string { return "" }
		}
		n := &network{}
		s := newSession(t, netRules(c.deny), func(cfg *sandbox.Config) {
			cfg.Programs = append(cfg.Programs, fetcher())
			if !c.none {
				cfg.Network = n
			}
		})
		out, errs, status, err := do(t, s, c.line, "")
		if out != c.out || errs != c.errs || status != c.status || err != nil || len(n.sent) != c.reached {
			t.Errorf("%s: %q %q %d %v, %d requests", c.line, out, errs, status, err, len(n.sent))
		}
	}
}

// The bytes of bodies are in what a policy is told of usage.
func TestNetUsage(t *testing.T) {
	r := &rules{deny: func(policy.Action) string { return "" }}
	s := newSession(t, r, func(c *sandbox.Config) {
		c.Programs, c.Network = append(c.Programs, fetcher()), &network{}
	})
	do(t, s, "echo 1234 | fetch u x; fetch u", "")
	var seen []int64
	for _, a := range r.asked {
		if a.Net != nil {
			seen = append(seen, a.Usage.NetBytes)
		}
	}
	if len(seen) != 4 || seen[0] != 0 || seen[2] != 10 {
		t.Errorf("%v", seen)
	}
}

// A request that hangs ends with its script.
func TestFetchEnds(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, func(c *sandbox.Config) {
		c.Programs, c.Network = append(c.Programs, fetcher()), &network{}
		c.Limits.Timeout = 20 * time.Millisecond
	})
	if _, errs, status, err := do(t, s, "fetch hang; echo after", ""); status != 124 || errors.Is(err, sandbox.ErrAbandoned) {
		t.Errorf("%q %d %v", errs, status, err)
	}
}

// What the requests of a line carry together is bounded.
func TestNetLimit(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, func(c *sandbox.Config) {
		c.Programs, c.Network = append(c.Programs, fetcher()), &network{}
		c.Limits.Net = 10
	})
	out, errs, status, err := do(t, s, "for i in 1 2 3 4; do fetch u; done; echo $?", "")
	if out != "bodybody7\n" || strings.Count(errs, "all requests of a line may carry 10 bytes (raise with --net-limit)\n") != 2 || status != 0 || err != nil {
		t.Errorf("%q %q %d %v", out, errs, status, err)
	}
	if out, _, _, _ := do(t, s, "fetch u", ""); out != "body" { // the next line begins anew
		t.Error(out)
	}
}
