package worker_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/google/go-cmp/cmp"
)

// webNet is a network that is one server. It admits and streams as a real one
// does, so what is between is this package's.
type webNet struct {
	at    string
	begun chan struct{}
	ended chan struct{}
}

func (n webNet) Do(ctx context.Context, r sandbox.Request, admit sandbox.Admit) (*sandbox.Response, error) {
	if err := admit(ctx, policy.Net{Scheme: "http", Host: "web.test", Port: 80, Method: r.Method, Path: strings.TrimPrefix(r.URL, "http://web.test"), Bytes: r.Size}); err != nil {
		return nil, err
	}
	if strings.HasSuffix(r.URL, "/broken") {
		return nil, &sandbox.NetError{Kind: sandbox.NetUnreachable, Msg: "no way"}
	}
	var body io.Reader
	if r.Body != nil {
		body = io.NopCloser(r.Body)
	}
	q, err := http.NewRequestWithContext(ctx, r.Method, strings.Replace(r.URL, "http://web.test", n.at, 1), body)
	if err != nil {
		return nil, &sandbox.NetError{Kind: sandbox.NetInvalid, Msg: "no request"}
	}
	for _, f := range r.Header {
		q.Header.Add(f.Name, f.Value)
	}
	res, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	select {
	case n.begun <- struct{}{}:
	default:
	}
	context.AfterFunc(ctx, func() {
		select {
		case n.ended <- struct{}{}:
		default:
		}
	})
	return &sandbox.Response{Proto: res.Proto, Status: res.StatusCode, Reason: "fine", Header: []sandbox.HeaderField{{Name: "X-A", Value: res.Header.Get("X-A")}}, Body: res.Body, Remote: "192.0.2.1:80", Times: sandbox.NetTimes{Answered: time.Second}}, nil
}

// fetcher is a program that makes requests: METHOD URL [BODY], where - is stdin.
var fetcher = native{"fetch", func(ctx context.Context, p *sandbox.Proc) error {
	r := sandbox.Request{Method: p.Args[1], URL: p.Args[2], Header: []sandbox.HeaderField{{Name: "X-Sent", Value: "v"}}}
	if len(p.Args) > 3 {
		r.Body, r.Size = strings.NewReader(p.Args[3]), int64(len(p.Args[3]))
		if p.Args[3] == "-" {
			r.Body, r.Size = p.Stdin, -1
		}
	}
	res, err := p.Fetch(ctx, r)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(p.Stderr, "%v\n", err)
		return sandbox.ExitCode(7)
	}
	defer res.Body.Close()
	fmt.Fprintf(p.Stdout, "%s %d %s %v %s %v\n", res.Proto, res.Status, res.Reason, res.Header, res.Remote, res.Times)
	if r.Method == "HEAD" {
		return nil
	}
	if _, err := io.Copy(p.Stdout, res.Body); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(p.Stderr, "body: %v\n", err)
		return sandbox.ExitCode(8)
	}
	return nil
}}

// newWeb serves what the lines of these tests ask for.
func newWeb(t *testing.T) webNet {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("X-A", r.Header.Get("X-Sent"))
		fmt.Fprintf(w, "%s %s %d\n", r.Method, r.URL.Path, n)
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 3<<20)) })
	mux.HandleFunc("/early", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(413)
		http.NewResponseController(w).Flush()
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begun\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return webNet{s.URL, make(chan struct{}, 1), make(chan struct{}, 1)}
}

// netRules denies and warns, and stops a line that has received a megabyte.
func netRules(_ context.Context, a policy.Action) (policy.Decision, error) {
	switch {
	case a.Net == nil:
	case a.Principal.Sub != "a" || a.Net.By != "fetch" || a.Usage.Execs == 0:
		return policy.Decision{Reasons: []policy.Reason{{Msg: fmt.Sprint("who is this: ", a.Principal.Sub, a.Net.By, a.Usage)}}}, nil
	case a.Net.Path == "/no", a.Usage.NetBytes > 3<<20:
		return policy.Decision{Reasons: []policy.Reason{{Msg: "not this one"}}}, nil
	case a.Net.Path == "/warn":
		return policy.Decision{Effect: policy.Allow, Warnings: []policy.Reason{{Msg: "careful"}}}, nil
	}
	return policy.Decision{Effect: policy.Allow}, nil
}

