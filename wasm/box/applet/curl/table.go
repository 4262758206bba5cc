package curl

import (
	"strconv"
	"strings"
	"time"
)

// An option is one option: what it does with its argument, or, without one,
// with whether it is on.
type option struct {
	short byte
	long  string
	arg   func(*state, string) error
	flag  func(*options, bool)
	no    string // why there is none of that name here
}

// refused are options of curl that could not do here what they say, with the
// reason. All others that are missing are unknown.
var refused = map[string]string{
	"insecure": "certificates are always verified (donax --ca FILE trusts another authority)",
	"proxy":    "connections are made by donax, without a proxy", "preproxy": "connections are made by donax, without a proxy",
	"socks4": "connections are made by donax, without a proxy", "socks4a": "connections are made by donax, without a proxy",
	"socks5": "connections are made by donax, without a proxy", "socks5-hostname": "connections are made by donax, without a proxy",
	"proxy-user": "connections are made by donax, without a proxy", "proxytunnel": "connections are made by donax, without a proxy",
	"resolve": "donax resolves names, once, and checks them", "connect-to": "donax connects to the host of the URL only",
	"unix-socket": "donax connects to the host of the URL only", "abstract-unix-socket": "donax connects to the host of the URL only",
	"interface": "donax connects, from its own address", "dns-servers": "donax resolves names, once, and checks them",
	"doh-url": "donax resolves names, once, and checks them", "cacert": "donax --ca FILE trusts another authority",
	"capath": "donax --ca FILE trusts another authority", "cert": "client certificates are not supported",
	"key": "client certificates are not supported", "parallel": "use several commands with &", "config": "not supported: give the options themselves",
	"http1.0": "donax chooses the version of HTTP", "http1.1": "donax chooses the version of HTTP", "http2": "donax chooses the version of HTTP",
	"http3": "donax chooses the version of HTTP", "tlsv1.3": "donax chooses the version of TLS", "path-as-is": "paths are always normalised",
	"request-target": "paths are always normalised", "next": "use several commands", "digest": "only basic authentication is supported",
	"ntlm": "only basic authentication is supported", "negotiate": "only basic authentication is supported", "anyauth": "only basic authentication is supported",
	"netrc": "not supported: use --user", "limit-rate": "not supported", "ipv4": "donax chooses the address", "ipv6": "donax chooses the address",
}

// shortRefused are their letters.
var shortRefused = map[byte]string{'k': "insecure", 'x': "proxy", 'Z': "parallel", 'K': "config", 'E': "cert", '0': "http1.0", ':': "next", '4': "ipv4", '6': "ipv6", 'n': "netrc", 'U': "proxy-user", 'p': "proxytunnel", '3': "tlsv1.3"}

