package curl

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cookie is one line of a jar.
type cookie struct {
	domain, path, name, value string
	sub                       bool // also for hosts below domain
	secure, httpOnly          bool
	expires                   int64 // seconds since 1970; 0: with the session
}

// jar keeps cookies, those set last at the end.
type jar struct{ list []cookie }

// maxCookies bounds a jar.
const maxCookies = 1000

const httpOnlyMark = "#HttpOnly_"

// load reads a file in Netscape's format, or one of heads. One that is not
// there is an empty jar.
func (j *jar) load(s *state, name string) {
	if name == "" {
		return
	}
	b, err := s.readFile(name)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		var c cookie
		if line, c.httpOnly = strings.CutPrefix(line, httpOnlyMark); strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) == 6 {
			f = append(f, "")
		}
		if len(f) != 7 {
			continue
		}
		c.domain, c.sub = strings.ToLower(strings.TrimPrefix(f[0], ".")), f[1] == "TRUE"
		c.path, c.secure, c.name, c.value = f[2], f[3] == "TRUE", f[5], f[6]
		c.expires, _ = strconv.ParseInt(f[4], 10, 64)
		if c.expires == 0 && s.junkSession {
			continue
		}
		j.put(c, time.Now())
	}
}

// put adds a cookie in the place of the one that it replaces; an expired one
// removes it.
func (j *jar) put(c cookie, now time.Time) {
	gone := c.expires != 0 && c.expires <= now.Unix()
	for i, old := range j.list {
		if old.domain == c.domain && old.path == c.path && old.name == c.name {
			if gone {
				j.list = append(j.list[:i], j.list[i+1:]...)
			} else {
				j.list[i] = c
			}
			return
		}
	}
	if !gone && len(j.list) < maxCookies {
		j.list = append(j.list, c)
	}
}

// set takes a Set-Cookie of a response from u.
func (j *jar) set(u address, v string, now time.Time) {
	first, attrs, _ := strings.Cut(v, ";")
	name, value, ok := strings.Cut(first, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || strings.ContainsFunc(name+value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return
	}
	host := strings.ToLower(strings.Trim(u.host, "[]"))
	c := cookie{domain: host, name: name, value: value, path: u.path[:strings.LastIndexByte(u.path, '/')]}
	maxAge := false
	for _, a := range strings.Split(attrs, ";") {
		key, val, _ := strings.Cut(strings.TrimSpace(a), "=")
		val = strings.TrimSpace(val)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "domain":
			d := strings.ToLower(strings.TrimPrefix(val, "."))
			switch {
			case d == "" || d == host:
				c.sub = d != "" && !isAddress(host)
			case !strings.Contains(d, ".") || isAddress(host) || !strings.HasSuffix(host, "."+d):
				return // of somebody else
			default:
				c.domain, c.sub = d, true
			}
		case "path":
			if strings.HasPrefix(val, "/") {
				c.path = val
			}
		case "secure":
			if c.secure = true; u.scheme != "https" && host != "localhost" && host != "127.0.0.1" && host != "::1" {
				return
			}
		case "httponly":
			c.httpOnly = true
		case "max-age":
			n, err := strconv.ParseInt(strings.Trim(val, `"`), 10, 64)
			if maxAge = err == nil; !maxAge {
				continue
			}
			if c.expires = 1; n > 0 {
				c.expires = now.Unix() + min(n, 1<<40)
			}
		case "expires":
			if maxAge {
				continue
			}
			for _, layout := range []string{time.RFC1123, "Mon, 02-Jan-2006 15:04:05 MST", "Mon, 02-Jan-06 15:04:05 MST", time.RFC850, time.ANSIC} {
				if when, err := time.Parse(layout, val); err == nil {
					c.expires = max(1, when.Unix())
					break
				}
			}
		}
	}
	if c.path = strings.TrimSuffix(c.path, "/"); c.path == "" {
		c.path = "/"
	}
	j.put(c, now)
}

func isAddress(host string) bool {
	return strings.Contains(host, ":") || strings.Trim(host, "0123456789.") == ""
}

// header returns the cookies for a URL, in curl's order: longer paths,
// domains and names first, then the newer.
func (j *jar) header(u address, now time.Time) (list []string) {
	host := strings.ToLower(strings.Trim(u.host, "[]"))
	var fit []cookie
	for _, c := range j.list {
		switch {
		case host != c.domain && !(c.sub && strings.HasSuffix(host, "."+c.domain) && !isAddress(host)):
		case c.secure && u.scheme != "https" && host != "localhost" && host != "127.0.0.1" && host != "::1":
		case c.path != "/" && u.path != c.path && !strings.HasPrefix(u.path, strings.TrimSuffix(c.path, "/")+"/"):
		case c.expires != 0 && c.expires <= now.Unix():
		default:
			fit = append(fit, c)
		}
	}
	slices.Reverse(fit)
	slices.SortStableFunc(fit, func(a, b cookie) int {
		return cmp.Or(len(b.path)-len(a.path), len(b.domain)-len(a.domain), len(b.name)-len(a.name))
	})
	for _, c := range fit {
		list = append(list, c.name+"="+c.value)
	}
	return list
}

// save writes the jar in Netscape's format, the newest first.
func (j *jar) save(s *state, name string) error {
	var b strings.Builder
	b.WriteString("# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n# This file was generated by libcurl! Edit at your own risk.\n\n")
	yesNo := func(v bool) string { return strings.ToUpper(strconv.FormatBool(v)) }
	for _, c := range slices.Backward(j.list) {
		if c.httpOnly {
			b.WriteString(httpOnlyMark)
		}
		if c.sub {
			b.WriteString(".")
		}
		b.WriteString(strings.Join([]string{c.domain, yesNo(c.sub), c.path, yesNo(c.secure), strconv.FormatInt(c.expires, 10), c.name, c.value}, "\t") + "\n")
	}
	if name == "-" {
		_, err := io.WriteString(s.c.Stdout, b.String())
		return err
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}
