package wget

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

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