func table() []option {
	str := func(short byte, long string, p func(*options) *string) option {
		return option{short: short, long: long, arg: func(s *state, v string) error { *p(&s.options) = v; return nil }}
	}
	flag := func(short byte, long string, p func(*options) *bool) option {
		return option{short: short, long: long, flag: func(o *options, on bool) { *p(o) = on }}
	}
	do := func(short byte, long string, f func(*state, string) error) option {
		return option{short: short, long: long, arg: f}
	}
	secs := func(short byte, long string, p func(*options) *time.Duration) option {
		return do(short, long, func(s *state, v string) error {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || n < 0 || n > 1e9 {
				return badOption{text: needsNumber}
			}
			*p(&s.options) = time.Duration(n * float64(time.Second))
			return nil
		})
	}
	num := func(long string, p func(*options, int64)) option {
		return do(0, long, func(s *state, v string) error {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return badOption{text: needsNumber}
			}
			p(&s.options, n)
			return nil
		})
	}
	nothing := func(*options, bool) {}
	return []option{
		flag('s', "silent", func(o *options) *bool { return &o.silent }),
		flag('S', "show-error", func(o *options) *bool { return &o.showError }),
		flag('f', "fail", func(o *options) *bool { return &o.fail }),
		flag(0, "fail-with-body", func(o *options) *bool { return &o.failBody }),
		flag(0, "fail-early", func(o *options) *bool { return &o.failEarly }),
		flag('L', "location", func(o *options) *bool { return &o.location }),
		{long: "location-trusted", flag: func(o *options, on bool) { o.location, o.trusted = on, on }},
		flag('i', "include", func(o *options) *bool { return &o.include }),
		flag('I', "head", func(o *options) *bool { return &o.head }),
		do('o', "output", func(s *state, v string) error { s.outputs = append(s.outputs, output{name: v}); return nil }),
		{short: 'O', long: "remote-name", flag: func(o *options, on bool) {
			if on {
				o.outputs = append(o.outputs, output{remote: true})
			}
		}},
		flag(0, "remote-name-all", func(o *options) *bool { return &o.remoteNameAll }),
		flag('J', "remote-header-name", func(o *options) *bool { return &o.remoteHeader }),
		flag('R', "remote-time", func(o *options) *bool { return &o.remoteTime }),
		str(0, "output-dir", func(o *options) *string { return &o.outputDir }),
		flag(0, "create-dirs", func(o *options) *bool { return &o.createDirs }),
		{long: "clobber", flag: func(o *options, on bool) { o.noClobber = !on }},
		flag(0, "remove-on-error", func(o *options) *bool { return &o.removeBad }),
		str('X', "request", func(o *options) *string { return &o.method }),
		do('H', "header", (*state).addHeader),
		do('d', "data", func(s *state, v string) error { return s.addData(v, true, true) }),
		do(0, "data-ascii", func(s *state, v string) error { return s.addData(v, true, true) }),
		do(0, "data-raw", func(s *state, v string) error { return s.addData(v, false, false) }),
		do(0, "data-binary", func(s *state, v string) error { return s.addData(v, true, false) }),
		do(0, "data-urlencode", (*state).addEncoded),
		do(0, "json", func(s *state, v string) error { s.json = true; return s.addJSON(v) }),
		do(0, "url-query", (*state).addQuery),
		flag('G', "get", func(o *options) *bool { return &o.get }),
		do('F', "form", func(s *state, v string) error { return s.addForm(v, false) }),
		do(0, "form-string", func(s *state, v string) error { return s.addForm(v, true) }),
		do('T', "upload-file", func(s *state, v string) error { s.upload, s.uploads = v, true; return nil }),
		str('u', "user", func(o *options) *string { return &o.user }),
		str(0, "oauth2-bearer", func(o *options) *string { return &o.bearer }),
		{long: "basic", flag: nothing},
		do('A', "user-agent", func(s *state, v string) error { s.agent, s.hasAgent = v, true; return nil }),
		do('e', "referer", func(s *state, v string) error {
			s.referer, s.autoReferer = strings.CutSuffix(v, ";auto")
			return nil
		}),
		do('b', "cookie", func(s *state, v string) error {
			if strings.Contains(v, "=") {
				s.cookies = append(s.cookies, v)
			} else {
				s.jarFiles = append(s.jarFiles, v)
			}
			return nil
		}),
		str('c', "cookie-jar", func(o *options) *string { return &o.jar }),
		flag('j', "junk-session-cookies", func(o *options) *bool { return &o.junkSession }),
		str('r', "range", func(o *options) *string { return &o.rangeOf }),
		do('C', "continue-at", func(s *state, v string) error {
			s.resumes, s.resume = true, -1
			if v == "-" {
				return nil
			}
			n, err := strconv.ParseInt(v, 10, 64)
			if s.resume = n; err != nil || n < 0 {
				return badOption{text: needsNumber}
			}
			return nil
		}),
		flag('v', "verbose", func(o *options) *bool { return &o.verbose }),
		str('w', "write-out", func(o *options) *string { return &o.writeOut }),
		str('D', "dump-header", func(o *options) *string { return &o.dump }),
		str(0, "stderr", func(o *options) *string { return &o.stderr }),
		flag('#', "progress-bar", func(o *options) *bool { return &o.progress }),
		{long: "progress-meter", flag: nothing}, // there is none
		{short: 'N', long: "buffer", flag: nothing},
		{long: "keepalive", flag: nothing}, // a connection serves one request
		flag('g', "globoff", func(o *options) *bool { return &o.globOff }),
		{short: 'q', long: "disable", flag: nothing}, // there is no .curlrc
		secs('m', "max-time", func(o *options) *time.Duration { return &o.timeout }),
		secs(0, "connect-timeout", func(o *options) *time.Duration { return &o.connect }),
		num("retry", func(o *options, n int64) { o.retry = int(max(0, n)) }),
		secs(0, "retry-delay", func(o *options) *time.Duration { return &o.retryDelay }),
		secs(0, "retry-max-time", func(o *options) *time.Duration { return &o.retryMax }),
		flag(0, "retry-all-errors", func(o *options) *bool { return &o.retryAll }),
		flag(0, "retry-connrefused", func(o *options) *bool { return &o.retryRefused }),
		num("max-redirs", func(o *options, n int64) { o.maxRedirs = int(n) }),
		num("max-filesize", func(o *options, n int64) { o.maxSize = n }),
		flag(0, "post301", func(o *options) *bool { return &o.keepPost[1] }),
		flag(0, "post302", func(o *options) *bool { return &o.keepPost[2] }),
		flag(0, "post303", func(o *options) *bool { return &o.keepPost[3] }),
		flag(0, "compressed", func(o *options) *bool { return &o.compressed }),
		do(0, "url", func(s *state, v string) error { s.urls = append(s.urls, v); return nil }),
		do(0, "proto", func(s *state, v string) (err error) { s.proto, err = protocols(v); return err }),
		do(0, "proto-redir", func(s *state, v string) (err error) { s.protoRedir, err = protocols(v); return err }),
		do(0, "noproxy", func(*state, string) error { return nil }),                                         // there is no proxy
		{long: "tlsv1.2", flag: nothing}, {long: "tlsv1", flag: nothing}, {long: "ssl-reqd", flag: nothing}, // never less
	}
}

// protocols reads --proto: "=https", "-all,https", "https".
func protocols(v string) (string, error) {
	on := map[string]bool{"http": true, "https": true}
	for i, p := range strings.Split(v, ",") {
		set := true
		for p != "" && strings.IndexByte("+-=", p[0]) >= 0 {
			switch p[0] {
			case '-':
				set = false
			case '=':
				if i == 0 {
					clear(on)
				}
			}
			p = p[1:]
		}
		switch p {
		case "http", "https":
			on[p] = set
		case "all":
			on["http"], on["https"] = set, set
		}
	}
	s := ""
	if on["http"] {
		s = "h"
	}
	if on["https"] {
		s += "s"
	}
	return s, nil
}
