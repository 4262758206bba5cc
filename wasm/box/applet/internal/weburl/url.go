// Package weburl reads URLs and keeps cookies as curl and wget do.
package weburl

import (
	"errors"
	"path"
	"strconv"
	"strings"
)

// URL is a URL in its parts, as they are sent.
type URL struct {
	Scheme, User, Password string
	Login                  bool   // there is a user
	Host, Port             string // host with brackets; port "" when not given
	Path, Query            string // query with its question mark
}

// ErrBad is the error of a text that is no URL.
var ErrBad = errors.New("not a URL")

// ProtocolError is the error of a URL with another protocol than HTTP.
type ProtocolError string

func (e ProtocolError) Error() string { return "protocol " + string(e) + " is not supported" }

// Parse reads a URL as it was typed: http:// may be missing.
func Parse(raw string) (a URL, err error) {
	for i := 0; i < len(raw); i++ {
		if raw[i] <= ' ' || raw[i] == 0x7f {
			return a, ErrBad
		}
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || strings.ContainsAny(scheme, "/?#@:.") {
		scheme, rest = "http", raw
		if s, r, ok := strings.Cut(raw, ":"); ok && (strings.EqualFold(s, "http") || strings.EqualFold(s, "https")) {
			scheme, rest = s, strings.TrimLeft(r, "/")
		}
	}
	a.Scheme = strings.ToLower(scheme)
	if a.Scheme != "http" && a.Scheme != "https" {
		return a, ProtocolError(a.Scheme)
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	a.SetPath(rest[end:])
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		a.Login = true
		a.User, a.Password, _ = strings.Cut(authority[:i], ":")
		a.User, a.Password = Decode(a.User), Decode(a.Password)
		authority = authority[i+1:]
	}
	a.Host = authority
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[i:], "]") {
		a.Host, a.Port = authority[:i], authority[i+1:]
		if n, err := strconv.ParseUint(a.Port, 10, 16); a.Port != "" && (err != nil || n == 0) {
			return a, ErrBad
		} else if a.Port != "" {
			a.Port = strconv.Itoa(int(n))
		}
	}
	if a.Host == "" {
		return a, ErrBad
	}
	return a, nil
}

// SetPath sets path and query, normalised and in ASCII.
func (a *URL) SetPath(s string) {
	p, q, has := strings.Cut(s, "?")
	if a.Path = cleanPath(p); has {
		a.Query = "?" + ASCII(q)
	} else {
		a.Query = ""
	}
}

// String is the URL without user and password.
func (a URL) String() string {
	s := a.Scheme + "://" + a.Host
	if a.Port != "" {
		s += ":" + a.Port
	}
	return s + a.Path + a.Query
}

// DialPort is the port that will be dialled.
func (a URL) DialPort() string {
	switch {
	case a.Port != "":
		return a.Port
	case a.Scheme == "https":
		return "443"
	}
	return "80"
}

// Same tells whether two URLs have one server, so that what is secret may go
// from one to the other.
func (a URL) Same(b URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) && a.DialPort() == b.DialPort()
}

// Follow is where a Location leads.
func (a URL) Follow(to string) (URL, error) {
	to = strings.ReplaceAll(strings.TrimSpace(to), " ", "%20")
	if scheme, _, ok := strings.Cut(to, ":"); ok && isScheme(scheme) {
		if !strings.Contains(to, "://") {
			return a, ProtocolError(strings.ToLower(scheme))
		}
		return Parse(to)
	}
	if strings.HasPrefix(to, "//") {
		return Parse(a.Scheme + ":" + to)
	}
	to, _, _ = strings.Cut(to, "#")
	b := a
	switch {
	case to == "":
	case to[0] == '/':
		b.SetPath(to)
	case to[0] == '?':
		b.Query = ASCII(to)
	default:
		b.SetPath(a.Path[:strings.LastIndexByte(a.Path, '/')+1] + to)
	}
	return b, nil
}

// File is the last part of the path, the name for -O.
func (a URL) File() string {
	if strings.HasSuffix(a.Path, "/") {
		return ""
	}
	return path.Base(a.Path)
}
