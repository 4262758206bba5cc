package vfs_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// A pair drives two file systems with the same operations and compares what
// they answer.
type pair struct {
	t          testing.TB
	got, want  vfs.FS
	files      [][2]vfs.File
	log        []string
	contained  bool // got refuses symlinks that lead out: then want is not asked
	nlinkOfDir bool
}

func errno(err error) syscall.Errno {
	var e syscall.Errno
	switch {
	case err == nil, err == io.EOF:
		return 0
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrClosed):
		return syscall.EBADF
	}
	return syscall.EIO
}

// same reports whether two outcomes agree; what happened goes to the log.
func (p *pair) same(op string, got, want string, gotErr, wantErr error) {
	p.t.Helper()
	g, w := fmt.Sprintf("%s %v", got, errno(gotErr)), fmt.Sprintf("%s %v", want, errno(wantErr))
	if wantErr == nil || g != w {
		p.log = append(p.log, op+" -> "+w)
	}
	if g != w {
		p.t.Fatalf("%s:\n got %s (%v)\nwant %s (%v)\nafter:\n%s", op, g, gotErr, w, wantErr, strings.Join(p.log, "\n"))
	}
	checkError(p.t, gotErr)
}

// checkError fails unless err is of the form that the package promises.
func checkError(t testing.TB, err error) {
	t.Helper()
	if err == nil || err == io.EOF {
		return
	}
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	if _, ok := err.(syscall.Errno); !ok {
		t.Fatalf("error %#v holds no Errno", err)
	}
}

func (p *pair) both(op string, f func(vfs.FS) (string, error)) {
	p.t.Helper()
	g, gerr := f(p.got)
	if p.contained && errno(gerr) == syscall.EPERM {
		p.log = append(p.log, op+" refused")
		return
	}
	w, werr := f(p.want)
	p.same(op, g, w, gerr, werr)
}

func (p *pair) err(op string, f func(vfs.FS) error) {
	p.t.Helper()
	p.both(op, func(fsys vfs.FS) (string, error) { return "", f(fsys) })
}

func (p *pair) describe(fi fs.FileInfo, err error) (string, error) {
	if err != nil {
		return "", err
	}
	size, links := fi.Size(), nlink(fi)
	if fi.IsDir() {
		size = 0
		if !p.nlinkOfDir {
			links = 0
		}
	}
	return fmt.Sprintf("%v %d %d", fi.Mode(), size, links), nil
}

func nlink(fi fs.FileInfo) uint64 {
	if s, ok := fi.Sys().(*vfs.Stat); ok {
		return s.Nlink
	}
	return hostLinks(fi)
}

func (p *pair) open(name string, flag int, perm fs.FileMode) {
	p.t.Helper()
	g, gerr := p.got.Open(name, flag, perm)
	w, werr := p.want.Open(name, flag, perm)
	if flag&os.O_CREATE != 0 && errno(werr) == syscall.EISDIR && gerr != nil {
		gerr = werr // a link text with a slash at its end: Linux fails before it sees what else is wrong
	}
	p.same(fmt.Sprintf("open %q %#x %o", name, flag, perm), "", "", gerr, werr)
	if gerr == nil {
		p.files = append(p.files, [2]vfs.File{g, w})
	}
}

func (p *pair) file(i int, op string, f func(vfs.File) (string, error)) {
	p.t.Helper()
	if len(p.files) == 0 {
		return
	}
	fl := p.files[i%len(p.files)]
	g, gerr := f(fl[0])
	w, werr := f(fl[1])
	p.same(fmt.Sprintf("file %d %s", i%len(p.files), op), g, w, gerr, werr)
}

func (p *pair) close(i int) {
	if len(p.files) == 0 {
		return
	}
	i %= len(p.files)
	p.file(i, "close", func(f vfs.File) (string, error) { return "", f.Close() })
	p.files = append(p.files[:i], p.files[i+1:]...)
}

func (p *pair) closeAll() {
	for len(p.files) > 0 {
		p.close(0)
	}
}

// dump describes a whole tree.
func (p *pair) dump(fsys vfs.FS, name string) (string, error) {
	fi, err := fsys.Lstat(name)
	d, err := p.describe(fi, err)
	if err != nil {
		return "", err
	}
	out := name + " " + d + "\n"
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		target, err := fsys.Readlink(name)
		return out + "-> " + target + "\n", err
	case fi.IsDir():
		names, err := list(fsys, name)
		if err != nil {
			return "", err
		}
		for _, n := range names {
			sub, err := p.dump(fsys, path.Join(name, n))
			if err != nil {
				return "", err
			}
			out += sub
		}
		return out, nil
	}
	text, err := read(fsys, name)
	return out + fmt.Sprintf("%d %x %.40q\n", len(text), sha256.Sum256([]byte(text)), text), err
}

