package egress_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/egress"
)

// TestSpellings tries the ways to write loopback, metadata services and their
// like while all public hosts are allowed (S079).
//
// Threats: NE-1.
func TestSpellings(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("CANARY_NET")) })
	resolver := &names{answers: map[string][]string{
		"metadata.google.internal": {"169.254.169.254"}, "loop.test": {"127.0.0.1"}, "mapped.test": {"::ffff:127.0.0.1"},
		"mixed.test": {"93.184.216.34 127.0.0.1"}, "v6.test": {"::1"}, "nat64.test": {"64:ff9b::7f00:1"}, "zone.test": {"fe80::1%lo"},
	}}
	for name, e := range map[string]*egress.Egress{
		"all":    open(t, egress.Config{Allow: rules(t, "*", "*:"+s.port()), Resolver: resolver}),
		"policy": open(t, egress.Config{Resolver: resolver}),
	} {
		for _, host := range []string{
			"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0X7F000001",
			"017700000001", "0177.1", "0177.0.0.1", "127.0.0.01", "0", "0.0.0.0", "00", "0x", "0x0", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:7f00:1]", "[::ffff:127.0.0.1]",
			"[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:1::1]", "[fe80::1]", "[fe80::1%25lo]", "[::1%25lo]", "[fec0::1]", "[fd00:ec2::254]", "[ff02::1]", "[100::1]",
			"①②⑦.0.0.1", "%6c%6f%63%61%6c%68%6f%73%74", "127。0。0。1", "169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "10.0.0.1", "172.16.0.1", "172.31.255.255",
			"192.168.1.1", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "metadata.google.internal", "loop.test", "LOOP.test.", "mapped.test", "mixed.test", "v6.test", "nat64.test", "zone.test",
			"u@127.0.0.1", "u:p@127.0.0.1", "example.com@127.0.0.1", "127.0.0.1%00.example.com", "127.0.0.1\t", " 127.0.0.1", "127.0.0.1\\@example.com", "example.com#@127.0.0.1", "",
			"[::1", "::1", "[]", "[127.0.0.1]", "a..b", ".", "127.0.0.1,", "127.0.0.1:80:",
		} {
			for _, url := range []string{"http://" + host + ":" + s.port() + "/", "http://" + host + "/"} {
				res, err := e.Do(t.Context(), sandbox.Request{Method: "GET", URL: url}, yes)
				var ne *sandbox.NetError
				if err == nil {
					res.Body.Close()
					t.Errorf("%s: %s was reached", name, url)
				} else if !errors.As(err, &ne) {
					t.Errorf("%s: %s: %v", name, url, err)
				} else if _, err := netip.ParseAddr(host); err == nil && host != "::1" && !strings.Contains(ne.Msg, "blocked address") {
					t.Errorf("%s: %s: %v", name, url, ne)
				}
			}
		}
		for _, url := range []string{
			"//127.0.0.1:" + s.port() + "/", "http:127.0.0.1/", "http:///127.0.0.1/", "http:/127.0.0.1/", "http:\\\\127.0.0.1/", "127.0.0.1:" + s.port(), "", "/", "?",
			"file:///etc/passwd", "gopher://127.0.0.1:" + s.port() + "/", "ftp://127.0.0.1/", "dict://127.0.0.1/", "unix:///run/docker.sock", "socks5h://127.0.0.1/", "javascript:1", "data:,x", "ws://127.0.0.1/", "HTTP+UNIX://x/",
			"http://127.0.0.1:0/", "http://127.0.0.1:99999/", "http://127.0.0.1:-1/", "http://127.0.0.1:0" + s.port() + "/", "http://127.0.0.1:" + s.port() + "x/", "http://example.com:" + s.port() + "@127.0.0.1/",
			"http://127.0.0.1:" + s.port() + "/\r\nHost: x", "http://127.0.0.1 /", "http://127.0.0.1:" + s.port() + "/ HTTP/1.1", "http://a\x00b/", "http://[::1]x/", "http://[::1]:x/", "http://" + strings.Repeat("a.", 200) + "test/",
			"http://x/" + strings.Repeat("a", 20<<10),
		} {
			if res, err := e.Do(t.Context(), sandbox.Request{Method: "GET", URL: url}, yes); err == nil {
				res.Body.Close()
				t.Errorf("%s: %q was reached", name, url)
			}
		}
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// TestList is about what --allow-net opens and what it does not.
//
// Threats: NE-1.
func TestList(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.Host)) })
	p := s.port()
	resolver := &names{answers: map[string][]string{
		"ok.test": {"127.0.0.1"}, "a.ok.test": {"127.0.0.1"}, "ok.test.evil.test": {"127.0.0.1"}, "notok.test": {"127.0.0.1"}, "localhost": {"10.0.0.1"},
	}}
	for _, c := range []struct {
		allow, url, want string
	}{
		{"127.0.0.1:" + p, "http://127.0.0.1:" + p + "/", "200 127.0.0.1:" + p},
		{"http://127.0.0.1:" + p, "http://127.0.0.1:" + p + "/", "200 127.0.0.1:" + p},
		{"https://127.0.0.1:" + p, "http://127.0.0.1:" + p + "/", "3: not allowed: start donax with --allow-net 127.0.0.1:" + p},
		{"127.0.0.0/8:" + p, "http://127.0.0.1:" + p + "/", "200 127.0.0.1:" + p},
		{"127.0.0.1", "http://127.0.0.1:" + p + "/", "3: not allowed: start donax with --allow-net 127.0.0.1:" + p},
		{"127.0.0.2:" + p, "http://127.0.0.1:" + p + "/", "3: not allowed: start donax with --allow-net 127.0.0.1:" + p},
		{"localhost:" + p, "http://localhost:" + p + "/", "200 localhost:" + p},
		{"localhost:" + p, "http://LocalHost.:" + p + "/", "200 localhost:" + p},
		{"localhost:" + p, "http://127.0.0.1:" + p + "/", "3: not allowed: start donax with --allow-net 127.0.0.1:" + p},
		// A name does not open a private address; name and address do.
		{"ok.test:" + p, "http://ok.test:" + p + "/", "3: blocked address 127.0.0.1 (loopback): only --allow-net 127.0.0.1:" + p + " opens it"},
		{"127.0.0.1:" + p, "http://ok.test:" + p + "/", "3: not allowed: start donax with --allow-net ok.test:" + p},
		{"ok.test:" + p + " 127.0.0.1:" + p, "http://ok.test:" + p + "/", "200 ok.test:" + p},
		{"ok.test:" + p + " 127.0.0.1:" + p, "http://OK.TEST.:" + p + "/", "200 ok.test:" + p},
		{"OK.test.:" + p + " 127.0.0.1:" + p, "http://ok.test:" + p + "/", "200 ok.test:" + p},
		{"ok.test:" + p + " 127.0.0.1:" + p, "http://ok.test.evil.test:" + p + "/", "3: not allowed: start donax with --allow-net ok.test.evil.test:" + p},
		{"ok.test:" + p + " 127.0.0.1:" + p, "http://notok.test:" + p + "/", "3: not allowed: start donax with --allow-net notok.test:" + p},
		{"ok.test:" + p + " 127.0.0.1:" + p, "http://a.ok.test:" + p + "/", "3: not allowed: start donax with --allow-net a.ok.test:" + p},
		{"*.ok.test:" + p + " 127.0.0.1:" + p, "http://a.ok.test:" + p + "/", "200 a.ok.test:" + p},
		{"*.ok.test:" + p + " 127.0.0.1:" + p, "http://ok.test:" + p + "/", "3: not allowed: start donax with --allow-net ok.test:" + p},
		{"*.ok.test:" + p + " 127.0.0.1:" + p, "http://notok.test:" + p + "/", "3: not allowed: start donax with --allow-net notok.test:" + p},
		{"ok.test:" + p + " 127.0.0.1:" + p, "http://ok.test@notok.test:" + p + "/", "1: a URL may not carry a user and password"},
		{"ok.test", "http://ok.test:22/", "3: not allowed: start donax with --allow-net ok.test:22"},
		{"ok.test", "http://ok.test:443/", "3: not allowed: start donax with --allow-net ok.test:443"},
		{"https://ok.test", "http://ok.test/", "3: not allowed: start donax with --allow-net ok.test"},
	} {
		e := open(t, egress.Config{Allow: rules(t, strings.Fields(c.allow)...), Resolver: resolver})
		if got := get(t, e, sandbox.Request{URL: c.url}); got != c.want {
			t.Errorf("--allow-net %s, %s\n got %s\nwant %s", c.allow, c.url, got, c.want)
		}
	}
	if slices.Contains(resolver.queries, "localhost.") {
		t.Error("a resolver was asked about localhost")
	}
}

