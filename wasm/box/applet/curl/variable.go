package curl

import (
	"strconv"
	"strings"
	"time"
)

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