func list(fsys vfs.FS, name string) ([]string, error) {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ents, err := f.ReadDir(-1)
	var names []string
	for _, e := range ents {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	return names, err
}

func (p *pair) compareTrees() {
	p.t.Helper()
	p.both("tree", func(fsys vfs.FS) (string, error) { return p.dump(fsys, "/") })
}

// run decodes a program for a pair from bytes.
func (p *pair) run(prog []byte) {
	if len(prog) > 0 && prog[0]&1 == 0 {
		for _, d := range []string{"/a", "/b", "/a/b", "/a/b/c"} {
			p.err("mkdir "+d, func(f vfs.FS) error { return f.Mkdir(d, 0o755) })
		}
	}
	next := func() int {
		if len(prog) == 0 {
			return 0
		}
		b := prog[0]
		prog = prog[1:]
		return int(b)
	}
	elems := []string{"a", "b", "c", "d"}
	name := func() string {
		b := next()
		s := "/" + elems[b&3]
		if b&0x40 != 0 {
			s += "/" + elems[b>>2&3]
		}
		if b&0xc0 == 0xc0 {
			s += "/" + elems[b>>4&3]
		}
		if b&0x80 != 0 && b&0x40 == 0 { // the odd forms
			s += []string{"", "/", "/.", "/..", "/../" + elems[b>>2&3], "//" + elems[b>>2&3], "/./" + elems[b>>2&3], "/" + elems[b>>2&3] + "/.."}[b>>3&7]
		}
		return s
	}
	targets := []string{"a", "b", "c/d", "./a", "../a", "/a", "/b/c", "..", "a/b/", ".", "../..", "b/../c", "/"}
	for steps := 0; len(prog) > 0 && steps < 200; steps++ {
		switch op := next(); op % 20 {
		case 0, 1:
			n, perm := name(), fs.FileMode(0o700|next()&0o77)
			p.err(fmt.Sprintf("mkdir %q %o", n, perm), func(f vfs.FS) error { return f.Mkdir(n, perm) })
		case 2:
			n := name()
			p.err(fmt.Sprintf("remove %q", n), func(f vfs.FS) error { return f.Remove(n) })
		case 3:
			n := name()
			p.err(fmt.Sprintf("rmdir %q", n), func(f vfs.FS) error { return f.Rmdir(n) })
		case 4, 5:
			a, b := name(), name()
			p.err(fmt.Sprintf("rename %q %q", a, b), func(f vfs.FS) error { return f.Rename(a, b) })
		case 6:
			a, b := name(), name()
			p.err(fmt.Sprintf("link %q %q", a, b), func(f vfs.FS) error { return f.Link(a, b) })
		case 7, 8:
			a, b := targets[next()%len(targets)], name()
			p.err(fmt.Sprintf("symlink %q %q", a, b), func(f vfs.FS) error { return f.Symlink(a, b) })
		case 9:
			n, mode := name(), fs.FileMode(0o700|next()&0o77)
			p.err(fmt.Sprintf("chmod %q %o", n, mode), func(f vfs.FS) error { return f.Chmod(n, mode) })
		case 10:
			n, tm := name(), time.Unix(int64(next()), 5000)
			p.both(fmt.Sprintf("chtimes %q", n), func(f vfs.FS) (string, error) {
				if err := f.Chtimes(n, time.Time{}, tm); err != nil {
					return "", err
				}
				fi, err := f.Stat(n)
				if err != nil {
					return "", err
				}
				return fi.ModTime().UTC().String(), nil
			})
		case 11:
			n := name()
			p.both(fmt.Sprintf("lstat %q", n), func(f vfs.FS) (string, error) { return p.describe(f.Lstat(n)) })
			p.both(fmt.Sprintf("stat %q", n), func(f vfs.FS) (string, error) { return p.describe(f.Stat(n)) })
			p.both(fmt.Sprintf("readlink %q", n), func(f vfs.FS) (string, error) { return f.Readlink(n) })
		case 12:
			n := name()
			p.both(fmt.Sprintf("list %q", n), func(f vfs.FS) (string, error) {
				names, err := list(f, n)
				return strings.Join(names, " "), err
			})
		case 13, 14:
			b := next()
			flag := []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR}[b&3]
			for i, bit := range []int{os.O_CREATE, os.O_EXCL, os.O_APPEND, os.O_TRUNC, vfs.NoFollow} {
				if b>>(2+i)&1 != 0 {
					flag |= bit
				}
			}
			if flag&3 == os.O_RDONLY {
				flag &^= os.O_TRUNC
			}
			if flag&os.O_CREATE == 0 {
				flag &^= os.O_EXCL
			}
			p.open(name(), flag, fs.FileMode(0o600|next()&0o77))
		case 15:
			i, data := next(), []byte(strings.Repeat(string(rune('a'+next()%26)), next()%40+1))
			p.file(i, "write "+string(data), func(f vfs.File) (string, error) {
				n, err := f.Write(data)
				return fmt.Sprint(n), err
			})
		case 16:
			i, n := next(), next()
			p.file(i, "read", func(f vfs.File) (string, error) {
				b := make([]byte, n)
				k, err := io.ReadFull(f, b)
				if err == io.ErrUnexpectedEOF {
					err = nil
				}
				return fmt.Sprintf("%q", b[:k]), err
			})
		case 17:
			i, off, whence := next(), int64(next())-20, next()%3
			p.file(i, fmt.Sprintf("seek %d %d", off, whence), func(f vfs.File) (string, error) {
				if fi, err := f.Stat(); err != nil || fi.IsDir() {
					return "dir", err
				}
				n, err := f.Seek(off, whence)
				return fmt.Sprint(n), err
			})
		case 18:
			i, size := next(), int64(next())*600
			p.file(i, fmt.Sprintf("truncate %d", size), func(f vfs.File) (string, error) { return "", f.Truncate(size) })
		case 19:
			if i := next(); i&1 == 0 {
				p.close(i >> 1)
			} else {
				p.file(i>>1, "stat", func(f vfs.File) (string, error) { return p.describe(f.Stat()) })
			}
		}
	}
	p.compareTrees()
	p.closeAll()
	p.compareTrees()
}
