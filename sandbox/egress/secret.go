package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// A Secret is a header that the server adds to requests to one host. Programs
// never see it: where a response shows it, in any of the usual encodings, it
// is replaced.
type Secret struct {
	Host   string // a name or an address, without brackets
	Port   int    // 0: the default of the scheme
	Header string // a header's name
	Value  string // the whole value, as in "Bearer x"; at least 8 bytes
}

// minSecret is the shortest value: a shorter one would be found everywhere.
const minSecret = 8

var errSecret = errors.New("egress: a secret that cannot be sent")

// check never quotes the value.
func (s Secret) check() error {
	host := s.Host
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
		host = "[" + host + "]"
	}
	name := strings.ToLower(s.Header)
	switch clean, _, err := parseHost(host); {
	case err != nil || clean != s.Host:
		return fmt.Errorf("%w: %q is no host in lower case", errSecret, s.Host)
	case s.Port < 0 || s.Port > 65535:
		return fmt.Errorf("%w: %d is no port", errSecret, s.Port)
	case !token(name) || ours[name] != "" || name == "host":
		return fmt.Errorf("%w: %q is no header that can be set", errSecret, s.Header)
	case len(s.Value) < minSecret:
		return fmt.Errorf("%w: the value for %s is shorter than %d bytes", errSecret, s.Host, minSecret)
	case !fieldValue(s.Value):
		return fmt.Errorf("%w: the value for %s holds a character that may not stand in a header", errSecret, s.Host)
	}
	return nil
}

// fits tells whether the secret is for the target: its host and port, over TLS
// or to a loopback address that stands in the URL.
func (s *Secret) fits(t target) bool {
	port := uint16(s.Port)
	if port == 0 {
		port = defaultPort(t.scheme)
	}
	return s.Host == t.host && port == t.port &&
		(t.scheme == "https" || t.ip.IsLoopback() || t.host == "localhost")
}
