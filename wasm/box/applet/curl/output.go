package curl

import (
	"errors"
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
