package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// post calls a tool in the modern era and returns the answer's last message.
func post(t testing.TB, url, token string, id int, tool, args, more string) (int, message) {
	t.Helper()
	req := request(t, url, "POST", callLine(id, tool, args, more), "")
	req.Header.Set("Authorization", "Bearer "+token)
	var session string
	lines := answer(t, req, &session)
	var status int
	fmt.Sscan(lines[0], &status)
	return status, parse(t, lines[len(lines)-1])
}

func startHTTP(t testing.TB, url, command string) string {
	t.Helper()
	status, m := post(t, url, aliceToken, 1, "terminal_create", fmt.Sprintf(`{"command":%q}`, command), "")
	if status != http.StatusOK || m.Result.Structured.TerminalID == "" {
		t.Fatalf("create: %d %+v", status, m)
	}
	return m.Result.Structured.TerminalID
}

// stream opens a call whose answer does not come yet.
func stream(t *testing.T, ctx context.Context, url, tool, args, more string) *http.Response {
	t.Helper()
	resp, err := http.DefaultClient.Do(request(t, url, "POST", callLine(1, tool, args, more), "").WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// ending is a tool that says when it is called and when its call ends.
func ending() (tool mcp.Tool, called, ended chan struct{}) {
	called, ended = make(chan struct{}, 10), make(chan struct{}, 10)
	return mcp.Tool{Name: "until_the_end", InputSchema: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, _ *mcp.Call) (*mcp.Result, error) {
		called <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	}}, called, ended
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
}

func TestHTTPHeartbeat(t *testing.T) {
	srv := httpServer(t, mcp.Config{Tools: fixtures()}, mcp.HTTPConfig{Heartbeat: 20 * time.Millisecond})
	resp := stream(t, t.Context(), srv.URL, "hang", `{}`, "") // headers come with the first sign of life
	if got := resp.Header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering %q", got)
	}
	br := bufio.NewReader(resp.Body)
	for range 4 {
		l, err := br.ReadString('\n')
		if err != nil || l != ": keep-alive\n" && l != "\n" {
			t.Fatalf("%q, %v", l, err)
		}
	}
}

