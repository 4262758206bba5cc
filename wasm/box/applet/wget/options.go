package wget

import (
	"errors"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// table lists the options. Those that could not do here what they say are
// refused with the reason; all others are unknown.
func (s *state) table() []applet.Opt {
	str, flag, do, fn := applet.String, applet.Bool, applet.Do, applet.Func
	nothing := func() {}
	refuse := func(short rune, name, why string) applet.Opt {
		return applet.Try(func() error { return errors.New("--" + name + ": refused: " + why) }, short, name)
	}
	refuseArg := func(name, why string) applet.Opt {
		return fn(func(string) error { return errors.New("--" + name + ": refused: " + why) }, 0, name)
	}
	body := func(v string) error { s.data = []byte(v); return nil }
	post := func(f func(string) error) func(string) error {
		return func(v string) error { s.method = "POST"; return f(v) }
	}
	file := func(v string) error { s.dataFile, s.data = v, []byte{}; return nil }
	login := func(v string) error { s.user = v; return nil }
	pass := func(v string) error { s.password = v; return nil }
	var ignored time.Duration // each of them is bounded by the whole
	return []applet.Opt{
		flag(&s.quiet, 'q', "quiet"), flag(&s.terse, 0, "no-verbose"), do(func() { s.quiet, s.terse = false, false }, 'v', "verbose"),
		fn(func(v string) error { // -nv, -nc, ...
			for _, c := range v {
				switch c {
				case 'v':
					s.terse = true
				case 'c':
					s.keep = true
				case 'd', 'H', 'p': // about recursion
				default:
					return errors.New("invalid option -- 'n" + string(c) + "'")
				}
			}
			return nil
		}, 'n', ""),
		flag(&s.server, 'S', "server-response"), flag(&s.spider, 0, "spider"),
		str(&s.output, 'O', "output-document"), str(&s.prefix, 'P', "directory-prefix"), str(&s.input, 'i', "input-file"), str(&s.base, 'B', "base"),
		str(&s.log, 'o', "output-file"), str(&s.append, 'a', "append-output"),
		flag(&s.resume, 'c', "continue"), flag(&s.newer, 'N', "timestamping"), flag(&s.keep, 0, "no-clobber"),
		flag(&s.byHeader, 0, "content-disposition"), flag(&s.trust, 0, "trust-server-names"), flag(&s.onError, 0, "content-on-error"),
		fn(number(&s.tries, "--tries"), 't', "tries"), fn(number(&s.redirects, "--max-redirect"), 0, "max-redirect"),
		flag(&s.refusedToo, 0, "retry-connrefused"), str(&s.retryOn, 0, "retry-on-http-error"),
		fn(seconds(&s.timeout, "--timeout"), 'T', "timeout"), fn(seconds(&s.timeout, "--read-timeout"), 0, "read-timeout"),
		fn(seconds(&ignored, "--connect-timeout"), 0, "connect-timeout"), fn(seconds(&ignored, "--dns-timeout"), 0, "dns-timeout"),
		fn(seconds(&s.wait, "--wait"), 'w', "wait"), fn(seconds(&s.waitRetry, "--waitretry"), 0, "waitretry"),
		fn(func(v string) error {
			if name, _, ok := strings.Cut(v, ":"); !ok || name == "" {
				return errors.New("--header: Invalid header " + applet.Curly(v) + ".")
			}
			s.headers = append(s.headers, v)
			return nil
		}, 0, "header"),
		str(&s.agent, 'U', "user-agent"), str(&s.referer, 0, "referer"),
		fn(login, 0, "user"), fn(pass, 0, "password"), fn(login, 0, "http-user"), fn(pass, 0, "http-password"), flag(&s.eager, 0, "auth-no-challenge"),
		fn(post(body), 0, "post-data"), fn(post(file), 0, "post-file"), fn(body, 0, "body-data"), fn(file, 0, "body-file"),
		fn(func(v string) error { s.method = strings.ToUpper(v); return nil }, 0, "method"),
		str(&s.loadJar, 0, "load-cookies"), str(&s.saveJar, 0, "save-cookies"), flag(&s.sessions, 0, "keep-session-cookies"),
		// What they ask for is so.
		do(nothing, 0, "no-directories"), do(nothing, 0, "no-host-directories"), do(nothing, 0, "no-proxy"), do(nothing, 0, "no-cache"),
		do(nothing, 0, "show-progress"), do(nothing, 0, "no-config"), do(nothing, 0, "no-hsts"), do(nothing, 0, "no-http-keep-alive"), do(nothing, 0, "no-dns-cache"),
		fn(func(string) error { return nil }, 0, "progress"), fn(func(string) error { return nil }, 0, "compression"),
		refuse(0, "no-check-certificate", "certificates are always verified (donax --ca FILE trusts another authority)"),
		refuseArg("ca-certificate", "donax --ca FILE trusts another authority"), refuseArg("certificate", "client certificates are not supported"),
		refuse('r', "recursive", "only single files are downloaded"), refuse('m', "mirror", "only single files are downloaded"),
		refuse('p', "page-requisites", "only single files are downloaded"), refuse('k', "convert-links", "only single files are downloaded"),
		refuse('b', "background", "use &"), refuse('4', "inet4-only", "donax chooses the address"), refuse('6', "inet6-only", "donax chooses the address"),
		refuseArg("bind-address", "donax connects, from its own address"), refuseArg("limit-rate", "not supported"), refuseArg("execute", "not supported: give the options themselves"),
	}
}
