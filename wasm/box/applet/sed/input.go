package sed

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// input reads lines from one file after the other, one line ahead, so that $
// is known.
type input struct {
	e      *editor
	names  []string
	name   string // of the file being read
	line   int
	r      io.Reader
	f      *os.File
	buf    []byte
	from   int
	to     int
	atEOF  bool
	peeked []byte // read of standard input to know whether it has a line
	edit   *edit
}

// edit is a file being edited in place.
type edit struct {
	name string // as given
	path string // what is replaced
	temp *os.File
	mode fs.FileMode
}

const bufSize = 64 << 10

// fill makes sure that a whole line is in the buffer and returns where it
// ends and whether its separator is there; ok is false at the end of the file.
func (in *input) fill() (end int, sep, ok bool, err error) {
	scanned := in.from
	for {
		if i := bytes.IndexByte(in.buf[scanned:in.to], in.e.sep); i >= 0 {
			return scanned + i, true, true, nil
		}
		scanned = in.to
		if in.atEOF {
			return in.to, false, in.to > in.from, nil
		}
		if in.from > 0 {
			copy(in.buf, in.buf[in.from:in.to])
			in.to -= in.from
			scanned -= in.from
			in.from = 0
		}
		if in.to == len(in.buf) {
			in.buf = append(in.buf, make([]byte, max(len(in.buf), bufSize))...)
		}
		limit := len(in.buf)
		n, err := in.r.Read(in.buf[in.to:limit])
		in.to += n
		if err == io.EOF {
			in.atEOF = true
		} else if err != nil {
			return 0, false, false, err
		}
	}
}

// next appends the next line to dst. chomped tells that it had its separator.
func (in *input) next(dst []byte) (line []byte, chomped, ok bool) {
	in.e.replaced = false // for t
	for {
		if in.r == nil && !in.open() {
			return dst, false, false
		}
		end, sep, ok, err := in.fill()
		if err != nil {
			in.e.warn("read error on ", in.name, ": ", applet.Reason(err))
			in.e.status = badInput
		}
		if !ok {
			in.closeFile()
			continue
		}
		dst = append(dst, in.buf[in.from:end]...)
		in.from = end
		if sep {
			in.from++
		}
		in.line++
		return dst, sep, true
	}
}

// last tells whether no line follows.
func (in *input) last() bool {
	for {
		if in.r != nil {
			if _, _, ok, err := in.fill(); ok && err == nil {
				return false
			}
			if in.e.o.separate {
				return true
			}
			// Only in.open may move on to another file: $ looks past the end of
			// this one.
			return !in.more()
		}
		return !in.more()
	}
}

// more tells whether a later file has a line.
func (in *input) more() bool {
	for len(in.names) > 0 {
		name := in.names[0]
		if name == "-" {
			if in.peeked == nil {
				b := make([]byte, bufSize)
				n, _ := io.ReadAtLeast(in.e.c.Stdin, b, 1)
				in.peeked = b[:n]
			}
			if len(in.peeked) > 0 {
				return true
			}
		} else if fi, err := os.Stat(name); err != nil {
			in.complain(name, err)
		} else if fi.IsDir() {
			return true
		} else if !fi.Mode().IsRegular() || fi.Size() > 0 {
			return true
		}
		in.names = in.names[1:]
	}
	return false
}

func (in *input) complain(name string, err error) {
	if err != nil {
		in.e.status = badInput
		in.e.warn("can't read ", name, ": ", applet.Reason(err))
	} else {
		in.e.fatal = panicked
		in.e.warn("read error on ", name, ": Is a directory")
	}
}

// open opens the next file.
func (in *input) open() bool {
	for len(in.names) > 0 {
		name := in.names[0]
		in.names = in.names[1:]
		in.from, in.to, in.atEOF = 0, 0, false
		if name == "-" && !in.e.o.inPlace {
			in.r, in.name = in.e.c.Stdin, "-"
			if in.peeked != nil {
				in.r = io.MultiReader(bytes.NewReader(in.peeked), in.r)
				in.peeked = nil
			}
			in.start()
			return true
		}
		if in.e.o.inPlace {
			if fi, err := os.Stat(name); err != nil {
				in.complain(name, err)
				continue
			} else if !fi.Mode().IsRegular() {
				in.e.warn("couldn't edit ", name, ": not a regular file")
				in.e.status = panicked
				continue
			}
		}
		f, err := os.Open(name)
		if err != nil {
			in.complain(name, err)
			continue
		}
		if fi, err := f.Stat(); err == nil && fi.IsDir() {
			f.Close()
			in.complain(name, nil)
			return false
		}
		in.f, in.r, in.name = f, f, name
		if in.e.o.inPlace {
			if err := in.startEdit(name); err != nil {
				in.e.warn("couldn't open temporary file for ", name, ": ", applet.Reason(err))
				in.e.status = panicked
				f.Close()
				in.r, in.f = nil, nil
				in.names = nil
				return false
			}
		}
		in.start()
		return true
	}
	return false
}

// start begins a file: separate ones number their lines anew, and find nothing
// in the hold space.
func (in *input) start() {
	if in.e.o.separate {
		in.line = 0
		in.e.hold, in.e.held = in.e.hold[:0], true
		for i := range in.e.prog {
			c := &in.e.prog[i]
			c.state = rangeOff
			if c.a1.kind == addrLine && c.a1.n == 0 {
				c.state = rangeOn
			}
		}
	}
}

func (in *input) closeFile() {
	if in.f != nil {
		in.f.Close()
	}
	in.f, in.r = nil, nil
	if in.edit != nil {
		in.finishEdit()
	}
}

// startEdit makes the file that will take the place of name, in the same
// folder, so that the old one stands until the new one is whole.
func (in *input) startEdit(name string) error {
	path := name
	if in.e.o.follow {
		if p, err := filepath.EvalSymlinks(name); err == nil {
			path = p
		}
	}
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "sed")
	if err != nil {
		return err
	}
	in.edit = &edit{name: name, path: path, temp: temp, mode: fi.Mode().Perm()}
	in.e.out = newFileOutput(temp, in.e.sep)
	return nil
}

// finishEdit puts the new file in place of the old one.
func (in *input) finishEdit() {
	ed := in.edit
	in.edit = nil
	err := in.e.out.flush()
	in.e.out = in.e.stdout
	if e := ed.temp.Close(); err == nil {
		err = e
	}
	if err == nil {
		// A file system without modes refuses: the file is then as it makes them.
		os.Chmod(ed.temp.Name(), ed.mode)
		if s := in.e.o.suffix; s != "" {
			err = os.Rename(ed.path, backupName(ed.path, s))
		}
	}
	if err == nil {
		err = os.Rename(ed.temp.Name(), ed.path)
	}
	if err != nil {
		os.Remove(ed.temp.Name())
		in.e.warn("couldn't edit ", ed.name, ": ", applet.Reason(err))
		in.e.fatal = panicked
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			in.e.warn("the file is as it was")
		}
	}
}

// abandon drops an edit that is not finished: the file stays as it was.
func (in *input) abandon() {
	if in.edit != nil {
		in.edit.temp.Close()
		os.Remove(in.edit.temp.Name())
		in.edit = nil
	}
}

// backupName is the copy's name: the suffix, or with * in it a pattern for
// the name, perhaps in another folder.
func backupName(path, suffix string) string {
	dir, base := filepath.Split(path)
	if strings.Contains(suffix, "*") {
		base = strings.ReplaceAll(suffix, "*", base)
	} else {
		base += suffix
	}
	if strings.Contains(base, "/") {
		return base
	}
	return dir + base
}