func TestParseRule(t *testing.T) {
	for _, s := range []string{"", "*.", "*.*.test", "a*.test", "ftp://a.test", "a.test/path", "a.test:0", "a.test:x", "a.test:70000", "a.test:", "u@a.test", "10.0.0.0/33", "127.1", "0x7f000001",
		"[::1", "::1", "[::ffff:127.0.0.1]", "::ffff:0:0/96", "*.127.0.0.1", "ex ample.com", "bücher.test", "a..b", "http://", "[fe80::1%lo]", "127.0.0.1/8/8"} {
		if r, err := egress.ParseRule(s); !errors.Is(err, egress.ErrRule) {
			t.Errorf("%q: %+v, %v", s, r, err)
		}
	}
}

// TestRebinding has a resolver that changes its mind: it is asked once, and
// what it said then is dialled.
//
// Threats: NE-2.
func TestRebinding(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("reached")) })
	resolver := &names{answers: map[string][]string{"flip.test": {"127.0.0.1", "127.0.0.2", "169.254.169.254"}}}
	e := open(t, egress.Config{Allow: rules(t, "flip.test:"+s.port(), "127.0.0.1:"+s.port()), Resolver: resolver})
	r := sandbox.Request{URL: "http://flip.test:" + s.port() + "/"}
	if got := get(t, e, r); got != "200 reached" || len(resolver.queries) != 1 {
		t.Errorf("%s, %q", got, resolver.queries)
	}
	for range 2 {
		if got := get(t, e, r); !strings.Contains(got, "blocked address") {
			t.Error(got)
		}
	}
	if n := s.conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestAdmission: the policy is asked before a name is looked up, and again
