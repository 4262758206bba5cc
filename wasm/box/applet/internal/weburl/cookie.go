package weburl

import (
	"cmp"
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

// Jar keeps cookies, those set last at the end.
type Jar struct {
	Loopback bool // loopback is as safe as TLS, as curl has it
	list     []cookie
}

// safe tells whether secure cookies may travel.
func (j *Jar) safe(u URL, host string) bool {
	return u.Scheme == "https" || j.Loopback && (host == "localhost" || host == "127.0.0.1" || host == "::1")
}

// maxCookies bounds a jar.
const maxCookies = 1000

const httpOnlyMark = "#HttpOnly_"

// Read takes the cookies of a file in Netscape's format; junk leaves out those
// that end with their session.
func (j *Jar) Read(text string, junk bool, now time.Time) {
	for line := range strings.Lines(text) {
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
		if c.expires == 0 && junk {
			continue
		}
		j.put(c, now)
	}
}

// put adds a cookie in the place of the one that it replaces; an expired one
// removes it.
func (j *Jar) put(c cookie, now time.Time) {
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

// Set takes a Set-Cookie of a response from u.
func (j *Jar) Set(u URL, v string, now time.Time) {
	first, attrs, _ := strings.Cut(v, ";")
	name, value, ok := strings.Cut(first, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || strings.ContainsFunc(name+value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return
	}
	host := strings.ToLower(strings.Trim(u.Host, "[]"))
	c := cookie{domain: host, name: name, value: value, path: u.Path[:strings.LastIndexByte(u.Path, '/')]}
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
			if c.secure = true; !j.safe(u, host) {
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

// Header returns the cookies for a URL, in curl's order: longer paths,
// domains and names first, then the newer.
func (j *Jar) Header(u URL, now time.Time) (list []string) {
	host := strings.ToLower(strings.Trim(u.Host, "[]"))
	var fit []cookie
	for _, c := range j.list {
		switch {
		case host != c.domain && !(c.sub && strings.HasSuffix(host, "."+c.domain) && !isAddress(host)):
		case c.secure && !j.safe(u, host):
		case c.path != "/" && u.Path != c.path && !strings.HasPrefix(u.Path, strings.TrimSuffix(c.path, "/")+"/"):
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

// Text is the jar in Netscape's format, the newest first, with a comment below
// its first line.
func (j *Jar) Text(comment string) string {
	var b strings.Builder
	b.WriteString("# Netscape HTTP Cookie File\n" + comment + "")
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
	return b.String()
}
