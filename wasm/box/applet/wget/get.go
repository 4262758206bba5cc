package wget

import (
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

// download is one file being downloaded.
type download struct {
	*state
	url    weburl.URL
	method string
	data   []byte // nil: none
	login  string // user:password
	proved bool   // the login is sent
	name   string // where it goes; "" for -O
	at     int64  // bytes that are there
	local  time.Time
	res    *applet.WebResponse
}

const stamp = "2006-01-02 15:04:05"

// get downloads one URL.
func (s *state) get(raw string, later bool) {
	if later && s.wait > 0 {
		time.Sleep(s.wait)
	}
	u, err := parse(raw)
	if err != nil {
		s.say(raw + ": " + err.Error())
		s.fail(exitGeneric)
		return
	}
	d := &download{state: s, url: u, method: "GET", data: s.data}
	switch {
	case s.method != "":
		d.method = s.method
	case s.spider:
		d.method = "HEAD"
	}
	if s.spider {
		s.note("Spider mode enabled. Check if remote file exists.\n")
	}
	if user := s.user + ":" + s.password; u.Login {
		d.login = u.User + ":" + u.Password
	} else if s.user != "" {
		d.login = user
	}
	d.proved = s.eager
	if !d.place(d.url) {
		return
	}
	s.fail(d.follow())
}

func parse(raw string) (weburl.URL, error) {
	raw = strings.ReplaceAll(strings.TrimSpace(raw), " ", "%20")
	u, err := weburl.Parse(raw)
	var p weburl.ProtocolError
	if errors.As(err, &p) {
		return u, errors.New("Unsupported scheme " + applet.Curly(string(p)) + ".")
	}
	if err != nil {
		return u, errors.New("Invalid host name.")
	}
	return u, nil
}

// place chooses the name of the file; false means that nothing is to be done.
func (d *download) place(u weburl.URL) bool {
	if d.out != nil || d.spider {
		if d.resume && d.output != "" && d.output != "-" {
			if fi, err := os.Stat(d.output); err == nil {
				d.at = fi.Size()
			}
		}
		return true
	}
	return d.call(fileName(u))
}

func (d *download) call(name string) bool {
	if d.prefix != "" {
		name = strings.TrimSuffix(d.prefix, "/") + "/" + name
	}
	fi, err := os.Stat(name)
	switch {
	case err != nil:
	case d.keep:
		d.note("File " + applet.Curly(name) + " already there; not retrieving.\n\n")
		return false
	case d.newer:
		d.local = fi.ModTime()
	case d.resume:
		d.at = fi.Size()
	default:
		base := name
		for i := 1; exists(name); i++ {
			name = base + "." + strconv.Itoa(i)
		}
	}
	d.name = name
	return true
}

// fileName is the name that a URL gives to its file.
func fileName(u weburl.URL) string {
	name := weburl.Decode(u.Path[strings.LastIndexByte(u.Path, '/')+1:])
	if name == "" {
		name = "index.html"
	}
	name += u.Query
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if c := name[i]; c == '/' || c < ' ' || c == 0x7f {
			b.WriteString(weburl.Percent(name[i : i+1]))
		} else {
			b.WriteByte(c)
		}
	}
	if name = b.String(); name == "." || name == ".." {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return name
}

// follow makes the requests that lead to the file, and again when they fail
// in a way that may pass.
func (d *download) follow() (code int) {
	first, from := d.url, ""
	hops, tries := 0, 0
	for {
		code, again := d.try(first, from)
		switch {
		case again == redirected:
			next, err := d.url.Follow(d.header("Location"))
			if err != nil {
				d.say(d.header("Location") + ": Unsupported scheme.")
				return exitGeneric
			}
			if hops++; hops > d.redirects {
				d.say(strconv.Itoa(d.redirects) + " redirections exceeded.")
				return exitServer
			}
			if d.res.Status != 307 && d.res.Status != 308 && d.method != "HEAD" {
				d.method, d.data = "GET", nil
			}
			from, d.url = d.url.String(), next
			if d.trust && d.out == nil && !d.spider {
				if !d.call(fileName(next)) {
					return 0
				}
			}
			continue
		case again == done:
			return code
		case again == anew: // once more, with a password or another method
			continue
		}
		if tries++; d.tries > 0 && tries >= d.tries {
			d.say("Giving up.\n")
			return exitNetwork
		}
		d.note("Retrying.\n\n")
		time.Sleep(min(time.Duration(tries)*time.Second, d.waitRetry))
	}
}

// What follows a request.
const (
	done = iota
	redirected
	anew
	retry
)

// try makes one request.
func (d *download) try(first weburl.URL, from string) (code, again int) {
	d.note("--" + time.Now().Format(stamp) + "--  " + d.url.String() + "\n")
	r := applet.WebRequest{Method: d.method, URL: d.url.String(), From: from, Data: d.data, Timeout: d.timeout}
	r.Header = d.fields(d.url.Same(first))
	d.note("Connecting to " + d.url.Host + ":" + d.url.DialPort() + "... ")
	res, err := d.c.Fetch(r)
	if err != nil {
		return d.failed(err)
	}
	defer res.Body.Close()
	d.res = res
	for i := 0; i+1 < len(res.Header); i += 2 {
		if strings.EqualFold(res.Header[i], "Set-Cookie") {
			d.jar.Set(d.url, res.Header[i+1], time.Now())
		}
	}
	d.note("connected.\nHTTP request sent, awaiting response... " + strings.TrimSpace(strconv.Itoa(res.Status)+" "+res.Reason) + "\n")
	if d.server {
		d.say("  " + res.Proto + " " + strconv.Itoa(res.Status) + " " + res.Reason)
		for i := 0; i+1 < len(res.Header); i += 2 {
			d.say("  " + res.Header[i] + ": " + res.Header[i+1])
		}
	}
	return d.answered()
}

// fields are the head of a request. What is secret is for the first server.
func (d *download) fields(secrets bool) (list []string) {
	own := map[string]bool{}
	var custom []string
	for _, h := range d.headers {
		name, value, _ := strings.Cut(h, ":")
		lower := strings.ToLower(name)
		own[lower] = true
		if value = strings.TrimSpace(value); value == "" || lower == "connection" || lower == "content-length" ||
			!secrets && (lower == "authorization" || lower == "cookie" || lower == "host") {
			continue
		}
		custom = append(custom, name, value)
	}
	add := func(name, value string) {
		if value != "" && !own[strings.ToLower(name)] {
			list = append(list, name, value)
		}
	}
	add("User-Agent", d.agent)
	add("Accept", "*/*")
	add("Accept-Encoding", "identity")
	add("Referer", d.referer)
	if d.at > 0 {
		add("Range", "bytes="+strconv.FormatInt(d.at, 10)+"-")
	}
	if !d.local.IsZero() {
		add("If-Modified-Since", d.local.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"))
	}
	if d.proved && secrets && d.login != "" {
		add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(d.login)))
	}
	add("Cookie", strings.Join(d.jar.Header(d.url, time.Now()), "; "))
	if d.data != nil {
		add("Content-Type", "application/x-www-form-urlencoded")
	}
	return append(list, custom...)
}

