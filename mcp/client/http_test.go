package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/mcp/client"
	"github.com/donax-sh/donax/mcp/client/clienttest"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// web serves h on loopback until the test ends.
func web(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL + "/mcp"
}

func token(s string) func() (string, error) { return func() (string, error) { return s, nil } }

func TestHTTP(t *testing.T) {
	for _, faults := range [][]string{{}, {"sse"}, {"hangget"}} {
		t.Run(strings.Join(faults, " "), func(t *testing.T) {
			h := &clienttest.Handler{Faults: faults, Token: "sesame"}
			cfg := client.Config{URL: web(t, h), Bearer: token("sesame"), Header: http.Header{"X-Team": {"shells"}}}
			cfg.Limits.Message = 1 << 20
			c := start(t, cfg)
			if tools, err := c.Tools(context.Background()); err != nil || len(tools) < 10 {
				t.Fatalf("%v %v", tools, err)
			}
			if r := call(t, c, "weird", nil); !strings.HasSuffix(r.Text, "after") {
				t.Errorf("%+v", r)
			}
			if r := call(t, c, "ids", nil); string(r.JSON) != `{"id":9007199254740993}` {
				t.Errorf("%s", r.JSON)
			}
			if _, err := c.Call(context.Background(), "big", map[string]any{"bytes": 2 << 20}, nil); err == nil || !strings.Contains(err.Error(), "longer than the limit") {
				t.Errorf("over the limit: %v", err)
			}
			if r := call(t, c, "echo", map[string]any{"text": "on"}); r.Text != "on" {
				t.Errorf("the connection is lost: %+v", r)
			}
			c.Close()
			for _, seen := range h.Seen {
				if seen.Get("X-Team") != "shells" {
					t.Errorf("a request without the header: %v", seen)
				}
			}
		})
	}
}

// sesame lets in who knows the word.
type sesame struct{}

func (sesame) Authenticate(r *http.Request) (mcp.Identity, error) {
	if r.Header.Get("Authorization") != "Bearer sesame" {
		return mcp.Identity{}, errors.New("no")
	}
	return mcp.Identity{Principal: policy.Principal{Sub: "p", Auth: "bearer"}}, nil
}

// nobody runs nothing.
type nobody struct{}

func (nobody) Inspect(_ context.Context, c policy.Command) (policy.Command, error) { return c, nil }
func (nobody) Run(context.Context, policy.Command, io.Reader, io.Writer, io.Writer) (int, error) {
	return 0, nil
}

func TestHTTPModern(t *testing.T) {
	host := termhost.New(termhost.Config{Runner: nobody{}, Engine: policy.Default{}})
	defer host.Close()
	server, err := mcp.New(mcp.Config{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	url := web(t, server.Handler(base, mcp.HTTPConfig{Auth: sesame{}}))
	for revision, want := range map[string]string{"": "2026-07-28", "2025-06-18": "2025-06-18"} {
		c := start(t, client.Config{URL: url, Bearer: token("sesame"), Revision: revision})
		if _, _, got := c.Server(); got != want {
			t.Errorf("speaks %s, want %s", got, want)
		}
		if tools, err := c.Tools(context.Background()); err != nil || len(tools) != 5 {
			t.Errorf("%v %v", tools, err)
		}
		c.Close()
	}
}

// Threats: UP-9.
func TestCredentialsStayHome(t *testing.T) {
	evil := &clienttest.Handler{}
	h := &clienttest.Handler{Faults: []string{"redirect"}, Token: "sesame", Evil: web(t, evil)}
	cfg := client.Config{URL: web(t, h), Bearer: token("sesame")}
	if _, err := client.Start(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("a redirection to another host: %v", err)
	}
	if len(evil.Seen) != 0 {
		t.Errorf("another host was asked: %v", evil.Seen)
	}
	cfg.Bearer = token("wrong")
	_, err := client.Start(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong token: %v", err)
	}
	cfg.Bearer = func() (string, error) { return "", errors.New("the token file is gone") }
	if _, err := client.Start(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "token file is gone") {
		t.Errorf("no token: %v", err)
	}
}

// Threats: UP-5.
func TestHTTPServerHangs(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	url := web(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	begin := time.Now()
	if _, err := client.Start(ctx, client.Config{URL: url, Limits: client.Limits{Probe: 300 * time.Millisecond}}); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}
