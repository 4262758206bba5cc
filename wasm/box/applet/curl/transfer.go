package curl

import (
	"encoding/base64"
	"errors"
	"io"
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

// request sends a request and shows the head of its response. first is where
// the transfer began: what is secret is for that server only.
func (t *transfer) request(first weburl.URL, from string) error {
	r := applet.WebRequest{Method: t.method, URL: t.url.String(), From: from, Connect: t.connect}
	if t.options.method != "" {
		r.Method = t.options.method
	}
	if t.timeout > 0 {
		if r.Timeout = t.timeout - time.Since(t.began); r.Timeout <= 0 {
			return t.late()
		}
	}
	kind, err := t.payload(&r)
	if err != nil {
		return err
	}
	if r.File != nil && io.Reader(r.File) != t.c.Stdin {
		defer r.File.Close()
	}
	r.Header = t.fields(kind, from, t.trusted || t.url.Same(first), &r)
	t.sent = r.Header
	if t.verbose {
		t.showRequest(r)
	}
	start := time.Now()
	res, err := t.c.Fetch(r)
	if err != nil {
		return t.failed(err, time.Since(start))
	}
	if t.res = res; r.Data != nil {
		t.up = int64(len(r.Data))
	} else if r.File != nil {
		t.up = max(0, r.Size)
	}
	if t.jar != nil {
		for i := 0; i+1 < len(res.Header); i += 2 {
			if strings.EqualFold(res.Header[i], "Set-Cookie") {
				t.jar.Set(t.url, res.Header[i+1], time.Now())
			}
		}
	}
	return t.showHead()
}

// payload is the body of a request, with its type.
func (t *transfer) payload(r *applet.WebRequest) (kind string, err error) {
	switch {
	case !t.body || t.head:
	case t.uploads:
		r.File, r.Size, err = t.openUpload()
	case len(t.form) > 0:
		r.Data, kind, err = t.multipart()
	case t.posts && !t.get:
		r.Data, kind = t.data, "application/x-www-form-urlencoded"
		if r.Data == nil {
			r.Data = []byte{}
		}
		if t.json {
			kind = "application/json"
		}
	}
	return kind, err
}

// fields are the head of a request: what curl sends, changed by -H.
func (t *transfer) fields(kind, from string, secrets bool, r *applet.WebRequest) (list []string) {
	own := map[string]bool{}
	var custom []string
	for _, h := range t.headers {
		name, value, ok := strings.Cut(h, ":")
		value = strings.TrimSpace(value)
		if !ok {
			if name, ok = strings.CutSuffix(h, ";"); !ok {
				continue // curl, too, sends no such line
			}
		}
		lower := strings.ToLower(name)
		own[lower] = true
		switch {
		case value == "" && strings.Contains(h, ":"):
			continue
		case lower == "connection", lower == "keep-alive", lower == "expect", lower == "content-length":
			continue // of the connection, which is donax's
		case lower == "transfer-encoding":
			if strings.EqualFold(value, "chunked") {
				if r.File != nil {
					r.Size = -1
				}
				continue
			}
		case !secrets && (lower == "authorization" || lower == "cookie" || lower == "host"):
			continue
		}
		custom = append(custom, name, value)
	}
	add := func(name, value string) {
		if value != "" && !own[strings.ToLower(name)] {
			list = append(list, name, value)
		}
	}
	switch {
	case !secrets:
	case t.bearer != "":
		add("Authorization", "Bearer "+t.bearer)
	case t.login != "":
		login := t.login
		if !strings.Contains(login, ":") {
			login += ":"
		}
		add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login)))
	}
	add("Range", t.ranges())
	agent := "curl/" + version
	if t.hasAgent {
		agent = t.agent
	}
	add("User-Agent", agent)
	if t.json {
		add("Accept", "application/json")
	} else {
		add("Accept", "*/*")
	}
	if t.compressed {
		add("Accept-Encoding", "deflate, gzip")
	}
	if t.autoReferer && from != "" {
		add("Referer", from)
	} else {
		add("Referer", t.referer)
	}
	var cookies []string
	if t.jar != nil {
		cookies = t.jar.Header(t.url, time.Now())
	}
	if secrets {
		cookies = append(cookies, t.cookies...)
	}
	add("Cookie", strings.Join(cookies, "; "))
	add("Content-Type", kind)
	return append(list, custom...)
}