func (d *download) header(name string) string {
	for i := 0; i+1 < len(d.res.Header); i += 2 {
		if strings.EqualFold(d.res.Header[i], name) {
			return d.res.Header[i+1]
		}
	}
	return ""
}

// failed words a failure and says whether it may pass.
func (d *download) failed(err error) (code, again int) {
	var we *applet.WebError
	if !errors.As(err, &we) {
		d.say(applet.Reason(err))
		return exitGeneric, done
	}
	switch we.Kind {
	case applet.WebInvalid, applet.WebUnsupported:
		d.say(d.url.String() + ": " + we.Msg)
		return exitGeneric, done
	case applet.WebUnresolved:
		d.say("failed: Name or service not known.\nwget: unable to resolve host address " + applet.Curly(d.url.Host))
		return exitNetwork, done
	case applet.WebUnreachable:
		d.say("failed: " + we.Msg + ".")
		if d.refusedToo {
			return exitNetwork, retry
		}
		return exitNetwork, done
	case applet.WebUntrusted, applet.WebHandshake:
		d.say("\nERROR: cannot verify " + d.url.Host + "'s certificate: " + we.Msg)
		return exitTLS, done
	case applet.WebTimeout:
		d.say("failed: Connection timed out.")
		return exitNetwork, retry
	case applet.WebEmpty:
		d.say("No data received.")
		return exitNetwork, retry
	case applet.WebBroken:
		d.say("Read error: " + we.Msg + ".")
		return exitNetwork, retry
	}
	d.say("failed: " + we.Msg)
	return exitNetwork, done
}

