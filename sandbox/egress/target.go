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
