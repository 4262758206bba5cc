package mcp_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp"
)

// A host that guesses tokens is slowed down; one that has a token is served.
//
// Threats: HT-1.
func TestHTTPGuessing(t *testing.T) {
	srv := httpServer(t, mcp.Config{Tools: fixtures()}, mcp.HTTPConfig{})
	refused, slowed := 0, 0
	for i := range 60 {
		switch status, _ := post(t, srv.URL, "guess-0123456789abcdef", i, "nothing", `{}`, ""); status {
		case http.StatusUnauthorized:
			refused++
		case http.StatusTooManyRequests:
			slowed++
		default:
			t.Errorf("guess %d: %d", i, status)
		}
	}
	if refused < 20 || slowed == 0 {
		t.Errorf("%d were refused, %d slowed down", refused, slowed)
	}
	if status, _ := post(t, srv.URL, aliceToken, 1, "nothing", `{}`, ""); status != http.StatusOK {
		t.Errorf("alice, at the same address: %d", status)
	}
}

// A browser says when another site's page sent a request.
//
// Threats: HT-2.
func TestHTTPOtherSites(t *testing.T) {
	srv := httpServer(t, mcp.Config{Tools: fixtures()}, mcp.HTTPConfig{AllowedOrigins: []string{"https://app.example"}})
	for _, c := range []struct {
		site, origin string
		want         int
	}{
		{"cross-site", "", 403}, {"same-site", "", 403}, {"same-origin", "", 200}, {"none", "", 200}, {"", "", 200},
		{"cross-site", "https://app.example", 200}, {"cross-site", "https://evil.example", 403}, {"same-origin", "null", 403},
	} {
		req := request(t, srv.URL, "POST", callLine(1, "nothing", `{}`, ""), "")
		if c.site != "" {
			req.Header.Set("Sec-Fetch-Site", c.site)
		}
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s, origin %q: %d, want %d", c.site, c.origin, resp.StatusCode, c.want)
		}
	}
}

// The places of connections are counted, and given back.
//
// Threats: HT-3.
func TestLimitConns(t *testing.T) {
	for _, c := range []struct{ total, perHost int }{{2, 0}, {0, 2}, {5, 2}} {
		inner, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ln := mcp.LimitConns(inner, c.total, c.perHost)
		go func() {
			for {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				go func() {
					io.Copy(conn, conn)
					conn.Close()
					conn.Close() // as servers do
				}()
			}
		}()
		served := func(conn net.Conn) bool {
			conn.SetDeadline(time.Now().Add(patience))
			io.WriteString(conn, "x")
			_, err := io.ReadFull(conn, make([]byte, 1))
			return err == nil
		}
		dial := func() net.Conn {
			conn, err := net.Dial("tcp", inner.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		one, two, three := dial(), dial(), dial()
		if !served(one) || !served(two) || served(three) {
			t.Errorf("%+v: not the first two alone", c)
		}
		one.Close()
		ok := false
		for range 500 { // until the server has seen it
			if ok = served(dial()); ok {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !ok {
			t.Errorf("%+v: a place is not given back", c)
		}
		inner.Close()
	}
}

// A token file may give one principal fewer terminals than all may have.
func TestTerminalsOfAToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(`[{"token":"`+aliceToken+`","sub":"alice","terminals":2},{"token":"`+bobToken+`","sub":"bob","terminals":1000}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := mcp.OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := httpServer(t, mcp.Config{}, mcp.HTTPConfig{Auth: tokens})
	start := func(token string) string {
		_, m := post(t, srv.URL, token, 1, "terminal_create", `{"command":"hang"}`, "")
		if m.Result.IsError {
			return m.Result.Content[0].Text
		}
		return ""
	}
	for i := range 3 {
		if got := start(aliceToken); (got != "") != (i == 2) || i == 2 && !strings.Contains(got, "2 commands are running") {
			t.Errorf("alice's terminal %d: %q", i, got)
		}
	}
	for i := range 33 {
		if got := start(bobToken); (got != "") != (i == 32) {
			t.Errorf("bob's terminal %d: %q", i, got)
		}
	}
}