// TestFetchParity makes requests in a worker and in this process: nobody can tell
// the difference, and the policy is asked as for any other.
//
// Threats: WO-10.
func TestFetchParity(t *testing.T) {
	t.Parallel()
	web := newWeb(t)
	limits := sandbox.Limits{Net: 8 << 20}
	s := here(t, policy.EngineFunc(netRules), limits, web)
	c := config(t)
	c.Policy, c.Setup.Limits, c.Session = policy.EngineFunc(netRules), limits, s
	p := pool(t, c)
	ctx := as(t.Context(), "a")
	for _, line := range []string{
		"fetch GET http://web.test/x", "fetch HEAD http://web.test/big", "fetch POST http://web.test/x hello",
		"seq 200000 | fetch PUT http://web.test/up -", "fetch PUT http://web.test/up - < /dev/null", "fetch POST http://web.test/x ''",
		"fetch GET http://web.test/no; echo $?", "fetch GET http://web.test/broken; echo $?", "fetch GET 'http://web.test/ '; echo $?",
		"fetch GET http://web.test/warn; fetch GET http://web.test/warn 2>&1", "fetch GET http://web.test/warn 2>/dev/null",
		"fetch GET http://web.test/big | tail -c +50 | wc -c; fetch GET http://web.test/x; fetch GET http://web.test/x",
		"for i in 1 2 3 4 5 6 7 8; do fetch GET http://web.test/big | head -c 4; done | wc -c",
		"seq 5000000 | fetch PUT http://web.test/up -; echo $?", // more than all requests may carry
		"for i in $(seq 40); do fetch GET http://web.test/$i & done | sort | uniq | wc -l; wait",
		"(sleep 0.2; seq 3) | fetch PUT http://web.test/early - | head -c 12", "timeout 0.3 fetch GET http://web.test/slow | tail -n 1; echo ${PIPESTATUS[@]}",
	} {
		var want result
		fromHere := policy.WithMeter(ctx, &policy.Meter{})
		want = doHere(fromHere, s, line)
		got := do(policy.WithMeter(ctx, &policy.Meter{}), p, line)
		if diff := cmp.Diff([]any{want.out, want.err, want.status, fmt.Sprint(want.fail)}, []any{got.out, got.err, got.status, fmt.Sprint(got.fail)}); diff != "" {
			t.Errorf("%.60s: -here +worker %.2000s", line, diff)
		}
	}
	if r := do(as(t.Context(), "b"), p, "fetch GET http://web.test/x"); !strings.HasPrefix(r.err, "denied by policy: who is this: b") {
		t.Errorf("as another: %q %q", r.out, r.err)
	}
}

// TestFetchKilled: a request ends with its line.
//
// Threats: WO-10.
func TestFetchKilled(t *testing.T) {
	t.Parallel()
	web := newWeb(t)
	c := config(t)
	c.Session = here(t, policy.AllowAll{}, sandbox.Limits{}, web)
	p := pool(t, c)
	ctx, cancel := context.WithCancel(as(t.Context(), "a"))
	w, over := begin(ctx, t, p, "fetch GET http://web.test/slow")
	<-w.has
	<-web.begun
	cancel()
	within(t, over)
	select {
	case <-web.ended:
	case <-time.After(2 * time.Minute):
		t.Error("a request outlives its line")
	}
	if r := do(as(t.Context(), "a"), pool(t, config(t)), "fetch GET http://web.test/x"); !strings.HasPrefix(r.err, "not allowed: start donax with --allow-net web.test") {
		t.Errorf("without a network: %q %q", r.out, r.err)
	}
}
