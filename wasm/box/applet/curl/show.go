package curl

import (
	"io"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// statusLine is the first line of the last response.
func (t *transfer) statusLine() string {
	line := t.res.Proto
	if strings.HasPrefix(line, "HTTP/2") {
		line = "HTTP/2"
	}
	return line + " " + itoa(t.res.Status) + " " + t.res.Reason
}

// showHead shows the head of a response where it is wanted.
func (t *transfer) showHead() error {
	var b strings.Builder
	lines := []string{t.statusLine()}
	for i := 0; i+1 < len(t.res.Header); i += 2 {
		lines = append(lines, t.res.Header[i]+": "+t.res.Header[i+1])
	}
	for _, l := range append(lines, "") {
		b.WriteString(l + "\r\n")
		if t.verbose {
			t.note("< " + l)
		}
	}
	t.heads += int64(b.Len())
	if t.dump != "" {
		if err := t.dumpHead(b.String()); err != nil {
			return err
		}
	}
	if t.include || t.head {
		return t.file.put(t, []byte(b.String()))
	}
	return nil
}

// dumpHead writes a head to the file of -D.
func (t *transfer) dumpHead(text string) error {
	if t.dump == "-" {
		_, err := io.WriteString(t.c.Stdout, text)
		return err
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if t.dumped {
		flag = os.O_WRONLY | os.O_APPEND
	}
	f, err := os.OpenFile(t.dump, flag, 0o644)
	if err == nil {
		t.dumped = true
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		t.warn("Failed to open " + t.dump)
		return errWrite
	}
	return nil
}

// showRequest is what -v says before a request.
func (t *transfer) showRequest(r applet.WebRequest) {
	host := t.url.Host
	if t.url.Port != "" {
		host += ":" + t.url.Port
	}
	t.note("> " + r.Method + " " + t.url.Path + t.url.Query + " HTTP/1.1")
	t.note("> Host: " + host)
	for i := 0; i+1 < len(r.Header); i += 2 {
		t.note("> " + r.Header[i] + ": " + r.Header[i+1])
	}
	if r.Data != nil {
		t.note("> Content-Length: " + itoa(len(r.Data)))
	}
	t.note("> ")
}