// about each address; the operator's list comes first.
//
// Threats: NE-4.
func TestAdmission(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request) {})
	resolver := &names{answers: map[string][]string{"ok.test": {"127.0.0.1 127.0.0.2"}}}
	e := open(t, egress.Config{Allow: rules(t, "ok.test:"+s.port(), "127.0.0.0/8:"+s.port()), Resolver: resolver})
	r := sandbox.Request{Method: "post", URL: "http://OK.test.:" + s.port() + "/a%2Fb%20c/?q=1#f", Body: strings.NewReader("12345"), Size: 5}
	no := errors.New("no")

	if _, err := e.Do(t.Context(), r, func(_ context.Context, n policy.Net) error { return no }); err != no {
		t.Error(err)
	}
	if len(resolver.queries) != 0 {
		t.Errorf("a name was looked up that the policy had refused: %q", resolver.queries)
	}
	if _, err := e.Do(t.Context(), r, func(_ context.Context, n policy.Net) error {
		if n.IP == "127.0.0.2" {
			return no
		}
		return nil
	}); err != no {
		t.Error(err)
	}
	if _, err := e.Do(t.Context(), r, nil); !isKind(err, sandbox.NetDenied) {
		t.Error(err)
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
	var a asks
	res, err := e.Do(t.Context(), r, a.admit)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	want := policy.Net{Scheme: "http", Host: "ok.test", Port: int(netip.MustParseAddrPort(s.addr()).Port()), Method: "POST", Path: "/a/b c/", Bytes: 5}
	for i, ip := range []string{"", "127.0.0.1", "127.0.0.2"} {
		want.IP = ip
		if len(a.list) != 3 || a.list[i] != want {
			t.Errorf("asked %+v, want %+v", a.list, want)
		}
	}
	a = asks{}
	if _, err := e.Do(t.Context(), sandbox.Request{Method: "GET", URL: "http://evil.test/"}, a.admit); !isKind(err, sandbox.NetDenied) || len(a.list) > 0 {
		t.Errorf("%v, %+v", err, a.list)
	}
}

// TestDots: a server must not resolve a path to another one than was asked
// about.
//
// Threats: NE-5.
func TestDots(t *testing.T) {
	e := open(t, egress.Config{})
	for _, path := range []string{"/a/../b", "/..", "/.", "/a/%2e%2e/b", "/a/.%2E/b", "/a%2f..%2fb", "/a/..%5cb", "/a/..;x=1/b", "/%00", "/a%0d%0ab"} {
		if got := get(t, e, sandbox.Request{URL: "http://127.0.0.1" + path}); !strings.HasPrefix(got, "1: the path") {
			t.Errorf("%s: %s", path, got)
		}
	}
	for _, path := range []string{"/a..b", "/...", "/.well-known/x", "/a/..b/", "/%252e%252e/"} {
		if got := get(t, e, sandbox.Request{URL: "http://127.0.0.1" + path}); !strings.HasPrefix(got, "3: blocked") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestDowngrade: a redirect to plain http is followed only where the operator
// has named that door.
//
// Threats: NE-3.
func TestDowngrade(t *testing.T) {
	resolver := &names{answers: map[string][]string{"ok.test": {"127.0.0.1"}}}
	for _, c := range []struct {
		allow, from string
		refused     bool
	}{
		{"ok.test", "https://ok.test/", true}, {"ok.test", "HTTPS://ok.test/", true}, {"ok.test", "http://ok.test/", false}, {"ok.test", "", false},
		{"http://ok.test", "https://ok.test/", false}, {"ok.test:80", "https://ok.test/", false}, {"*", "https://ok.test/", true},
	} {
		e := open(t, egress.Config{Allow: rules(t, c.allow), Resolver: resolver})
		got := get(t, e, sandbox.Request{URL: "http://ok.test/", From: c.from})
		if strings.Contains(got, "redirect from https to http") != c.refused || !strings.HasPrefix(got, "3: ") {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