func TestHTTPClosingTheStreamCancels(t *testing.T) {
	tool, called, ended := ending()
	srv := httpServer(t, mcp.Config{Tools: []mcp.Tool{tool}}, mcp.HTTPConfig{Heartbeat: 10 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	stream(t, ctx, srv.URL, tool.Name, `{}`, "")
	await(t, "call", called)
	cancel()
	await(t, "cancellation", ended)
}

func TestHTTPLegacyCancel(t *testing.T) {
	tool, called, ended := ending()
	srv := httpServer(t, mcp.Config{Tools: []mcp.Tool{tool}}, mcp.HTTPConfig{Heartbeat: 10 * time.Millisecond})
	session := ""
	answer(t, request(t, srv.URL, "POST", macros.Replace("$INIT"), ""), &session)
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := http.DefaultClient.Do(request(t, srv.URL, "POST", `{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"until_the_end"}}`, session))
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	await(t, "call", called)
	answer(t, request(t, srv.URL, "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`, session), &session)
	await(t, "cancellation", ended)
	await(t, "the stream's end", done)
}

func TestHTTPEndOfTheBaseContext(t *testing.T) {
	type key struct{}
	tool, called, ended := ending()
	seen := make(chan any, 1)
	value := mcp.Tool{Name: "value", InputSchema: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, _ *mcp.Call) (*mcp.Result, error) {
		seen <- ctx.Value(key{})
		return nil, nil
	}}
	base, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, "grant"))
	defer cancel()
	s := newServer(t, mcp.Config{Tools: []mcp.Tool{tool, value}})
	srv := httptest.NewServer(s.Handler(base, mcp.HTTPConfig{Auth: tokenAuth{}, Heartbeat: 10 * time.Millisecond}))
	defer srv.Close()
	post(t, srv.URL, aliceToken, 1, "value", `{}`, "")
	if v := <-seen; v != "grant" {
		t.Errorf("the value of the base context is %v in a call", v)
	}
	stream(t, t.Context(), srv.URL, tool.Name, `{}`, "")
	await(t, "call", called)
	cancel()
	await(t, "cancellation", ended)
	if status, _ := post(t, srv.URL, aliceToken, 2, "value", `{}`, ""); status != http.StatusServiceUnavailable {
		t.Errorf("after the end: %d", status)
	}
}

func TestHTTPDraining(t *testing.T) {
	draining := make(chan struct{})
	srv := httpServer(t, mcp.Config{}, mcp.HTTPConfig{Draining: draining, Heartbeat: 10 * time.Millisecond})
	id := startHTTP(t, srv.URL, "hang")
	resp := stream(t, t.Context(), srv.URL, "terminal_wait_for_exit", idArg(id), "")
	session := ""
	answer(t, request(t, srv.URL, "POST", macros.Replace("$INIT"), ""), &session)
	get, err := http.DefaultClient.Do(request(t, srv.URL, "GET", "", session))
	if err != nil {
		t.Fatal(err)
	}
	defer get.Body.Close()
	close(draining)
	if _, err := io.Copy(io.Discard, get.Body); err != nil { // it ends
		t.Error(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(b), `"running":true`) {
		t.Errorf("the wait: %q, %v", b, err)
	}
	if status, _ := post(t, srv.URL, aliceToken, 2, "terminal_output", idArg(id), ""); status != http.StatusServiceUnavailable {
		t.Errorf("a new request: %d", status)
	}
	resp, err = http.Get(srv.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("healthz: %d", resp.StatusCode)
	}
}

func TestHTTPRates(t *testing.T) {
	srv := httpServer(t, mcp.Config{Tools: fixtures()}, mcp.HTTPConfig{Rate: 0.001, Burst: 3})
	for i := range 5 {
		want := http.StatusOK
		if i >= 3 {
			want = http.StatusTooManyRequests
		}
		if status, _ := post(t, srv.URL, aliceToken, i, "nothing", `{}`, ""); status != want {
			t.Errorf("request %d: %d, want %d", i, status, want)
		}
	}
	if status, _ := post(t, srv.URL, bobToken, 9, "nothing", `{}`, ""); status != http.StatusOK {
		t.Errorf("bob: %d", status)
	}
}

func TestHTTPSessionsAreBounded(t *testing.T) {
	srv := httpServer(t, mcp.Config{}, mcp.HTTPConfig{Sessions: 2})
	var sessions [3]string
	open := func(i int) string {
		return answer(t, request(t, srv.URL, "POST", macros.Replace("$INIT"), ""), &sessions[i])[0]
	}
	for i, want := range []string{"200", "200", "429"} {
		if got := open(i); !strings.HasPrefix(got, want) {
			t.Errorf("session %d: %s", i, got)
		}
	}
	answer(t, request(t, srv.URL, "DELETE", "", sessions[0]), &sessions[0])
	if got := open(2); !strings.HasPrefix(got, "200") {
		t.Errorf("after a DELETE: %s", got)
	}
}

// Threats: HT-3.
func TestHTTPSlowBodies(t *testing.T) {
	srv := httpServer(t, mcp.Config{}, mcp.HTTPConfig{ReadLimit: 50 * time.Millisecond})
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000000000000\r\n\r\n{", aliceToken)
	conn.SetReadDeadline(time.Now().Add(patience))
	l, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(l, " 400 ") {
		t.Errorf("%q, %v", l, err)
	}
}

func TestHTTPWithoutAuthenticatorRefuses(t *testing.T) {
	s := newServer(t, mcp.Config{})
	srv := httptest.NewServer(s.Handler(context.Background(), mcp.HTTPConfig{}))
	defer srv.Close()
	if status, _ := post(t, srv.URL, aliceToken, 1, "terminal_create", `{"command":"exit 0"}`, ""); status != http.StatusUnauthorized {
		t.Errorf("status %d", status)
	}
}

func TestHTTPMetrics(t *testing.T) {
	srv := httpServer(t, mcp.Config{Tools: fixtures()}, mcp.HTTPConfig{})
	startHTTP(t, srv.URL, "hang")
	post(t, srv.URL, aliceToken, 1, "terminal_create", `{"command":"rm x"}`, "")
	post(t, srv.URL, aliceToken, 1, "made-up-name", `{}`, "")
	post(t, srv.URL, "wrong", 1, "nothing", `{}`, "")
	var session string
	got := strings.Join(answer(t, request(t, srv.URL, "GET/metrics", "", ""), &session), "\n")
	for _, want := range []string{
		"200 text/plain",
		`donax_tool_calls_total{tool="terminal_create",outcome="ok"} 1`,
		`donax_tool_calls_total{tool="terminal_create",outcome="error"} 1`,
		`donax_tool_calls_total{tool="unknown",outcome="fault"} 1`,
		`donax_http_responses_total{code="200"} 2`,
		"donax_auth_failures_total 1",
		"donax_terminals_running 1",
		"donax_terminals_created_total 1",
		"donax_commands_denied_total 1",
		"# TYPE donax_terminals gauge",
	} {
		if !strings.Contains(got, want+"\n") && !strings.HasPrefix(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "alice") || strings.Contains(got, "made-up") {
		t.Errorf("a name shows:\n%s", got)
	}
}

func TestHTTPInterop(t *testing.T) {
	for _, era := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		t.Run(era, func(t *testing.T) {
			srv := httpServer(t, mcp.Config{}, mcp.HTTPConfig{})
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			var mu sync.Mutex
			shown := ""
			c := sdk.NewClient(&sdk.Implementation{Name: "interop", Version: "1"}, &sdk.ClientOptions{
				Capabilities: &sdk.ClientCapabilities{},
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					shown += r.Params.Message
				},
			})
			transport := &sdk.StreamableClientTransport{Endpoint: srv.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{aliceToken}}}
			cs, err := c.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			if got := cs.InitializeResult().ProtocolVersion; got != era {
				t.Errorf("speaks %s", got)
			}
			call := func(name string, args map[string]any, meta sdk.Meta) map[string]any {
				t.Helper()
				r, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args, Meta: meta})
				if err != nil || r.IsError {
					t.Fatalf("%s: %v %+v", name, err, r)
				}
				return r.StructuredContent.(map[string]any)
			}
			of := map[string]any{"terminalId": call("terminal_create", map[string]any{"command": "slow 20"}, nil)["terminalId"]}
			call("terminal_wait_for_exit", of, sdk.Meta{"progressToken": "tok"})
			out := call("terminal_output", of, nil)["output"].(string)
			for {
				mu.Lock()
				got := shown
				mu.Unlock()
				if got == out && got != "" {
					break
				}
				if ctx.Err() != nil {
					t.Fatalf("progress %q, output %q", got, out)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// Many terminals at once, each with a wait in progress, and nothing is left.
func TestHTTPManyTerminals(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 50
	}
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}, Limits: termhost.Limits{Running: 2 * n, Kept: 2 * n}})
	before := runtime.NumGoroutine()
	srv := httpServer(t, mcp.Config{Host: host, Limits: mcp.Limits{Calls: 2 * n}}, mcp.HTTPConfig{Rate: -1})
	transport := &http.Transport{MaxIdleConnsPerHost: 50, MaxConnsPerHost: 200}
	defer transport.CloseIdleConnections()
	var wg sync.WaitGroup
	gate := make(chan struct{}, 100)
	for i := range n {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			id := startHTTP(t, srv.URL, fmt.Sprintf("slow %d", 1+i%5))
			_, m := post(t, srv.URL, aliceToken, 2, "terminal_wait_for_exit", idArg(id), "")
			if m.Result.Structured.Running || !strings.Contains(string(m.Result.Structured.ExitStatus), `"exitCode":0`) {
				t.Errorf("wait: %+v", m.Result.Structured)
			}
			post(t, srv.URL, aliceToken, 3, "terminal_release", idArg(id), "")
		})
	}
	wg.Wait()
	if st := host.Stats(); st.Terminals != 0 || st.Running != 0 || st.Created != int64(n) {
		t.Errorf("left: %+v", st)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for i := 0; runtime.NumGoroutine() > before+10; i++ {
		if i == 500 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Threats: HT-1.
func TestTokenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		os.Remove(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string // part of the error
	}{
		{"", 0o600, "empty"},
		{"short", 0o600, "at least 20 characters"},
		{"two tokens 0123456789abcdef", 0o600, "neither one token"},
		{"0123456789abcdef0123\n0123456789abcdef0124", 0o600, "neither one token"},
		{"0123456789abcdef0123", 0o604, "lets others read it"},
		{"0123456789abcdef0123", 0o640, "lets others read it"},
		{"[]", 0o600, "no tokens"},
		{`[{"token":"0123456789abcdef0123"}]`, 0o600, "no sub"},
		{`[{"sub":"a"}]`, 0o600, "exactly one of token and sha256"},
		{`[{"sub":"a","token":"0123456789abcdef0123","sha256":"00"}]`, 0o600, "exactly one of token and sha256"},
		{`[{"sub":"a","sha256":"00"}]`, 0o600, "64 hex digits"},
		{`[{"sub":"a","token":"0123456789abcdef0123","role":["x"]}]`, 0o600, "member is unknown"},
		{`[{"sub":"a","token":"0123456789abcdef0123","sub":"b"}]`, 0o600, "duplicate member"},
		{`[{"sub":"a","token":"0123456789abcdef0123"},{"sub":"b","token":"0123456789abcdef0123"}]`, 0o600, "there twice"},
		{`[{"sub":"a","token":"0123456789abcdef0123","rate":-1}]`, 0o600, "negative rate"},
		{`[{"sub":"a","token":"0123456789abcdef0123"`, 0o600, "at byte"},
	} {
		write(c.text, c.mode)
		if _, err := mcp.OpenTokens(path, nil); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "0123456789") {
			t.Errorf("%q %o: %v, want %q", c.text, c.mode, err, c.want)
		}
	}
	if _, err := mcp.OpenTokens(filepath.Dir(path), nil); err == nil {
		t.Error("a folder is taken")
	}

	ask := func(tokens *mcp.Tokens, headers ...string) string {
		r := httptest.NewRequest("POST", "/mcp", nil)
		for _, h := range headers {
			r.Header.Add("Authorization", h)
		}
		who, err := tokens.Authenticate(r)
		if err != nil {
			return "refused"
		}
		return fmt.Sprintf("%s %s %v %v", who.Principal.Sub, who.Principal.Auth, who.Principal.Roles, who.Rate)
	}
	write("0123456789abcdef0123\n", 0o600)
	tokens, err := mcp.OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		headers []string
		want    string
	}{
		{[]string{"Bearer 0123456789abcdef0123"}, "token bearer [operator] 0"},
		{[]string{"bearer  0123456789abcdef0123 "}, "token bearer [operator] 0"},
		{[]string{"Bearer 0123456789abcdef0124"}, "refused"},
		{[]string{"Bearer "}, "refused"},
		{[]string{"Bearer"}, "refused"},
		{[]string{"Basic 0123456789abcdef0123"}, "refused"},
		{nil, "refused"},
		{[]string{"Bearer 0123456789abcdef0123", "Bearer x"}, "refused"},
	} {
		if got := ask(tokens, c.headers...); got != c.want {
			t.Errorf("%q: %s, want %s", c.headers, got, c.want)
		}
	}

	// A wrong file lets nobody in until it is right again.
	write(`[{"sub":"alice","token":"alice-0123456789abcdef","roles":["dev"],"rate":5},
		{"sub":"bob","sha256":"5b41362bc82b7f3d56edc5a306db22105707d01ff4819e26faef9724a2d406c9"}]`, 0o600)
	if err := tokens.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := ask(tokens, "Bearer alice-0123456789abcdef"); got != "alice bearer [dev] 5" {
		t.Errorf("alice: %s", got)
	}
	write("oops", 0o600)
	if err := tokens.Reload(); err == nil {
		t.Error("a bad file is taken")
	}
	// 091: and the server says so.
	srv := httpServer(t, mcp.Config{}, mcp.HTTPConfig{Auth: tokens})
	health := func() (int, string) {
		resp, err := http.Get(srv.URL + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	if status, text := health(); status != http.StatusServiceUnavailable || !strings.Contains(text, "token file") || strings.Contains(text, path) {
		t.Errorf("healthz: %d %s", status, text)
	}
	if got := ask(tokens, "Bearer alice-0123456789abcdef"); got != "refused" {
		t.Errorf("with a bad file: %s", got)
	}
	write("0123456789abcdef0123", 0o600)
	if err := tokens.Reload(); err != nil || ask(tokens, "Bearer 0123456789abcdef0123") == "refused" {
		t.Errorf("right again: %v", err)
	}
	if status, text := health(); status != http.StatusOK {
		t.Errorf("healthz: %d %s", status, text)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Reload(); err == nil || ask(tokens, "Bearer 0123456789abcdef0123") != "refused" {
		t.Errorf("without its file: %v", err)
	}
}
