package main

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/donax-sh/donax/wasm/box"
)

// needCommand skips where the box was built before it had a command.
func needCommand(t *testing.T, name string) {
	t.Helper()
	tiers, err := box.Tiers()
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range tiers {
		if slices.ContainsFunc(tier.Commands, func(c box.Command) bool { return c.Name == name }) {
			return
		}
	}
	if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
		t.Fatalf("the box has no %s: run go generate ./wasm/box", name)
	}
	t.Skipf("the box has no %s: run go generate ./wasm/box", name)
}

// line runs donax -c.
func line(t *testing.T, text string, flags ...string) (out, errs string, status int) {
	t.Helper()
	t.Setenv("DONAX_CACHE", testCache(t))
	var o, e bytes.Buffer
	status = run(t.Context(), append([]string{"-q", "-c", text}, flags...), stdio{strings.NewReader(""), &o, &e})
	return o.String(), e.String(), status
}

// web is a server on loopback with the pages of these tests.
type web struct {
	*httptest.Server
	conns atomic.Int64
}

func newWeb(t *testing.T, secure bool) *web {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 300 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %d\n", r.Method, r.RequestURI, len(body))
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("X-Key"))
		for _, n := range []string{"Authorization", "X-Key"} {
			fmt.Fprintln(w, n, r.Header.Get(n))
		}
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Query().Get("url"), 302) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		for range 1000 {
			io.WriteString(w, ".")
			http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb.Bytes())
	})
	mux.HandleFunc("/script", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "echo ran; rm x\n") })
	s := &web{Server: httptest.NewUnstartedServer(mux)}
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *web) addr() string { return s.Listener.Addr().String() }

