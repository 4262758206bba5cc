package curl

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// sink is where a body goes: the standard output, or a file that is made when
// the first of it comes.
type sink struct {
	s    *state
	name string // "" means the standard output
	head bool   // the name may come from the response's head
	at   int64  // bytes that are there already
	f    *os.File
}

func newSink(t *transfer) (*sink, error) {
	k := &sink{s: t.state, name: t.out.name}
	switch {
	case t.out.remote:
		k.name, k.head = t.url.File(), t.remoteHeader
		if k.name == "" && !k.head {
			t.note("curl: Remote file name has no length!")
			return nil, fatal{23, "Failed writing received data to disk/application"}
		}
	case k.name == "-":
		k.name = ""
	}
	if t.resumes {
		if k.at = t.resume; k.at < 0 {
			k.at = 0
			if name, err := t.place(k.name); err == nil && k.name != "" {
				if fi, err := os.Stat(name); err == nil {
					k.at = fi.Size()
				}
			}
		}
	}
	return k, nil
}

var errWrite = fatal{23, "Failure writing output to destination"}

// open makes the file.
func (k *sink) open(t *transfer) error {
	if k.head {
		if name := disposition(t.header("Content-Disposition")); name != "" {
			k.name = name
		}
		if k.name == "" {
			return errWrite
		}
	}
	name, err := k.s.place(k.name)
	if err != nil {
		k.s.warn("Failed to create the directory: " + applet.Reason(err))
		return errWrite
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	switch {
	case k.head || k.s.noClobber: // what a server chose replaces nothing
		flag |= os.O_EXCL
	case k.at > 0:
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	k.f, err = os.OpenFile(name, flag, 0o644)
	for i := 1; k.s.noClobber && !k.head && errors.Is(err, syscall.EEXIST) && i < 100; i++ {
		k.f, err = os.OpenFile(name+"."+itoa(i), flag, 0o644)
	}
	if err != nil {
		k.s.warn("Failed to open the file " + name + ": " + applet.Reason(err))
		return errWrite
	}
	k.name = name
	return nil
}

// disposition is the name in a Content-Disposition, without folders.
func disposition(v string) string {
	for _, p := range strings.Split(v, ";") {
		key, name, ok := strings.Cut(strings.TrimSpace(p), "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), "filename") {
			continue
		}
		name = strings.Trim(strings.TrimSpace(name), `"'`)
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		if name = path.Base(name); name != "." && name != ".." && name != "/" {
			return name
		}
	}
	return ""
}

func (k *sink) put(t *transfer, p []byte) error {
	if k.name == "" && !k.head {
		if _, err := k.s.c.Stdout.Write(p); err != nil || k.s.c.Flush() != nil {
			return errWrite
		}
		return nil
	}
	if k.f == nil {
		if err := k.open(t); err != nil {
			return err
		}
	}
	if _, err := k.f.Write(p); err != nil {
		k.s.warn("Failed to write to " + k.name + ": " + applet.Reason(err))
		return errWrite
	}
	return nil
}

// touch makes the file of an empty body.
func (k *sink) touch(t *transfer) error {
	if k.name == "" && !k.head || k.f != nil {
		return nil
	}
	return k.open(t)
}

// finish closes the file.
func (k *sink) finish(t *transfer) {
	if k.f == nil {
		return
	}
	k.f.Close()
	switch {
	case t.err != nil && k.s.removeBad:
		os.Remove(k.name)
	case k.s.remoteTime:
		if when, err := time.Parse(time.RFC1123, t.header("Last-Modified")); err == nil {
			os.Chtimes(k.name, when, when)
		}
	}
}

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

// maxDecoded bounds what a compressed body may become.
const maxDecoded = 256 << 20

// decoded undoes a Content-Encoding.
func decoded(r io.Reader, encoding string) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "gzip", "x-gzip", "deflate":
		return &decoder{from: bufio.NewReaderSize(r, 32<<10), gzip: encoding != "deflate"}
	}
	return r
}

// decoder begins when it is read.
type decoder struct {
	from *bufio.Reader
	gzip bool
	r    io.Reader
	n    int64
}

func (d *decoder) Read(p []byte) (int, error) {
	if d.r == nil {
		first, err := d.from.Peek(2)
		if len(first) == 0 {
			return 0, err
		}
		switch {
		case d.gzip:
			d.r, err = gzip.NewReader(d.from)
		case len(first) == 2 && first[0]&0x0f == 8 && (int(first[0])<<8|int(first[1]))%31 == 0:
			d.r, err = zlib.NewReader(d.from)
		default: // what some servers call deflate
			d.r, err = flate.NewReader(d.from), nil
		}
		if err != nil {
			return 0, err
		}
	}
	n, err := d.r.Read(p)
	if d.n += int64(n); d.n > maxDecoded {
		return 0, fatal{63, "Exceeded the maximum allowed file size"}
	}
	return n, err
}
