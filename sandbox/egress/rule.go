package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// A Rule names what may be reached; see [ParseRule].
type Rule struct {
	scheme string       // "" means both
	host   string       // exact name; "localhost" reaches loopback, too
	below  string       // ".example.com": names below it
	any    bool         // every name and public address
	prefix netip.Prefix // addresses, private ones included
	port   uint16       // 0: the default of the scheme
}

// ErrRule is matched by the errors of [ParseRule].
var ErrRule = errors.New("want [http://|https://]HOST[:PORT], where HOST is a name, *.NAME, an address, a network like 10.0.0.0/8, or *")

// ParseRule reads [SCHEME://]HOST[:PORT]. HOST is a name; *.NAME, for all
// names below it and not itself; an address or a network in CIDR notation, which
// also lets names resolve to it where it is private; or * for everything
// public. Without PORT it is 80 for http and 443 for https.
func ParseRule(s string) (Rule, error) {
	bad := func(why string) (Rule, error) { return Rule{}, fmt.Errorf("%q: %s: %w", s, why, ErrRule) }
	var r Rule
	rest := s
	if scheme, after, ok := strings.Cut(s, "://"); ok {
		if r.scheme = strings.ToLower(scheme); r.scheme != "http" && r.scheme != "https" {
			return bad("only http and https are reached")
		}
		rest = strings.TrimSuffix(after, "/")
	}
	host := rest
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.Contains(rest[i:], "]") {
		port, err := strconv.ParseUint(rest[i+1:], 10, 16)
		if err != nil || port == 0 {
			return bad("not a port")
		}
		host, r.port = rest[:i], uint16(port)
	}
	if host == "*" {
		r.any = true
		return r, nil
	}
	if addr, bits, ok := strings.Cut(host, "/"); ok {
		prefix, err := netip.ParsePrefix(strings.Trim(addr, "[]") + "/" + bits)
		if err != nil || prefix.Addr().Is4In6() {
			return bad("not a network")
		}
		r.prefix = prefix.Masked()
		return r, nil
	}
	name, below := strings.CutPrefix(host, "*.")
	clean, ip, err := parseHost(name)
	switch {
	case err != nil || below && ip.IsValid():
		return bad("not a host")
	case ip.IsValid():
		r.prefix = netip.PrefixFrom(ip, ip.BitLen())
	case below:
		r.below = "." + clean
	default:
		r.host = clean
	}
	return r, nil
}

// explicit tells whether the rule itself says that plain http is meant.
func (r Rule) explicit() bool { return r.scheme != "" || r.port != 0 }

// door tells whether scheme and port are the rule's.
func (r Rule) door(t target) bool {
	if r.scheme != "" && r.scheme != t.scheme {
		return false
	}
	if r.port == 0 {
		return t.port == defaultPort(t.scheme)
	}
	return r.port == t.port
}

// names tells whether the rule names the target's host.
func (r Rule) names(t target) bool {
	switch {
	case !r.door(t):
		return false
	case r.prefix.IsValid():
		return t.ip.IsValid() && r.prefix.Contains(t.ip)
	case r.below != "":
		return !t.ip.IsValid() && len(t.host) > len(r.below) && strings.HasSuffix(t.host, r.below)
	}
	return r.any || r.host == t.host
}

// reaches tells whether the rule names an address, so that it may be a
// private one.
func (r Rule) reaches(t target, ip netip.Addr) bool {
	return r.door(t) && (r.prefix.IsValid() && r.prefix.Contains(ip) ||
		r.host == "localhost" && t.host == "localhost" && ip.IsLoopback())
}
