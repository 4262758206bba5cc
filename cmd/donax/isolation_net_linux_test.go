package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestServedNetwork: lines that run in workers reach what was granted, and
// nothing else, and their requests end with them.
//
// Threats: WO-10.
func TestServedNetwork(t *testing.T) {
	needCommand(t, "curl")
	web := newWeb(t, false)
	ended := make(chan struct{})
	hang := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("begun\n"))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	}))
	t.Cleanup(func() { hang.CloseClientConnections(); hang.Close() })
	_, port, _ := net.SplitHostPort(web.addr())
	t.Setenv("API_AUTH", "Bearer v3ry-s3cret")
	s := serve(t, "-q", "--allow-net", web.addr(), "--allow-net", hang.Listener.Addr().String(), "--net-secret", web.addr()+"=Authorization:env:API_AUTH")
	for _, c := range []struct {
		line, out string
		code      float64
	}{
		{"curl -sS URL/a?b; wget -qO- URL/c", "GET /a?b 0\nGET /c 0\n", 0},
		{"seq 10000 | curl -s -T - URL/up; seq 5 > f; curl -s --data-binary @f URL/post", "PUT /up 48894\nPOST /post 10\n", 0},
		{"curl -s URL/echo | grep -i auth; env | grep -i auth", "Authorization [redacted]\n", 1},
		{"curl -sS http://localhost:PORT/", "curl: (7) Failed to connect to localhost port PORT: not allowed: start donax with --allow-net localhost:PORT\n", 7},
		{"curl -sS -o f URL/endless; echo $?", "curl: (63) the response is too large (raise with --net-limit)\n63\n", 0},
	} {
		fill := strings.NewReplacer("URL", web.URL, "PORT", port)
		if out, exit := s.line(map[string]any{"command": fill.Replace(c.line)}); out != fill.Replace(c.out) || exit["exitCode"] != c.code {
			t.Errorf("%s: %q %v", c.line, out, exit)
		}
	}
	created, refused := s.call("terminal_create", map[string]any{"command": "curl -sN " + hang.URL})
	if refused != "" {
		t.Fatal(refused)
	}
	id := map[string]any{"terminalId": created["terminalId"]}
	for range 500 {
		if r, _ := s.call("terminal_output", id); strings.Contains(r["output"].(string), "begun") {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.call("terminal_kill", id)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("a request outlives its terminal")
	}
}
