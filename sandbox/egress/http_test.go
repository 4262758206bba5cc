package egress_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/egress"
)

// raw is a server that answers each connection with the same bytes.
func raw(t testing.TB, answer func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for range 100 {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(time.Minute))
				c.Read(make([]byte, 4096))
				answer(c)
			}()
		}
	}()
	return l.Addr().String()
}

func text(s string) func(net.Conn) { return func(c net.Conn) { io.WriteString(c, s) } }

// TestHead: the head of a response arrives as it was sent, in its order and
// spelling.
func TestHead(t *testing.T) {
	addr := raw(t, text("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 Not Here\r\nx-b: 1\r\nX-A:2\r\nx-b: 3\r\n folded\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"))
	e := open(t, egress.Config{Allow: rules(t, addr)})
	res, err := e.Do(t.Context(), sandbox.Request{Method: "GET", URL: "http://" + addr + "/x"}, yes)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	want := []sandbox.HeaderField{{Name: "x-b", Value: "1"}, {Name: "X-A", Value: "2"}, {Name: "x-b", Value: "3 folded"}, {Name: "Transfer-Encoding", Value: "chunked"}}
	if res.Status != 404 || res.Reason != "Not Here" || res.Proto != "HTTP/1.1" || !slices.Equal(res.Header, want) || string(body) != "hi" || res.Remote != addr {
		t.Errorf("%+v %q", res, body)
	}
	if res.Times.Connected == 0 || res.Times.Answered < res.Times.Connected || res.Times.Secured != 0 {
		t.Errorf("%+v", res.Times)
	}
}

// TestRequestHead: what is sent is what the program said, and nothing of
// donax's own.
//
// Threats: NE-3.
func TestRequestHead(t *testing.T) {
	got := make(chan string, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		b := make([]byte, 4096)
		n, _ := c.Read(b)
		got <- string(b[:n])
		io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		c.Close()
	}()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "socks5h://127.0.0.1:1")
	addr := l.Addr().String()
	e := open(t, egress.Config{Allow: rules(t, addr)})
	if s := get(t, e, sandbox.Request{URL: "http://" + addr + "/a%2fb?x=%20y#frag", Header: []sandbox.HeaderField{{Name: "X-Q", Value: "1"}, {Name: "host", Value: addr}, {Name: "Accept", Value: "*/*"}, {Name: "X-Q", Value: "2"}}}); s != "204 " {
		t.Fatal(s)
	}
	want := "GET /a%2fb?x=%20y HTTP/1.1\r\nHost: " + addr + "\r\nAccept: */*\r\nX-Q: 1\r\nX-Q: 2\r\n\r\n"
	if s := <-got; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
}

// TestRefusedRequests: what could reach past the check, or smuggle.
//
// Threats: NE-5.
func TestRefusedRequests(t *testing.T) {
	s := serve(t, false, func(http.ResponseWriter, *http.Request) {})
	e := open(t, egress.Config{Allow: rules(t, s.addr()), Limits: egress.Limits{Request: 10}})
	h := func(name, value string) sandbox.Request {
		return sandbox.Request{Header: []sandbox.HeaderField{{Name: name, Value: value}}}
	}
	for _, r := range []sandbox.Request{
		h("X", "a\r\nEvil: 1"), h("X", "a\nb"), h("X", "a\x00b"), h("X\r\nEvil", "1"), h("X Y", "1"), h("", "1"), h("X:", "1"), h("Host", "evil.test"), h("Host", s.addr()+"1"), h("Host", ""), h("Host", "127.0.0.1"),
		h("Connection", "X-Secret"), h("Transfer-Encoding", "chunked"), h("Content-Length", "3"), h("TE", "trailers"), h("Upgrade", "h2c"), h("Trailer", "X"), h("Proxy-Authorization", "x"), h("Proxy-Connection", "x"), h("Expect", "100-continue"), h("Keep-Alive", "1"),
		h("X", strings.Repeat("a", 70<<10)), {Header: slices.Repeat(h("X", "1").Header, 300)},
		{Method: "GET /x HTTP/1.1\r\nX:"}, {Method: "CONNECT"}, {Method: "TRACE"}, {Method: "trace"}, {Method: strings.Repeat("A", 40)}, {Method: "G ET"},
		{Method: "PUT", Body: strings.NewReader("12345678901"), Size: 11},
	} {
		r.URL = s.URL
		if got := get(t, e, r); strings.HasPrefix(got, "200") || !strings.Contains(got, ": ") || strings.Contains(got, "Evil") {
			t.Errorf("%.100q: %s", fmt.Sprint(r.Method, r.Header), got)
		}
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
	if got := get(t, e, sandbox.Request{URL: s.URL, Method: "PUT", Body: strings.NewReader(strings.Repeat("x", 1<<20)), Size: -1}); got != "9: a request may carry 10 bytes (raise with --net-limit)" {
		t.Error(got)
	}
}

// TestTLS: certificates are verified against the given roots and the name in
// the URL, HTTP/2 works, and it is told apart what failed.
func TestTLS(t *testing.T) {
	s := serve(t, true, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto, " ", r.Host) })
	plain := serve(t, false, func(http.ResponseWriter, *http.Request) {})
	resolver := &names{answers: map[string][]string{"example.com": {"127.0.0.1"}, "other.test": {"127.0.0.1"}}}
	allow := rules(t, "127.0.0.1:"+s.port(), "example.com:"+s.port(), "other.test:"+s.port(), "127.0.0.1:"+plain.port())
	e := open(t, egress.Config{Allow: allow, Resolver: resolver, Roots: s.roots()})
	for url, want := range map[string]string{
		s.URL:                                   "200 HTTP/2.0 " + s.addr(),
		"https://example.com:" + s.port() + "/": "200 HTTP/2.0 example.com:" + s.port(),
		"https://other.test:" + s.port() + "/":  "7: the certificate is for another host",
		"https://" + plain.addr() + "/":         "8: the server does not speak TLS",
	} {
		if got := get(t, e, sandbox.Request{URL: url}); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	if got := get(t, open(t, egress.Config{Allow: allow}), sandbox.Request{URL: s.URL}); got != "7: unable to get local issuer certificate" {
		t.Error(got)
	}
	if got := get(t, e, sandbox.Request{URL: "http://" + s.addr()}); !strings.HasPrefix(got, "400 ") {
		t.Error(got)
	}
}

