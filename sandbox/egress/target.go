package egress

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/sandbox"
)

// A target is where a request goes, in the one spelling that list, policy,
// resolver and server get.
type target struct {
	scheme string     // http or https
	host   string     // lower case, without brackets and a last dot
	ip     netip.Addr // of a host that is an address
	port   uint16
	path   string // decoded
	url    *url.URL
}

// address names the target as --allow-net does.
func (t target) address() string {
	host := t.host
	if t.ip.Is6() {
		host = "[" + host + "]"
	}
	if t.port == defaultPort(t.scheme) {
		return host
	}
	return host + ":" + strconv.Itoa(int(t.port))
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// Bounds on URLs.
const (
	maxURL  = 16 << 10
	maxHost = 253
)

// parseTarget reads a URL. Whatever two readers could take for two different
// places is refused.
func parseTarget(raw string) (target, error) {
	if len(raw) > maxURL {
		return target{}, invalid("the URL has more than %d bytes", maxURL)
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] <= ' ' || raw[i] > '~' || raw[i] == '\\' {
			return target{}, invalid("the URL holds a character that must be percent-encoded")
		}
	}
	scheme, rest, ok := strings.Cut(raw, ":")
	scheme = strings.ToLower(scheme)
	if !ok || !strings.HasPrefix(rest, "//") {
		return target{}, invalid("want http://HOST/ or https://HOST/")
	}
	if scheme != "http" && scheme != "https" {
		return target{}, fail(sandbox.NetUnsupported, "protocol %q is not supported: only http and https are", scheme)
	}
	u, err := url.Parse(scheme + ":" + rest)
	switch {
	case err != nil:
		return target{}, invalid("the URL cannot be read")
	case u.User != nil:
		return target{}, invalid("a URL may not carry a user and password")
	case u.Opaque != "":
		return target{}, invalid("want http://HOST/ or https://HOST/")
	}
	t := target{scheme: scheme, path: u.Path, url: u}
	if err := t.setHost(u.Host); err != nil {
		return target{}, err
	}
	if t.path == "" {
		t.path = "/"
	}
	if err := checkPath(t.path); err != nil {
		return target{}, err
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = t.address() // the Host header, too
	return t, nil
}

func (t *target) setHost(hostport string) error {
	host, port := hostport, ""
	if i := strings.LastIndexByte(hostport, ':'); i >= 0 && !strings.Contains(hostport[i:], "]") {
		host, port = hostport[:i], hostport[i+1:]
	}
	t.port = defaultPort(t.scheme)
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '0' {
			return invalid("port %q is none", port)
		}
		t.port = uint16(n)
	}
	var err error
	t.host, t.ip, err = parseHost(host)
	return err
}

// parseHost reads a host: a name, a dotted quad, or an IPv6 address in
// brackets. Other notations of addresses (127.1, 0x7f000001, 017700000001)
// are refused: resolvers differ in what they make of them.
func parseHost(s string) (string, netip.Addr, error) {
	if strings.HasPrefix(s, "[") {
		ip, err := netip.ParseAddr(strings.TrimSuffix(s[1:], "]"))
		if err != nil || !strings.HasSuffix(s, "]") || !ip.Is6() {
			return "", ip, invalid("%q is no IPv6 address", s)
		}
		if ip.Zone() != "" {
			return "", ip, invalid("an address with a zone is not reached")
		}
		if ip.Is4In6() {
			return "", ip, denied("blocked address %s: write it as %s", ip, ip.Unmap())
		}
		return ip.String(), ip, nil
	}
	host := strings.ToLower(strings.TrimSuffix(s, "."))
	if host == "" || len(host) > maxHost {
		return "", netip.Addr{}, invalid("no host in the URL")
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 {
			return "", netip.Addr{}, invalid("%q is no host", s)
		}
		for i := 0; i < len(l); i++ {
			if c := l[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return "", netip.Addr{}, invalid("%q is no host: names are ASCII (xn--... for others)", s)
			}
		}
	}
	if numeric(labels[len(labels)-1]) {
		ip, err := netip.ParseAddr(host)
		if err != nil {
			return "", ip, denied("blocked address %s: an address is written as four decimal numbers", host)
		}
		return host, ip, nil
	}
	return host, netip.Addr{}, nil
}

// numeric tells whether a last label makes a host an address (URL standard,
// "ends in a number").
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// checkPath refuses paths that a server could take for another one than the
// policy was asked about.
func checkPath(path string) error {
	for i := 0; i < len(path); i++ {
		if path[i] < ' ' || path[i] == 0x7f {
			return invalid("the path holds a control character")
		}
	}
	for seg := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if seg, _, _ = strings.Cut(seg, ";"); seg == "." || seg == ".." {
			return invalid("the path holds a segment . or ..")
		}
	}
	return nil
}