// answered treats a response by its status.
func (d *download) answered() (code, again int) {
	status := d.res.Status
	switch {
	case status >= 300 && status < 400 && status != 304 && d.header("Location") != "":
		d.note("Location: " + d.header("Location") + " [following]\n")
		return 0, redirected
	case status == 401 && d.login != "" && !d.proved && strings.HasPrefix(strings.ToLower(d.header("WWW-Authenticate")), "basic"):
		d.proved = true
		d.note("Authentication selected: " + d.header("WWW-Authenticate") + "\nReusing existing connection to " + d.url.Host + ":" + d.url.DialPort() + ".\n")
		return 0, anew
	case status == 401:
		d.note("\nUsername/Password Authentication Failed.\n")
		return exitAuth, d.errorPage()
	case status == 304 && !d.local.IsZero():
		d.note("File " + applet.Curly(d.name) + " not modified on server. Omitting download.\n\n")
		return 0, done
	case status == 416 && d.at > 0:
		d.note("\n    The file is already fully retrieved; nothing to do.\n\n")
		return 0, done
	case d.spider && (status == 405 || status == 501) && d.method == "HEAD":
		d.method = "GET"
		return 0, anew
	case status == 204:
		return 0, done
	case status >= 400 || status < 200 || status >= 300:
		for _, c := range strings.Split(d.retryOn, ",") {
			if c == strconv.Itoa(status) {
				return exitServer, retry
			}
		}
		if d.spider {
			if d.note("Remote file does not exist -- broken link!!!\n\n"); d.terse {
				d.say(d.url.String() + ":\nRemote file does not exist -- broken link!!!")
			}
		} else {
			if d.terse {
				d.say(d.url.String() + ":")
			}
			d.say(time.Now().Format(stamp) + " ERROR " + strconv.Itoa(status) + ": " + d.res.Reason + ".")
			d.note("\n")
		}
		return exitServer, d.errorPage()
	case d.spider:
		if d.note("Length: " + d.lengthText() + "\nRemote file exists.\n\n"); d.terse {
			d.say(time.Now().Format(stamp) + " URL: " + d.url.String() + " " + strconv.Itoa(status) + " " + d.res.Reason)
		}
		return 0, done
	case d.at > 0 && status != 206:
		d.at = 0 // the server sends all of it: begin anew
		if d.name != "" {
			os.Remove(d.name)
		}
	}
	return d.save()
}

// errorPage saves the page of an error where that is wanted.
func (d *download) errorPage() int {
	if d.onError {
		d.save()
	}
	return done
}

func (d *download) lengthText() string {
	kind, _, _ := strings.Cut(d.header("Content-Type"), ";")
	if kind != "" {
		kind = " [" + strings.TrimSpace(kind) + "]"
	}
	if n := d.header("Content-Length"); n != "" {
		return n + kind
	}
	return "unspecified" + kind
}

// save writes the body where it goes.
func (d *download) save() (code, again int) {
	d.note("Length: " + d.lengthText() + "\n")
	w, shown := d.out, d.output
	var f *os.File
	if w == nil {
		if name := headerName(d.header("Content-Disposition")); d.byHeader && name != "" {
			if !d.call(name) {
				return 0, done
			}
		}
		if dir := path.Dir(d.name); dir != "." {
			os.MkdirAll(dir, 0o755)
		}
		flag := os.O_TRUNC
		if d.at > 0 {
			flag = os.O_APPEND
		}
		var err error
		if f, err = os.OpenFile(d.name, os.O_WRONLY|os.O_CREATE|flag, 0o644); err != nil {
			d.say(d.name + ": " + applet.Reason(err) + "\n\nCannot write to " + applet.Curly(d.name) + " (" + applet.Reason(err) + ").")
			return exitFile, done
		}
		w, shown = f, d.name
	} else if shown == "-" {
		shown = "STDOUT"
	}
	d.note("Saving to: " + applet.Curly(shown) + "\n\n")
	begun := time.Now()
	n, err := io.Copy(onlyWriter{w}, d.res.Body)
	d.c.Flush()
	if f != nil {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	total := strconv.FormatInt(d.at+n, 10)
	of := total
	if l := d.header("Content-Length"); l != "" && d.at == 0 {
		of = l
	}
	var we *applet.WebError
	switch {
	case errors.As(err, &we) && we.Kind == applet.WebTooLarge:
		d.say(we.Msg + " (raise with donax --net-limit)")
		return exitNetwork, done
	case errors.As(err, &we):
		d.note(time.Now().Format(stamp) + " - Connection closed at byte " + total + ". ")
		if d.out == nil || d.output != "-" {
			d.at += n // the next try goes on here
		}
		return exitNetwork, retry
	case err != nil:
		d.say("Cannot write to " + applet.Curly(shown) + " (" + applet.Reason(err) + ").")
		return exitFile, done
	}
	if when, err := time.Parse(time.RFC1123, d.header("Last-Modified")); err == nil && f != nil {
		os.Chtimes(d.name, when, when)
	}
	if d.terse {
		d.say(time.Now().Format(stamp) + " URL:" + d.url.String() + " [" + total + "/" + of + "] -> " + `"` + strings.Replace(shown, "STDOUT", "-", 1) + `" [1]`)
	}
	rate := strconv.FormatFloat(float64(n)/1024/max(time.Since(begun).Seconds(), 1e-6), 'f', 0, 64)
	d.note("\n" + time.Now().Format(stamp) + " (" + rate + " KB/s) - " + applet.Curly(shown) + " saved [" + total + "/" + of + "]\n\n")
	return 0, done
}

// onlyWriter hides what io.Copy could use to pass by the buffer's errors.
type onlyWriter struct{ io.Writer }

// headerName is the name in a Content-Disposition, without folders.
func headerName(v string) string {
	for _, p := range strings.Split(v, ";") {
		key, name, ok := strings.Cut(strings.TrimSpace(p), "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "filename") {
			name = strings.Trim(strings.TrimSpace(name), `"'`)
			name = name[strings.LastIndexAny(name, `/\`)+1:]
			if name != "" && name != "." && name != ".." {
				return name
			}
		}
	}
	return ""
}