// ruleFile writes a policy that lets all run, and what is given besides.
func ruleFile(t *testing.T, rules string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rules.rego")
	text := "package donax\n\nallow if input.action == \"command\"\n\nallow if input.exec.kind in {\"box\", \"shell\"}\n\n" + rules + "\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestNetwork is what a user types.
//
// Threats: NE-3, NE-4.
func TestNetwork(t *testing.T) {
	needCommand(t, "curl")
	s := newWeb(t, false)
	_, port, _ := net.SplitHostPort(s.addr())
	open := []string{"--allow-net", s.addr()}
	for _, c := range []struct {
		line      string
		flags     []string
		out, errs string // errs: its beginning
		status    int
		conns     int64
	}{
		// Nothing is reached unless that was allowed.
		{"curl -sS URL", nil, "", "curl: (7) Failed to connect to 127.0.0.1 port PORT: not allowed: start donax with --allow-net ADDR\n", 7, 0},
		{"wget -nv -O- URL", nil, "", "failed: not allowed: start donax with --allow-net ADDR\n", 4, 0},
		{"curl -s URL/a?b", open, "GET /a?b 0\n", "", 0, 1},
		{"wget -qO- URL/a?b", open, "GET /a?b 0\n", "", 0, 1},
		{"curl -s http://localhost:PORT/", open, "", "", 7, 0},
		{"curl -s http://localhost:PORT/", []string{"--allow-net", "LocalHost:PORT"}, "GET / 0\n", "", 0, 1},
		{"curl -sS URL", []string{"--allow-net", "*:PORT"}, "", "curl: (7) Failed to connect to 127.0.0.1 port PORT: blocked address 127.0.0.1 (loopback): only --allow-net ADDR opens it\n", 7, 0},
		{"curl -sSL 'URL/to?url=http://127.0.0.1:1/'", open, "", "curl: (7) Failed to connect to 127.0.0.1 port 1: not allowed", 7, 1},
		{"curl -sSL 'URL/to?url=http://[fd00:ec2::254]/'", append(open, "--allow-net", "*"), "", "curl: (7) Failed to connect to fd00:ec2::254 port 80: blocked address", 7, 1},
		{"s=exfil; curl -s https://$s.ok.test", []string{"--allow-net", "ok.test"}, "", "", 7, 0},
		{"export http_proxy=http://ADDR HTTPS_PROXY=http://ADDR ALL_PROXY=socks5://ADDR; curl -s http://other.test/; curl -s https://other.test/; wget -q http://other.test/", []string{"--allow-net", "nothing.test"}, "", "", 4, 0},
		// Nothing else dials.
		{"echo x > /dev/tcp/127.0.0.1/PORT", open, "", "bash: line 1: /dev/tcp/127.0.0.1/PORT: No such file or directory\n", 1, 0},
		{"exec 3<> /dev/tcp/127.0.0.1/PORT", open, "", "bash: line 1: /dev/tcp/127.0.0.1/PORT: No such file or directory\n", 1, 0},
		{"getent hosts x.test; nslookup x.test; nc 127.0.0.1 PORT", open, "", "bash: line 1: getent: command not found\n", 127, 0},
		// In pipes, to files, as a script: with admission as always.
		{"seq 10000 | curl -s -T - URL/up", open, "PUT /up 48894\n", "", 0, 1},
		{"seq 10000 > f; curl -s -T f URL/up; curl -s --data-binary @f URL/up", open, "PUT /up 48894\nPOST /up 48894\n", "", 0, 2},
		{"curl -s URL/script | sh", open, "ran\n", "rm: cannot remove 'x'", 1, 1},
		{"curl -s -o d/f --create-dirs URL/a && cat d/f; wget -q URL/b && cat b", open, "GET /a 0\nGET /b 0\n", "", 0, 2},
		{"seq 3 | xargs -I{} curl -s URL/{}", open, "GET /1 0\nGET /2 0\nGET /3 0\n", "", 0, 3},
		{"printf '\\0asm' > p; curl -so p URL/x; chmod +x p; ./p >/dev/null 2>&1; curl -s URL/a -o /bin/ls", open, "", "", 23, 2},
		{"for i in 1 2 3; do curl -s URL/$i & done; wait", open, "", "", 0, 3},
		// A policy decides within the list, by name, path, method, size and address.
		{"curl -sS URL", []string{"--policy", "", "--allow-net", s.addr()}, "", "curl: (7) Failed to connect to 127.0.0.1 port PORT: denied by policy: no rule allows it", 7, 0},
		{"curl -sS URL", []string{"--policy", `allow if input.net.by == "wget"`, "--allow-net", s.addr()}, "", "curl: (7) Failed to connect to 127.0.0.1 port PORT: denied by policy: no rule allows it", 7, 0},
		{"wget -qO- URL/x", []string{"--policy", `allow if input.net.by == "wget"`, "--allow-net", s.addr()}, "GET /x 0\n", "", 0, 1},
		{"curl -sS URL", []string{"--policy", `allow if input.net.host == "127.0.0.1"`}, "", "curl: (7) Failed to connect to 127.0.0.1 port PORT: blocked address 127.0.0.1 (loopback)", 7, 0},
		{"curl -sS URL", []string{"--policy", `allow if input.net.host == "127.0.0.1"`, "--allow-net", "example.com"}, "", "curl: (7) Failed to connect to 127.0.0.1 port PORT: not allowed", 7, 0},
		{"curl -sS http://localhost:PORT/", []string{"--policy", "allow if input.net.host == \"localhost\"\n\ndeny contains {\"msg\": \"not there\", \"rule\": \"ip\"} if input.net.ip == \"127.0.0.1\"", "--allow-net", "localhost:PORT"},
			"", "curl: (7) Failed to connect to localhost port PORT: denied by policy: not there [rule ip;", 7, 0},
		{"for p in a/x b/x a/%2e%2e/b 'a%2fx'; do curl -s URL/$p; done; curl -s -X put URL/a/y", []string{"--policy", "allow if {\n\tstartswith(input.net.path, \"/a/\")\n\tinput.net.method == \"GET\"\n}", "--allow-net", s.addr()}, "GET /a/x 0\nGET /a%2fx 0\n", "", 7, 2},
		{"curl -s -d 12345 URL; curl -s -d 123456 URL; seq 3 | curl -s -T - URL/f", []string{"--policy", "allow if {\n\tinput.net.bytes >= 0\n\tinput.net.bytes <= 5\n}", "--allow-net", s.addr()}, "POST / 5\n", "", 7, 1},
		{"curl -s URL/1234567890; curl -s URL/2", []string{"--policy", "allow if {\n\tinput.action == \"net\"\n\tinput.usage.net_bytes < 10\n}", "--allow-net", s.addr()}, "GET /1234567890 0\n", "", 7, 1},
		{"curl -sS URL", []string{"--policy", `deny contains "no curl" if input.exec.name == "curl"`, "--allow-net", s.addr()}, "", "curl: denied by policy: no curl", 126, 0},
		// Bounds.
		{"curl -sS URL/endless | wc -c", append(open, "--net-limit", "1MiB"), "1048576\n", "curl: (63) the response is too large (raise with --net-limit)\n", 0, 1},
		{"curl -sS -o f URL/endless; echo $?; seq 200000 | curl -sS -T - URL/f", append(open, "--net-limit", "1MiB"), "63\n", "curl: (63) ", 63, 2},
		{"curl -sS --compressed URL/bomb | wc -c", open, "268435456\n", "curl: (63) Exceeded the maximum allowed file size\n", 0, 1},
		{"curl -s -m 0.3 URL/slow > f", open, "", "", 28, -1},
		{"curl -s URL/slow > f", append(open, "--timeout", "3s"), "", "donax: limit: time 3s (raise with --timeout)\n", 124, -1},
	} {
		fill := strings.NewReplacer("URL", s.URL, "ADDR", s.addr(), "PORT", port)
		flags := slices.Clone(c.flags)
		for i, f := range flags {
			if flags[i] = fill.Replace(f); i > 0 && flags[i-1] == "--policy" {
				flags[i] = ruleFile(t, f)
			}
		}
		s.conns.Store(0)
		out, errs, status := line(t, fill.Replace(c.line), flags...)
		if strings.Contains(c.line, " & ") { // in any order
			out = ""
		}
		if want := fill.Replace(c.errs); out != c.out || !strings.HasPrefix(errs, want) || want == "" && errs != "" || status != c.status {
			t.Errorf("%s %q\n got %q %q %d\nwant %q %q %d", c.line, flags, out, errs, status, c.out, want, c.status)
		}
		if n := s.conns.Load(); n != c.conns && c.conns >= 0 {
			t.Errorf("%s %q: %d connections, want %d", c.line, flags, n, c.conns)
		}
	}
}

// TestNetSecret: what the server adds for a host is seen nowhere.
//
// Threats: NE-7.
func TestNetSecret(t *testing.T) {
	needCommand(t, "curl")
	s, plain := newWeb(t, true), newWeb(t, false)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("k3y-0f-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("API_AUTH", "Bearer v3ry-s3cret")
	flags := []string{"--allow-net", s.addr(), "--allow-net", plain.addr(), "--ca", ca,
		"--net-secret", s.addr() + "=Authorization:env:API_AUTH", "--net-secret", plain.addr() + "=X-Key:file:" + file}
	out, errs, status := line(t, "curl -svi "+s.URL+"/echo -w '%{header_json}%{json}'; wget -S -O- "+plain.URL+"/echo; env; set; curl -s -H 'Authorization: Bearer mine' "+s.URL+"/echo; curl -sv "+s.URL+"/%0d", flags...)
	all := out + errs
	for _, leak := range []string{"v3ry", "s3cret", "k3y-0f", "mine", "API_AUTH", file} {
		if strings.Contains(out, leak) || strings.Contains(strings.ReplaceAll(errs, "Bearer mine", ""), leak) {
			t.Errorf("%q is seen: %s", leak, all)
		}
	}
	if status != 3 || strings.Count(out, "Authorization [redacted]\n") != 2 || strings.Count(out, "X-Key [redacted]\n") != 1 || !strings.Contains(errs, "X-Echo: [redacted]\n") {
		t.Errorf("%d %s", status, all)
	}
	if _, errs, status := line(t, "curl -sS "+s.URL, "--allow-net", s.addr()); status != 60 || !strings.HasPrefix(errs, "curl: (60) SSL certificate problem: unable to get local issuer certificate\n") {
		t.Errorf("%d %s", status, errs)
	}
}

// TestNetFlags: mistakes are told, and never with a secret.
func TestNetFlags(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.pem")
	if err := os.WriteFile(bad, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHORT", "s3cret")
	for _, c := range []struct {
		flags []string
		errs  string
	}{
		{[]string{"--allow-net", "127.1"}, "donax: --allow-net \"127.1\": not a host"},
		{[]string{"--allow-net", "ftp://x"}, "donax: --allow-net \"ftp://x\": only http and https are reached"},
		{[]string{"--net-secret", "a.test=X:env:SHORT"}, "donax: --net-secret: no host may be reached"},
		{[]string{"--allow-net", "a.test", "--net-secret", "a.test=X:env:SHORT"}, "donax: --net-secret: egress: a secret that cannot be sent: the value for a.test is shorter than 8 bytes"},
		{[]string{"--allow-net", "a.test", "--net-secret", "a.test=X:s3cret"}, "donax: --net-secret a.test=...: want HOST=HEADER:env:VAR"},
		{[]string{"--allow-net", "a.test", "--net-secret", "a.test=X:env:NO_SUCH_s3cret"}, "donax: --net-secret a.test=...: donax itself has no such variable"},
		{[]string{"--allow-net", "a.test", "--net-secret", "a.test:x=X:env:SHORT"}, "donax: --net-secret a.test:x=...: \"x\" is no port"},
		{[]string{"--allow-net", "a.test", "--ca", "/nowhere"}, "donax: --ca: open /nowhere"},
		{[]string{"--allow-net", "a.test", "--ca", bad}, "donax: --ca " + bad + ": there is no certificate in it"},
	} {
		_, errs, status := line(t, "echo hi", c.flags...)
		if status != exitUsage || !strings.HasPrefix(errs, c.errs) || strings.Contains(errs, "s3cret") {
			t.Errorf("%q: %d %s", c.flags, status, errs)
		}
	}
}
