package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
)

const (
	aliceToken = "alice-0123456789abcdef"
	bobToken   = "bob-0123456789abcdefgh"
)

// tokenAuth knows two principals.
type tokenAuth struct{}

func (tokenAuth) Authenticate(r *http.Request) (mcp.Identity, error) {
	switch r.Header.Get("Authorization") {
	case "Bearer " + aliceToken:
		return mcp.Identity{Principal: policy.Principal{Sub: "alice", Auth: "bearer", Roles: []string{mcp.OperatorRole}}}, nil
	case "Bearer " + bobToken:
		return mcp.Identity{Principal: policy.Principal{Sub: "bob", Auth: "bearer"}}, nil
	}
	return mcp.Identity{}, fmt.Errorf("who is %q", r.Header.Get("Authorization"))
}

func httpServer(t testing.TB, c mcp.Config, hc mcp.HTTPConfig) *httptest.Server {
	t.Helper()
	if hc.Auth == nil {
		hc.Auth = tokenAuth{}
	}
	s := newServer(t, c)
	base, cancel := context.WithCancel(context.Background())
	srv := httptest.NewUnstartedServer(s.Handler(base, hc))
	srv.Config = mcp.NewHTTPServer(srv.Config.Handler)
	srv.Start()
	t.Cleanup(func() {
		cancel()
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// An HTTP transcript is a conversation:
//
//   - NAME: VALUE   a header of the next request, in place of the usual one
//   - NAME          the next request comes without this header
//     > METHOD BODY   a request to /mcp, or to METHOD's path when one follows it: GET/healthz
//     < STATUS TYPE   its answer: status, media type, and headers that matter
//     < LINE          a line of its body; an event stream shows the data of its events
//
// The usual headers are those that the protocol demands for the body.
//
// Threats: HT-2.
func TestHTTPTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/http/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := false
		for i := range a.Files {
			f := &a.Files[i]
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+f.Name, func(t *testing.T) {
				got := playHTTP(t, string(f.Data))
				if got == string(f.Data) {
					return
				}
				if *update {
					f.Data, changed = []byte(got), true
					return
				}
				t.Errorf("got:\n%s\nwant:\n%s", got, f.Data)
			})
		}
		if changed {
			if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func playHTTP(t *testing.T, script string) string {
	srv := httpServer(t, mcp.Config{Tools: fixtures()}, mcp.HTTPConfig{AllowedHosts: []string{"mcp.example"}, AllowedOrigins: []string{"https://app.example"}})
	p := &player{client: &client{t: t}}
	var log strings.Builder
	var headers []string
	session := ""
	for _, l := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		verb, rest, _ := strings.Cut(l, " ")
		if verb == "<" {
			continue
		}
		log.WriteString(l + "\n")
		switch verb {
		case "+", "-":
			headers = append(headers, l)
		case ">":
			method, body, _ := strings.Cut(rest, " ")
			if n, ok := strings.CutPrefix(body, "*"); ok { // *N: a body of N bytes
				size, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				body = `"` + strings.Repeat("x", size) + `"`
			}
			req := request(t, srv.URL, method, p.expand(body), session)
			for _, h := range headers {
				name, value, _ := strings.Cut(strings.ReplaceAll(h[2:], "$S", session), ": ")
				if name == "Host" {
					req.Host = value
				}
				req.Header.Del(name)
				if h[0] == '+' {
					req.Header.Set(name, value)
				}
			}
			headers = nil
			for _, l := range answer(t, req, &session) {
				if session != "" {
					l = strings.ReplaceAll(l, session, "$S")
				}
				log.WriteString("< " + p.normal(l) + "\n")
			}
		case "#", "":
		default:
			t.Fatalf("bad line %q", l)
		}
	}
	return log.String()
}

// request makes a request with the headers that the protocol demands.
func request(t testing.TB, url, method, body, session string) *http.Request {
	t.Helper()
	method, path, ok := strings.Cut(method, "/")
	if !ok {
		path = "mcp"
	}
	req, err := http.NewRequest(method, url+"/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string         `json:"name"`
			Meta map[string]any `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal([]byte(body), &m) // bad bodies are sent, too
	req.Header.Set("Authorization", "Bearer "+aliceToken)
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if v, ok := m.Params.Meta["io.modelcontextprotocol/protocolVersion"].(string); ok {
		req.Header.Set("MCP-Protocol-Version", v)
		req.Header.Set("Mcp-Method", m.Method)
		if m.Params.Name != "" {
			req.Header.Set("Mcp-Name", m.Params.Name)
		}
	} else if session != "" {
		req.Header.Set("MCP-Protocol-Version", "2025-11-25")
		req.Header.Set("Mcp-Session-Id", session)
	}
	return req
}

// answer sends req and returns the answer as lines.
func answer(t testing.TB, req *http.Request, session *string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	resp, err := http.DefaultClient.Do(req.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
		*session = s
	}
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	first := strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, media))
	for _, name := range []string{"Allow", "Www-Authenticate", "Mcp-Session-Id", "Access-Control-Allow-Origin"} {
		if v := resp.Header.Get(name); v != "" {
			first += " " + name + "=" + v
		}
	}
	lines := []string{first}
	for l := range bytes.Lines(b) {
		text := strings.TrimRight(string(l), "\n")
		if media == "text/event-stream" {
			data, ok := strings.CutPrefix(text, "data: ")
			if !ok {
				continue
			}
			text = data
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}
