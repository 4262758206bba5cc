package egress

import (
	"net/netip"
	"strconv"
	"strings"
)

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