// ranges is the value of Range.
func (t *transfer) ranges() string {
	switch {
	case t.file.at > 0:
		return "bytes=" + strconv.FormatInt(t.file.at, 10) + "-"
	case t.rangeOf != "":
		return "bytes=" + t.rangeOf
	}
	return ""
}

// header returns the last response's first field of a name.
func (t *transfer) header(name string) string {
	if t.res == nil {
		return ""
	}
	for i := 0; i+1 < len(t.res.Header); i += 2 {
		if strings.EqualFold(t.res.Header[i], name) {
			return t.res.Header[i+1]
		}
	}
	return ""
}

// failed words a failure as curl does.
func (t *transfer) failed(err error, after time.Duration) error {
	var we *applet.WebError
	if !errors.As(err, &we) {
		return fatal{56, applet.Reason(err)}
	}
	host := strings.Trim(t.url.Host, "[]")
	failed := "Failed to connect to " + host + " port " + t.url.DialPort()
	switch we.Kind {
	case applet.WebInvalid:
		return fatal{3, we.Msg}
	case applet.WebUnsupported:
		return fatal{1, we.Msg}
	case applet.WebDenied:
		return fatal{7, failed + ": " + we.Msg}
	case applet.WebUnresolved:
		return fatal{6, "Could not resolve host: " + host}
	case applet.WebUnreachable:
		return fatal{7, failed + " after " + millis(after) + " ms: Couldn't connect to server"}
	case applet.WebTimeout:
		return t.late()
	case applet.WebUntrusted:
		return fatal{60, "SSL certificate problem: " + we.Msg}
	case applet.WebHandshake:
		return fatal{35, we.Msg}
	case applet.WebTooLarge:
		return fatal{63, we.Msg}
	case applet.WebEmpty:
		return fatal{52, "Empty reply from server"}
	}
	return fatal{56, we.Msg}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// late is the end of the time.
func (t *transfer) late() error {
	bytes := strconv.FormatInt(t.down, 10)
	if n := t.length(); n >= 0 {
		bytes += " out of " + strconv.FormatInt(n, 10)
	}
	return fatal{28, "Operation timed out after " + millis(time.Since(t.began)) + " milliseconds with " + bytes + " bytes received"}
}

// length is how long the body says that it is; -1 when it does not.
func (t *transfer) length() int64 {
	n, err := strconv.ParseInt(t.header("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// receive takes the body of the last response.
func (t *transfer) receive() error {
	status := t.res.Status
	bad := status >= 400 && (t.fail || t.failBody)
	returned := fatal{22, "The requested URL returned error: " + itoa(status)}
	switch {
	case bad && t.fail && !t.failBody:
		return returned
	case t.file.at > 0 && status == 416:
		return nil // all of it is there
	case t.file.at > 0 && status != 206 && status < 400:
		return fatal{33, "HTTP server doesn't seem to support byte ranges. Cannot resume."}
	case t.maxSize > 0 && t.length() > t.maxSize:
		return fatal{63, "Maximum file size exceeded"}
	case t.head:
		return t.file.touch(t)
	}
	var in io.Reader = &meter{t: t, r: t.res.Body}
	if t.compressed {
		in = decoded(in, t.header("Content-Encoding"))
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if err := t.file.put(t, buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return t.cut(err)
		}
	}
	if err := t.file.touch(t); err != nil {
		return err
	}
	if bad {
		return returned
	}
	return nil
}

// meter counts and bounds what comes.
type meter struct {
	t *transfer
	r io.Reader
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.t.down += int64(n); m.t.maxSize > 0 && m.t.down > m.t.maxSize {
		return 0, fatal{63, "Exceeded the maximum allowed file size (" + strconv.FormatInt(m.t.maxSize, 10) + ")"}
	}
	return n, err
}

// cut words the early end of a body.
func (t *transfer) cut(err error) error {
	var we *applet.WebError
	var f fatal
	switch {
	case errors.As(err, &f):
		return f
	case !errors.As(err, &we):
		return fatal{61, "Error while processing content unencoding: " + err.Error()}
	case we.Kind == applet.WebTimeout:
		return t.late()
	case we.Kind == applet.WebTooLarge:
		return fatal{63, we.Msg + " (raise with donax --net-limit)"}
	case t.length() > t.down:
		return fatal{18, "transfer closed with " + strconv.FormatInt(t.length()-t.down, 10) + " bytes remaining to read"}
	case strings.EqualFold(t.header("Transfer-Encoding"), "chunked"):
		return fatal{18, "transfer closed with outstanding read data remaining"}
	}
	return fatal{56, "Recv failure: Connection reset by peer"}
}
