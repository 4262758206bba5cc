package heavy_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

// TestWebClients is about what differs from the tools: what is refused, and
// what does not follow a redirect to another host.
//
// Threats: NE-3.
func TestWebClients(t *testing.T) {
	s := site(t)
	host := strings.TrimPrefix(s.URL, "http://")
	_, port, _ := net.SplitHostPort(host)
	for _, c := range []struct {
		line, out, errs string
		status          int
	}{
		{"curl -k https://HOST/", "", "curl: option -k: refused: certificates are always verified (donax --ca FILE trusts another authority)\n", 2},
		{"curl -sSfLk https://HOST/", "", "curl: option -k: refused: certificates", 2},
		{"curl --insecure https://HOST/", "", "curl: option --insecure: refused: certificates", 2},
		{"curl -x http://p:1 http://HOST/", "", "curl: option -x: refused: connections are made by donax", 2},
		{"curl --proxy socks5h://p http://HOST/", "", "curl: option --proxy: refused", 2},
		{"curl --resolve a:80:127.0.0.1 http://HOST/", "", "curl: option --resolve: refused", 2},
		{"curl --connect-to ::127.0.0.1: http://HOST/", "", "curl: option --connect-to: refused", 2},
		{"curl --unix-socket /x http://HOST/", "", "curl: option --unix-socket: refused", 2},
		{"curl -Z http://HOST/", "", "curl: option -Z: refused", 2},
		{"curl -K f.txt", "", "curl: option -K: refused", 2},
		{"curl --path-as-is http://HOST/", "", "curl: option --path-as-is: refused", 2},
		{"curl -s http://evil.test/", "", "", 7},
		{"curl -sS http://evil.test/", "", "curl: (7) Failed to connect to evil.test port 80: not allowed: start donax with --allow-net evil.test\n", 7},
		{"curl -sS http://HOST@evil.test/", "", "curl: (7) Failed to connect to evil.test port 80: not allowed: start donax with --allow-net evil.test\n", 7},
		{"curl -sS http://evil.test:HOST/", "", "curl: (3) ", 3},
		{"curl -sSL http://HOST/to/302?url=http://evil.test/", "", "curl: (7) Failed to connect to evil.test port 80: not allowed", 7},
		{"curl -sSL http://HOST/to/302?url=http://169.254.169.254/latest", "", "curl: (7) Failed to connect to 169.254.169.254 port 80: not allowed", 7},
		{"curl -sSL http://HOST/to/302?url=http://2130706433:PORT/", "", "curl: (7) Failed to connect to 2130706433 port PORT: blocked address", 7},
		{"curl -sSL http://HOST/to/302?url=gopher://HOST/", "", `curl: (1) Protocol "gopher" not supported`, 1},
		{"curl -sSL http://HOST/to/302?url=file:///etc/passwd", "", `curl: (1) Protocol "file" not supported`, 1},
		{"curl -sS file:///etc/passwd", "", `curl: (1) Protocol "file" not supported`, 1},
		{"curl -sS http://①②⑦.0.0.1:PORT/", "", "curl: (3) ", 3},
		{"curl -sS http://[::ffff:7f00:1]:PORT/", "", "curl: (7) Failed to connect to ::ffff:7f00:1 port PORT: blocked address", 7},
		{"curl -sS -H 'Host: evil.test' http://HOST/echo", "", "curl: (7) Failed to connect to 127.0.0.1 port PORT: not allowed: header Host names another host", 7},
		{"curl -sS -X 'GET / HTTP/1.1' http://HOST/echo", "", "curl: (3) the method is none\n", 3},
		{"curl -sS -X TRACE http://HOST/echo", "", "curl: (3) method TRACE is not supported\n", 3},
		{"curl -sS -H 'Proxy-Authorization: x' http://HOST/echo", "", "curl: (3) header Proxy-Authorization cannot be set", 3},
		{"curl -sL -b c=1 http://HOST/to/302?url=http://localhost:PORT/echo", "GET /echo 0 []\nAccept: [*/*]\nUser-Agent: [curl/7.88.1]\n", "", 0},
		{"curl -s http://HOST/d/%2e%2e/hello", "hello\n", "", 0},
		{"curl -s -# -o out http://HOST/hello", "", "", 0},
		{"curl --version", "curl 7.88.1 (donax)\nProtocols: http https\nFeatures: HTTP2 IPv6 libz SSL\n", "", 0},
		{"wget --no-check-certificate https://HOST/", "", "wget: --no-check-certificate: refused: certificates are always verified", 2},
		{"wget -r http://HOST/", "", "wget: --recursive: refused", 2},
		{"wget -nv -O- http://evil.test/", "", "failed: not allowed: start donax with --allow-net evil.test\n", 4},
		{"wget -nv -O- http://HOST/to/302?url=http://169.254.169.254/", "", "failed: not allowed", 4},
		{"wget -qO- --header 'Authorization: x' http://HOST/to/302?url=http://localhost:PORT/echo", "GET /echo 0 []\nAccept: [*/*]\nAccept-Encoding: [identity]\nUser-Agent: [Wget/1.21.3]\n", "", 0},
	} {
		line := strings.NewReplacer("HOST", host, "PORT", port).Replace(c.line)
		args := words(t, line)
		i := slices.IndexFunc(heavy.Commands(), func(x *applet.Command) bool { return x.Name == args[0] })
		got := native(t, s, heavy.Commands()[i], args[1:], "")
		want := strings.NewReplacer("HOST", host, "PORT", port).Replace(c.errs)
		if got.Out != c.out || !strings.HasPrefix(got.errs, want) || want == "" && got.errs != "" || got.Status != c.status {
			t.Errorf("%s\n got %d %q %q\nwant %d %q %q", line, got.Status, got.Out, got.errs, c.status, c.out, want)
		}
	}
}
