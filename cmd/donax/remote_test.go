package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// remoteToken is the bearer token of the servers that tests start.
const remoteToken = "0123456789abcdef0123"

// otherToken is that of another principal of the same servers.
const otherToken = "fedcba98765432109876"

// remote is a real server over HTTP.
type remote struct {
	t     testing.TB
	p     *process
	url   string
	token string
}

// as is the same server to somebody else.
func (r *remote) as(token string) *remote {
	other := *r
	other.token = token
	return &other
}

// serveHTTP starts a server; it ends with the test.
func serveHTTP(t testing.TB, flags ...string) *remote {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	tokens := `[{"token":"` + remoteToken + `","sub":"tester","roles":["operator"],"rate":1000000},
		{"token":"` + otherToken + `","sub":"other","roles":["operator"],"rate":1000000}]`
	if err := os.WriteFile(file, []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, append([]string{"--http", "127.0.0.1:0", "--token-file", file}, flags...)...)
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	address := regexp.MustCompile(`address=(\S+)`)
	for {
		l, err := p.err.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if m := address.FindStringSubmatch(l); m != nil {
			return &remote{t, p, "http://" + m[1] + "/mcp", remoteToken}
		}
	}
}

// post sends a call; its answer is still to be read.
func (r *remote) post(ctx context.Context, tool, args, meta string) (*http.Response, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, tool, args, strings.Replace(modern, "{", "{"+meta, 1))
	req, err := http.NewRequestWithContext(ctx, "POST", r.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + r.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(k, v)
	}
	return http.DefaultClient.Do(req)
}

// call returns the answer to a call.
func (r *remote) call(tool, args string) string {
	resp, err := r.post(context.Background(), tool, args, "")
	return r.read(resp, err)
}

func (r *remote) read(resp *http.Response, err error) string {
	if err != nil {
		r.t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Error(err)
	}
	return string(b)
}

// metric is one of the numbers that the server gives to its operator.
func (r *remote) metric(name string) float64 {
	r.t.Helper()
	req, err := http.NewRequest("GET", strings.TrimSuffix(r.url, "/mcp")+"/metrics", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+remoteToken)
	text := r.read(http.DefaultClient.Do(req))
	_, after, _ := strings.Cut(text, "\n"+name+" ")
	value, _, _ := strings.Cut(after, "\n")
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		r.t.Fatalf("no %s in\n%s", name, text)
	}
	return v
}
