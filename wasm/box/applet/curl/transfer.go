package curl

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

// transfer is what becomes of one URL.
type transfer struct {
	*state
	given string
	index int
	out   output

	url      weburl.URL // where it is now
	login    string     // user and password
	method   string
	body     bool // is still sent: a redirect may have dropped it
	hops     int
	began    time.Time
	redirect time.Duration // spent before the last request
	res      *applet.WebResponse
	sent     []string // names and values of the last request
	up       int64    // bytes of the body sent
	down     int64    // bytes of the body received
	heads    int64    // bytes of the heads received
	next     string   // where a redirect would lead
	file     *sink
	err      *fatal
}

// run makes the transfer, again when it failed in a way that may pass.
func (t *transfer) run() int {
	tries, delay, began := t.retry, t.retryDelay, time.Now()
	wait := time.Second
	for {
		t.once()
		why := t.transient()
		if why == "" || tries == 0 || t.retryMax > 0 && time.Since(began) > t.retryMax {
			break
		}
		d := delay
		if d == 0 {
			d, wait = wait, min(2*wait, 10*time.Minute)
			if n, err := strconv.Atoi(t.header("Retry-After")); err == nil && n > 0 {
				d = time.Duration(n) * time.Second
			}
		}
		left := itoa(tries) + " retries left."
		if tries == 1 {
			left = "1 retry left."
		}
		t.warn("Problem: " + why + ". Will retry in " + itoa(int(d/time.Second)) + " seconds. " + left)
		tries--
		pause(d)
	}
	if t.err != nil {
		t.complain(*t.err)
	}
	t.report()
	t.c.Flush()
	if t.err != nil {
		return t.err.code
	}
	return 0
}

// transient says why the transfer may be tried again.
func (t *transfer) transient() string {
	switch {
	case t.err == nil && t.res == nil:
		return ""
	case t.err != nil && t.err.code == 28:
		return "timeout"
	case t.err != nil && t.err.code == 7 && t.retryRefused:
		return "connection refused"
	case t.res != nil && (t.err == nil || t.err.code == 22):
		switch t.res.Status {
		case 408, 429, 500, 502, 503, 504:
			return "HTTP error"
		}
	}
	if t.err != nil && t.retryAll {
		return "(retrying all errors)"
	}
	return ""
}

// once makes the transfer once.
func (t *transfer) once() {
	*t = transfer{state: t.state, given: t.given, index: t.index, out: t.out, began: time.Now()}
	var f fatal
	if err := t.work(); errors.As(err, &f) {
		t.err = &f
	} else if err != nil {
		t.err = &fatal{23, err.Error()}
	}
	if t.res != nil {
		t.res.Body.Close()
	}
	if t.file != nil {
		t.file.finish(t)
	}
}

func (t *transfer) work() error {
	u, err := parse(t.given)
	if err != nil {
		return err
	}
	if !t.allows(t.proto, u) {
		return fatal{1, "Protocol \"" + u.Scheme + "\" not supported or disabled in libcurl"}
	}
	t.url, t.body = u, true
	if t.login = t.user; u.Login && t.user == "" {
		t.login = u.User + ":" + u.Password
	}
	if t.uploads && strings.HasSuffix(t.url.Path, "/") && t.upload != "-" && t.upload != "." {
		t.url.SetPath(t.url.Path + weburl.Percent(applet.Base(t.upload)) + t.url.Query)
	}
	for _, q := range t.urlQuery {
		addQuery(&t.url, q)
	}
	if t.get && t.posts {
		addQuery(&t.url, weburl.ASCII(string(t.data)))
	}
	t.method = t.wanted()
	if t.file, err = newSink(t); err != nil {
		return err
	}
	first, from := t.url, ""
	for {
		if err := t.request(first, from); err != nil {
			return err
		}
		to := t.header("Location")
		if t.res.Status < 300 || t.res.Status > 399 || to == "" {
			break
		}
		next, err := follow(t.url, to)
		if t.next = to; err == nil {
			t.next = next.String()
		}
		if !t.location {
			break
		}
		if t.maxRedirs >= 0 && t.hops >= t.maxRedirs {
			return fatal{47, "Maximum (" + itoa(t.maxRedirs) + ") redirects followed"}
		}
		if err != nil {
			return err
		}
		if !t.allows(t.protoRedir, next) {
			return fatal{1, "Protocol \"" + next.Scheme + "\" not supported or disabled in libcurl"}
		}
		t.turn()
		t.res.Body.Close()
		from, t.url, t.next = t.url.String(), next, ""
		t.hops++
		t.redirect = time.Since(t.began)
	}
	return t.receive()
}

// allows asks --proto.
func (t *transfer) allows(list string, u weburl.URL) bool {
	return strings.Contains(list, map[string]string{"http": "h", "https": "s"}[u.Scheme])
}

func addQuery(u *weburl.URL, q string) {
	if u.Query == "" {
		u.Query = "?" + q
	} else {
		u.Query += "&" + q
	}
}

// parse and follow word errors as curl does.
func parse(raw string) (weburl.URL, error) {
	u, err := weburl.Parse(raw)
	return u, worded(err)
}

func follow(u weburl.URL, to string) (weburl.URL, error) {
	next, err := u.Follow(to)
	return next, worded(err)
}

func worded(err error) error {
	var p weburl.ProtocolError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p):
		return fatal{1, "Protocol \"" + string(p) + "\" not supported or disabled in libcurl"}
	}
	return fatal{3, "URL using bad/illegal format or missing URL"}
}

// wanted is the method without -X.
func (t *transfer) wanted() string {
	switch {
	case t.head:
		return "HEAD"
	case !t.body:
		return "GET"
	case t.uploads:
		return "PUT"
	case len(t.form) > 0, t.posts && !t.get:
		return "POST"
	}
	return "GET"
}

// turn changes the method as a redirect asks for (RFC 9110, section 15.4).
func (t *transfer) turn() {
	switch code := t.res.Status; {
	case code >= 301 && code <= 303 && t.method == "POST" && !t.keepPost[code-300],
		code == 303 && t.method != "HEAD" && t.method != "POST":
		t.body = false
		t.method = t.wanted()
	}
}