// TestFailures: each way in which a server fails has its kind.
func TestFailures(t *testing.T) {
	for answer, want := range map[string]string{
		"":                      "11: the connection ended too early",
		"HTTP/1.1 200 OK\r\nX:": "10: the connection ended too early",
		"SSH-2.0-OpenSSH\r\n":   "10: the response is not HTTP that can be read",
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc":                    "10: the connection ended too early",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n":         "10: the response is not HTTP that can be read",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 300<<10) + "\r\n\r\n":  "10: the response is not HTTP that can be read",
		"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: a\r\n", 100<<10) + "\r\n":  "10: the response is not HTTP that can be read",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab": "10: the response is not HTTP that can be read",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n":                 "9: a response may have 16777216 bytes, this one has 99999999 (raise with --net-limit)",
	} {
		addr := raw(t, text(answer))
		if got := get(t, open(t, egress.Config{Allow: rules(t, addr)}), sandbox.Request{URL: "http://" + addr}); got != want {
			t.Errorf("%.60q: %s, want %s", answer, got, want)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	if got := get(t, open(t, egress.Config{Allow: rules(t, addr)}), sandbox.Request{URL: "http://" + addr}); got != "5: Connection refused" {
		t.Error(got)
	}
	if got := get(t, open(t, egress.Config{Resolver: &names{}}), sandbox.Request{URL: "http://none.test"}); got != "4: Could not resolve host: none.test" {
		t.Error(got)
	}
}

// endless is the beginning of a body without end.
const endless = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"

// TestSizes: an endless body ends at the bound of the response.
//
// Threats: NE-6.
func TestSizes(t *testing.T) {
	addr := raw(t, func(c net.Conn) {
		io.WriteString(c, endless)
		for {
			if _, err := c.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	})
	e := open(t, egress.Config{Allow: rules(t, addr), Limits: egress.Limits{Response: 100_000}})
	for range 3 {
		res, err := e.Do(t.Context(), sandbox.Request{Method: "GET", URL: "http://" + addr}, yes)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if !isKind(err, sandbox.NetTooLarge) || n != 100_000 {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}

// TestSlow: a server that keeps a request waiting, before the head or in the
// body, is left at the time limit, and at once when the command is killed.
//
// Threats: NE-6.
func TestSlow(t *testing.T) {
	for name, begin := range map[string]string{"silent": "", "head": "HTTP/1.1 200 OK\r\nX-A: ", "body": endless} {
		addr := raw(t, func(c net.Conn) {
			io.WriteString(c, begin)
			for {
				time.Sleep(10 * time.Millisecond)
				if _, err := c.Write([]byte("a")); name != "silent" && err != nil {
					return
				}
			}
		})
		if name == "silent" {
			addr = raw(t, func(c net.Conn) { io.Copy(io.Discard, c) })
		}
		e := open(t, egress.Config{Allow: rules(t, addr)})
		start := time.Now()
		if got := get(t, e, sandbox.Request{URL: "http://" + addr, Timeout: 100 * time.Millisecond}); got != "6: timed out" || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %s after %v", name, got, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var killed time.Time
		time.AfterFunc(50*time.Millisecond, func() { killed = time.Now(); cancel() })
		res, err := e.Do(ctx, sandbox.Request{Method: "GET", URL: "http://" + addr}, yes)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		if d := time.Since(killed); !errors.Is(err, context.Canceled) || d > 500*time.Millisecond {
			t.Errorf("%s: %v, %v after the kill", name, err, d)
		}
	}
}

// TestConcurrency: more requests than there are slots wait, and none is lost
// when one fails.
//
// Threats: NE-6.
func TestConcurrency(t *testing.T) {
	release := make(chan bool)
	s := serve(t, false, func(http.ResponseWriter, *http.Request) { <-release })
	e := open(t, egress.Config{Allow: rules(t, s.addr(), "127.0.0.1:1"), Limits: egress.Limits{Concurrent: 2}})
	for range 5 {
		get(t, e, sandbox.Request{URL: "http://127.0.0.1:1/"})
	}
	done := make(chan string, 6)
	for range 6 {
		go func() { done <- get(t, e, sandbox.Request{URL: s.URL}) }()
	}
	time.Sleep(100 * time.Millisecond)
	if n := s.conns.Load(); n > 2 {
		t.Errorf("%d connections at a time", n)
	}
	close(release)
	for range 6 {
		if got := <-done; got != "200 " {
			t.Error(got)
		}
	}
}

// TestSlotsAreFreed: a body that nobody closes gives its slot back when its
// time is over.
func TestSlotsAreFreed(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20)) })
	e := open(t, egress.Config{Allow: rules(t, s.addr()), Limits: egress.Limits{Concurrent: 1}})
	if _, err := e.Do(t.Context(), sandbox.Request{Method: "GET", URL: s.URL, Timeout: 2 * time.Second}, yes); err != nil {
		t.Fatal(err)
	}
	if got := get(t, e, sandbox.Request{URL: s.URL, Timeout: 20 * time.Second}); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
}

