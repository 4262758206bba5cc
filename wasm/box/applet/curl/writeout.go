package curl

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report is -w.
func (t *transfer) report() {
	if t.progress && t.err == nil && !t.silent {
		t.note(strings.Repeat("#", 72) + " 100.0%")
	}
	out := func(text string) { io.WriteString(t.c.Stdout, text) }
	f := t.writeOut
	for f != "" {
		i := strings.IndexAny(f, `%\`)
		if i < 0 {
			out(f)
			return
		}
		out(f[:i])
		f = f[i:]
		switch {
		case strings.HasPrefix(f, "%%"):
			out("%")
			f = f[2:]
		case strings.HasPrefix(f, "%{"):
			name, rest, ok := strings.Cut(f[2:], "}")
			if !ok {
				out(f[:2])
				f = f[2:]
				continue
			}
			f = rest
			switch name {
			case "stderr":
				out = func(text string) { t.c.Flush(); io.WriteString(t.errs, text) }
			case "stdout":
				out = func(text string) { io.WriteString(t.c.Stdout, text) }
			case "onerror":
				if t.err == nil {
					return
				}
			default:
				v, ok := t.variable(name)
				if !ok {
					t.note("curl: unknown --write-out variable: '" + name + "'")
				}
				out(v)
			}
		case strings.HasPrefix(f, "%header{"):
			name, rest, _ := strings.Cut(f[8:], "}")
			f = rest
			out(t.header(name))
		case len(f) > 1 && f[0] == '\\':
			switch f[1] {
			case 'n':
				out("\n")
			case 't':
				out("\t")
			case 'r':
				out("\r")
			default:
				out(f[:2])
			}
			f = f[2:]
		default:
			out(f[:1])
			f = f[1:]
		}
	}
}

// numbers are the variables that JSON shows as numbers.
var numbers = []string{"exitcode", "http_code", "http_connect", "num_connects", "num_headers", "num_redirects", "proxy_ssl_verify_result",
	"response_code", "size_download", "size_header", "size_request", "size_upload", "speed_download", "speed_upload", "ssl_verify_result",
	"time_appconnect", "time_connect", "time_namelookup", "time_pretransfer", "time_redirect", "time_starttransfer", "time_total", "urlnum",
	"local_port", "remote_port"}

var texts = []string{"content_type", "errormsg", "filename_effective", "ftp_entry_path", "http_version", "local_ip", "method",
	"redirect_url", "referer", "remote_ip", "scheme", "url", "url_effective"}

// variable is the value of a variable of -w.
func (t *transfer) variable(name string) (string, bool) {
	now := time.Since(t.began)
	since := func(d time.Duration) string {
		if d > 0 {
			d += t.redirect
		}
		return strconv.FormatFloat(d.Seconds(), 'f', 6, 64)
	}
	speed := func(n int64) string { return strconv.FormatInt(int64(float64(n)/max(now.Seconds(), 1e-6)), 10) }
	var resolved, connected, secured, answered time.Duration
	remote, remotePort, status, headers := "", "0", "000", 0
	if t.res != nil {
		resolved, connected, secured, answered = t.res.Resolved, t.res.Connected, t.res.Secured, t.res.Answered
		if i := strings.LastIndexByte(t.res.Remote, ':'); i >= 0 {
			remote, remotePort = strings.Trim(t.res.Remote[:i], "[]"), t.res.Remote[i+1:]
		}
		status = itoa(t.res.Status)
		headers = len(t.res.Header) / 2
	}
	code, msg := 0, ""
	if t.err != nil {
		code, msg = t.err.code, t.err.msg
	}
	switch name {
	case "content_type":
		return t.header("Content-Type"), true
	case "errormsg":
		return msg, true
	case "exitcode":
		return itoa(code), true
	case "filename_effective":
		if t.file == nil {
			return "", true
		}
		return t.file.name, true
	case "ftp_entry_path":
		return "", true
	case "http_code", "response_code":
		return status, true
	case "http_connect":
		return "000", true
	case "http_version":
		if t.res == nil {
			return "0", true
		}
		return strings.TrimSuffix(strings.TrimPrefix(t.res.Proto, "HTTP/"), ".0"), true
	case "local_ip":
		return "", true
	case "local_port":
		return "0", true
	case "method":
		if t.options.method != "" {
			return t.options.method, true
		}
		return t.method, true
	case "num_connects":
		if t.res == nil {
			return "0", true
		}
		return itoa(t.hops + 1), true
	case "num_headers":
		return itoa(headers), true
	case "num_redirects":
		return itoa(t.hops), true
	case "redirect_url":
		return t.next, true
	case "referer":
		return t.referer, true
	case "remote_ip":
		return remote, true
	case "remote_port":
		return remotePort, true
	case "scheme":
		return strings.ToUpper(t.url.Scheme), true
	case "size_download":
		return strconv.FormatInt(t.down, 10), true
	case "size_header":
		return strconv.FormatInt(t.heads, 10), true
	case "size_request":
		n := 0
		for _, s := range t.sent {
			n += len(s) + 2
		}
		return itoa(n), true
	case "size_upload":
		return strconv.FormatInt(t.up, 10), true
	case "speed_download":
		return speed(t.down), true
	case "speed_upload":
		return speed(t.up), true
	case "ssl_verify_result", "proxy_ssl_verify_result":
		if code == 60 && name[0] == 's' {
			return "20", true
		}
		return "0", true
	case "time_namelookup":
		return since(resolved), true
	case "time_connect":
		return since(connected), true
	case "time_appconnect":
		return since(secured), true
	case "time_pretransfer":
		return since(max(connected, secured)), true
	case "time_redirect":
		return strconv.FormatFloat(t.redirect.Seconds(), 'f', 6, 64), true
	case "time_starttransfer":
		return since(answered), true
	case "time_total":
		return strconv.FormatFloat(now.Seconds(), 'f', 6, 64), true
	case "url":
		return t.given, true
	case "url_effective":
		if t.url.Scheme == "" {
			return t.given, true
		}
		return t.url.String(), true
	case "urlnum":
		return itoa(t.index), true
	case "json":
		return t.allJSON(), true
	case "header_json":
		return t.headJSON(), true
	}
	return "", false
}

// allJSON is all variables as one object.
func (t *transfer) allJSON() string {
	names := slices.Concat(numbers, texts)
	slices.Sort(names)
	var parts []string
	for _, n := range names {
		v, _ := t.variable(n)
		if slices.Contains(numbers, n) {
			if v = strings.TrimLeft(v, "0"); v == "" || v[0] == '.' {
				v = "0" + v
			}
		} else if v == "" && n != "errormsg" {
			v = "null"
		} else {
			v = quoteJSON(v)
		}
		parts = append(parts, quoteJSON(n)+":"+v)
	}
	return "{" + strings.Join(append(parts, `"curl_version":`+quoteJSON("libcurl/"+version)), ",") + "}"
}

// headJSON is the head of the last response, each name with its values.
func (t *transfer) headJSON() string {
	if t.res == nil {
		return "{}"
	}
	var order []string
	values := map[string][]string{}
	for i := 0; i+1 < len(t.res.Header); i += 2 {
		n := strings.ToLower(t.res.Header[i])
		if values[n] == nil {
			order = append(order, n)
		}
		values[n] = append(values[n], quoteJSON(t.res.Header[i+1]))
	}
	var parts []string
	for _, n := range order {
		parts = append(parts, quoteJSON(n)+":["+strings.Join(values[n], ",")+"]")
	}
	return "{" + strings.Join(parts, ",\n") + "\n}"
}

func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string does not fail
	return strings.TrimSuffix(b.String(), "\n")
}
