package curl

import (
	"encoding/base64"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

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