// TestNothingStays: no connection and no goroutine outlives its request.
//
// Threats: NE-8.
func TestNothingStays(t *testing.T) {
	s := serve(t, true, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 100_000)) })
	e := open(t, egress.Config{Allow: rules(t, s.addr()), Roots: s.roots()})
	before := runtime.NumGoroutine()
	for i := range 10 {
		res, err := e.Do(t.Context(), sandbox.Request{Method: "GET", URL: s.URL}, yes)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			io.Copy(io.Discard, res.Body)
		}
		res.Body.Close()
	}
	if n := s.conns.Load(); n != 10 {
		t.Errorf("%d connections for 10 requests", n)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before+2 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestSecret: the server adds a header for a host, and an echo of it, in
// whatever usual encoding, is not seen.
//
// Threats: NE-7.
func TestSecret(t *testing.T) {
	const key = `s3cr3t/"+key&=`
	spell := map[string]func(string) string{
		"plain": func(s string) string { return s },
		"json":  func(s string) string { return fmt.Sprintf("%q", s) },
		"query": url.QueryEscape, "path": url.PathEscape,
		"base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"inside": func(s string) string { return base64.URLEncoding.EncodeToString([]byte("xy: " + s + " and more")) },
		"hex":    func(s string) string { return hex.EncodeToString([]byte(s)) },
	}
	h := func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("X-Key")
		w.Header().Set("X-Echo", "got "+got)
		echo := strings.Repeat("-", 32<<10) + spell[r.URL.Query().Get("as")](strings.TrimPrefix(got, "Token ")) + "-end"
		if r.URL.Query().Has("gzip") {
			w.Header().Set("Content-Encoding", r.URL.Query().Get("gzip"))
			z := gzip.NewWriter(w)
			io.WriteString(z, echo)
			z.Close()
			return
		}
		for i := range len(echo) { // cut everywhere where it matters
			if i < 32<<10-40 {
				continue
			}
			if i == 32<<10-40 {
				io.WriteString(w, echo[:i])
			}
			io.WriteString(w, echo[i:i+1])
			w.(http.Flusher).Flush()
		}
	}
	s, plain := serve(t, true, h), serve(t, false, h)
	resolver := &names{answers: map[string][]string{"example.com": {"127.0.0.1"}}}
	secret := func(host string, s *stub) egress.Secret {
		var port int
		fmt.Sscan(s.port(), &port)
		return egress.Secret{Host: host, Port: port, Header: "X-Key", Value: "Token " + key}
	}
	e := open(t, egress.Config{
		Allow: rules(t, "127.0.0.1:"+s.port(), "example.com:"+s.port(), "127.0.0.1:"+plain.port(), "example.com:"+plain.port()), Resolver: resolver, Roots: s.roots(),
		Secrets: []egress.Secret{secret("example.com", s), secret("127.0.0.1", plain), secret("example.com", plain)},
	})
	leak := func(text string) bool {
		for _, f := range spell {
			if s := f(key); strings.Contains(text, s) || strings.Contains(text, strings.TrimRight(s, "=")) {
				return true
			}
		}
		return strings.Contains(text, "c3IzdC") || strings.Contains(text, "r3t/")
	}
	for as := range spell {
		for _, u := range []string{"https://example.com:" + s.port() + "/?as=" + as, "http://" + plain.addr() + "/?as=" + as, "https://example.com:" + s.port() + "/?gzip=gzip&as=" + as} {
			res, err := e.Do(t.Context(), sandbox.Request{Method: "GET", URL: u, Header: []sandbox.HeaderField{{Name: "x-key", Value: "mine"}, {Name: "Accept-Encoding", Value: "br"}}}, yes)
			if err != nil {
				t.Fatal(u, err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			text := fmt.Sprint(string(body), res.Header)
			if err != nil || leak(text) || !strings.Contains(text, "[redacted]") || !bytes.HasSuffix(body, []byte("-end")) || strings.Contains(text, "mine") {
				t.Errorf("%s: %v: %d bytes, %q, %v", u, err, len(body), body[max(0, len(body)-80):], res.Header)
			}
		}
	}
	// Not over plain text, unless to a loopback address that was named; not to
	// another host or port.
	for _, u := range []string{"http://example.com:" + plain.port() + "/?as=plain", "https://127.0.0.1:" + s.port() + "/?as=plain"} {
		if got := get(t, e, sandbox.Request{URL: u}); !strings.HasPrefix(got, "200 ---") || strings.Contains(got, "redacted") || leak(got) {
			t.Errorf("%s: %.40s ... %s", u, got, got[max(0, len(got)-20):])
		}
	}
	// Not in parts, and not where it cannot be searched.
	for want, r := range map[string]sandbox.Request{
		"3: not allowed: part of a response of a host with a secret":               {URL: "https://example.com:" + s.port() + "/?as=plain", Header: []sandbox.HeaderField{{Name: "Range", Value: "bytes=0-3"}}},
		`3: not allowed: a response of a host with a secret, encoded as "br"`:      {URL: "https://example.com:" + s.port() + "/?as=plain&gzip=br"},
		`3: not allowed: a response of a host with a secret, encoded as "gzip, x"`: {URL: "https://example.com:" + s.port() + "/?as=plain&gzip=gzip,%20x"},
	} {
		if got := get(t, e, r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSecretChecks(t *testing.T) {
	for _, s := range []egress.Secret{
		{Host: "", Header: "X", Value: "12345678"}, {Host: "A.test", Header: "X", Value: "12345678"}, {Host: "*.test", Header: "X", Value: "12345678"}, {Host: "a.test", Header: "", Value: "12345678"},
		{Host: "a.test", Header: "Host", Value: "12345678"}, {Host: "a.test", Header: "Connection", Value: "12345678"}, {Host: "a.test", Header: "X", Value: "1234567"},
		{Host: "a.test", Header: "X", Value: "12345678\r\nY: 1"}, {Host: "a.test", Header: "X\n", Value: "12345678"}, {Host: "a.test", Port: -1, Header: "X", Value: "12345678"},
	} {
		if _, err := egress.New(egress.Config{Secrets: []egress.Secret{s}}); err == nil || strings.Contains(err.Error(), "1234567") {
			t.Errorf("%+v: %v", s, err)
		}
	}
	open(t, egress.Config{Secrets: []egress.Secret{{Host: "::1", Header: "X", Value: "12345678"}, {Host: "a.test", Header: "Authorization", Value: "Bearer x"}}})
}

// TestSecretBomb: what the host itself unpacks ends at the bound.
//
// Threats: NE-6.
func TestSecretBomb(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb.Bytes())
	})
	var port int
	fmt.Sscan(s.port(), &port)
	e := open(t, egress.Config{Allow: rules(t, s.addr()), Secrets: []egress.Secret{{Host: "127.0.0.1", Port: port, Header: "X", Value: "12345678"}}, Limits: egress.Limits{Response: 1 << 20}})
	if got := get(t, e, sandbox.Request{URL: s.URL}); got != "9: a response may have 1048576 bytes (raise with --net-limit)" {
		t.Errorf("%.80s", got)
	}
}
