package curl

import (
	"path"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// address is a URL in its parts, as they are sent.
type address struct {
	scheme, user, password string
	login                  bool
	host, port             string // host with brackets; port "" when not given
	path, query            string // query with its question mark
}

var badURL = fatal{3, "URL using bad/illegal format or missing URL"}

// parseURL reads a URL as it was typed: http:// may be missing.
func parseURL(raw string) (a address, err error) {
	for i := 0; i < len(raw); i++ {
		if raw[i] <= ' ' || raw[i] == 0x7f {
			return a, badURL
		}
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || strings.ContainsAny(scheme, "/?#@:.") {
		scheme, rest = "http", raw
		if s, r, ok := strings.Cut(raw, ":"); ok && (strings.EqualFold(s, "http") || strings.EqualFold(s, "https")) {
			scheme, rest = s, strings.TrimLeft(r, "/")
		}
	}
	a.scheme = strings.ToLower(scheme)
	if a.scheme != "http" && a.scheme != "https" {
		return a, fatal{1, "Protocol \"" + a.scheme + "\" not supported or disabled in libcurl"}
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	a.setPath(rest[end:])
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		a.login = true
		a.user, a.password, _ = strings.Cut(authority[:i], ":")
		a.user, a.password = decode(a.user), decode(a.password)
		authority = authority[i+1:]
	}
	a.host = authority
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[i:], "]") {
		a.host, a.port = authority[:i], authority[i+1:]
		if n, err := strconv.ParseUint(a.port, 10, 16); a.port != "" && (err != nil || n == 0) {
			return a, badURL
		} else if a.port != "" {
			a.port = strconv.Itoa(int(n))
		}
	}
	if a.host == "" {
		return a, badURL
	}
	return a, nil
}

// setPath sets path and query, normalised and in ASCII.
func (a *address) setPath(s string) {
	p, q, has := strings.Cut(s, "?")
	if a.path = cleanPath(p); has {
		a.query = "?" + ascii(q)
	} else {
		a.query = ""
	}
}

// cleanPath removes dot segments (RFC 3986, section 5.2.4).
func cleanPath(p string) string {
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	var out []string
	segs := strings.Split(p[1:], "/")
	for i, seg := range segs {
		plain := strings.NewReplacer("%2e", ".", "%2E", ".").Replace(seg)
		last := i == len(segs)-1
		switch {
		case plain == ".":
		case plain == "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, seg)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return ascii("/" + strings.Join(out, "/"))
}

// ascii percent-encodes what may not stand in a URL.
func ascii(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c > '~' || c == '\\' {
			b.WriteString(percent(s[i : i+1]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func decode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// String is the URL without user and password.
func (a address) String() string {
	s := a.scheme + "://" + a.host
	if a.port != "" {
		s += ":" + a.port
	}
	return s + a.path + a.query
}

// realPort is the port that will be dialled.
func (a address) realPort() string {
	switch {
	case a.port != "":
		return a.port
	case a.scheme == "https":
		return "443"
	}
	return "80"
}

// same tells whether two URLs have one server, so that what is secret may go
// from one to the other.
func (a address) same(b address) bool {
	return a.scheme == b.scheme && strings.EqualFold(a.host, b.host) && a.realPort() == b.realPort()
}

// follow is where a Location leads.
func (a address) follow(to string) (address, error) {
	to = strings.ReplaceAll(strings.TrimSpace(to), " ", "%20")
	if scheme, _, ok := strings.Cut(to, ":"); ok && isScheme(scheme) {
		if !strings.Contains(to, "://") {
			return a, fatal{1, "Protocol \"" + strings.ToLower(scheme) + "\" not supported or disabled in libcurl"}
		}
		return parseURL(to)
	}
	if strings.HasPrefix(to, "//") {
		return parseURL(a.scheme + ":" + to)
	}
	to, _, _ = strings.Cut(to, "#")
	b := a
	switch {
	case to == "":
	case to[0] == '/':
		b.setPath(to)
	case to[0] == '?':
		b.query = ascii(to)
	default:
		b.setPath(a.path[:strings.LastIndexByte(a.path, '/')+1] + to)
	}
	return b, nil
}

func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || (c < '0' || c > '9') && strings.IndexByte("+-.", c) < 0) {
			return false
		}
	}
	return s != ""
}

// file is the last part of the path, the name for -O.
func (a address) file() string {
	if strings.HasSuffix(a.path, "/") {
		return ""
	}
	return path.Base(a.path)
}

// expanded is one URL of a pattern, and what its parts were.
type expanded struct {
	url   string
	parts []string
}

// fill puts the parts into an output's name: #1 is the first.
func (e expanded) fill(name string) string {
	if len(e.parts) == 0 || !strings.Contains(name, "#") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		k := i + 1
		for k < len(name) && name[k] >= '0' && name[k] <= '9' {
			k++
		}
		if n, err := strconv.Atoi(name[i+1 : k]); name[i] == '#' && err == nil && n >= 1 && n <= len(e.parts) {
			b.WriteString(e.parts[n-1])
			i = k - 1
			continue
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// maxExpanded bounds the URLs of one pattern.
const maxExpanded = 10_000

// expand expands {a,b} and [1-9], [01-10:2], [a-z] in a URL.
func (s *state) expand(pattern string) ([]expanded, error) {
	list := []expanded{{}}
	rest := pattern
	for !s.globOff {
		i := strings.IndexAny(rest, "{[")
		if i < 0 {
			break
		}
		if i > 0 && rest[i-1] == '\\' {
			list = extend(list, []string{rest[:i-1] + rest[i:i+1]}, false)
			rest = rest[i+1:]
			continue
		}
		closing := strings.IndexByte(rest[i:], map[byte]byte{'{': '}', '[': ']'}[rest[i]])
		if closing < 0 {
			return nil, fatal{3, "unmatched brace in URL position " + itoa(len(pattern)-len(rest)+i+1) + ":\n" + pattern}
		}
		body := rest[i+1 : i+closing]
		var words []string
		if rest[i] == '{' {
			words = strings.Split(body, ",")
		} else if words = span(body); words == nil {
			if strings.Contains(body, ":") { // an IPv6 address
				list = extend(list, []string{rest[:i+closing+1]}, false)
				rest = rest[i+closing+1:]
				continue
			}
			return nil, fatal{3, "bad range in URL position " + itoa(len(pattern)-len(rest)+i+2) + ":\n" + pattern}
		}
		list = extend(extend(list, []string{rest[:i]}, false), words, true)
		if len(list) > maxExpanded {
			return nil, fatal{3, "range overflow in URL:\n" + pattern}
		}
		rest = rest[i+closing+1:]
	}
	return extend(list, []string{rest}, false), nil
}

func extend(list []expanded, words []string, part bool) []expanded {
	var out []expanded
	for _, e := range list {
		for _, w := range words {
			n := expanded{e.url + w, e.parts}
			if part {
				n.parts = append(e.parts[:len(e.parts):len(e.parts)], w)
			}
			if out = append(out, n); len(out) > maxExpanded {
				return out
			}
		}
	}
	return out
}

// span lists what is in [FROM-TO:STEP]; nil when it is no such range.
func span(body string) (words []string) {
	body, stepText, hasStep := strings.Cut(body, ":")
	from, to, ok := strings.Cut(body, "-")
	step := 1
	if hasStep {
		var err error
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return nil
		}
	}
	if !ok || from == "" || to == "" {
		return nil
	}
	if len(from) == 1 && len(to) == 1 && from[0] > '9' && from[0] <= to[0] {
		for c := int(from[0]); c <= int(to[0]); c += step {
			words = append(words, string(rune(c)))
		}
		return words
	}
	a, err1 := strconv.ParseUint(from, 10, 31)
	b, err2 := strconv.ParseUint(to, 10, 31)
	if err1 != nil || err2 != nil || a > b || (b-a)/uint64(step) > maxExpanded {
		return nil
	}
	for n := a; n <= b; n += uint64(step) {
		w := strconv.FormatUint(n, 10)
		if from[0] == '0' {
			w = strings.Repeat("0", max(0, len(from)-len(w))) + w
		}
		words = append(words, w)
	}
	return words
}
