package tar

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/codec"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

// reader extracts or lists.
type reader struct {
	*archiver
	dir    string // what names are relative to
	found  []bool // which operands were there
	links  []*tar.Header
	paths  []string // of links
	times  []*tar.Header
	folder []string // of times
}

func (a *archiver) read() {
	o := a.o
	var in io.Reader = a.c.Stdin
	if o.file != "" && o.file != "-" {
		f, err := os.Open(o.file)
		if err != nil {
			a.c.Warn(o.file, ": Cannot open: ", applet.Reason(err))
			a.c.Warn("Error is not recoverable: exiting now")
			a.exit()
			return
		}
		defer f.Close()
		in = f
	}
	if o.dir != "" {
		if fi, err := os.Stat(o.dir); err != nil || !fi.IsDir() {
			if err == nil {
				err = syscall.ENOTDIR
			}
			a.c.Warn(o.dir, ": Cannot open: ", applet.Reason(err))
			a.c.Warn("Error is not recoverable: exiting now")
			a.exit()
			return
		}
	}
	r := &reader{archiver: a, dir: o.dir, found: make([]bool, len(o.operands))}
	b := bufio.NewReaderSize(in, 64<<10)
	stream, err := codec.Unpacked(b) // GNU tar finds out itself, too
	if err == nil && b.Buffered() == 0 && stream == io.Reader(b) && r.o.mode != 0 {
		err = tar.ErrHeader // nothing at all
	}
	if err == nil {
		err = r.members(tar.NewReader(stream))
	}
	if err != nil {
		switch {
		case errors.Is(err, tar.ErrHeader):
			a.fail("This does not look like a tar archive")
		case errors.Is(err, io.ErrUnexpectedEOF):
			a.fail("Unexpected EOF in archive")
			a.c.Warn("Error is not recoverable: exiting now")
		default:
			a.fail(applet.Reason(err))
		}
	}
	r.finish()
	for i, ok := range r.found {
		if !ok {
			a.fail(o.operands[i].name, ": Not found in archive")
		}
	}
}

// exit is for errors that end the command by themselves.
func (a *archiver) exit() { a.gone = true }

func (r *reader) members(tr *tar.Reader) error {
	first := true
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if first && errors.Is(err, io.ErrUnexpectedEOF) {
				return tar.ErrHeader
			}
			if !first && errors.Is(err, tar.ErrHeader) {
				r.fail("Skipping to next header")
				return nil
			}
			return err
		}
		first = false
		if h.Typeflag == tar.TypeXGlobalHeader || !r.wanted(h.Name) || r.o.excluded(h.Name) {
			continue
		}
		if r.o.mode == 't' {
			io.WriteString(r.c.Stdout, r.line(h, r.o.verbose > 0)+"\n")
			if errors.Is(r.c.Flush(), syscall.EPIPE) {
				return nil
			}
			continue
		}
		if err := r.extract(tr, h); err != nil {
			return err
		}
	}
}

func (r *reader) wanted(name string) bool {
	if len(r.o.operands) == 0 {
		return true
	}
	ok := false
	trimmed := strings.TrimSuffix(name, "/")
	for i, op := range r.o.operands {
		want := strings.TrimSuffix(op.name, "/")
		if trimmed == want || strings.HasPrefix(name, want+"/") || r.o.wildcards && glob.Match(want, trimmed, glob.Options{}) {
			r.found[i], ok = true, true
		}
	}
	return ok
}

// line is a member as -t and -v print it.
func (a *archiver) line(h *tar.Header, long bool) string {
	if !long {
		return h.Name
	}
	fi := h.FileInfo()
	mode := []byte(applet.ModeString(fi.Mode()))
	size := strconv.FormatInt(h.Size, 10)
	tail := ""
	switch h.Typeflag {
	case tar.TypeSymlink:
		mode[0], tail, size = 'l', " -> "+h.Linkname, "0"
	case tar.TypeLink:
		mode[0], tail, size = 'h', " link to "+h.Linkname, "0"
	case tar.TypeChar, tar.TypeBlock:
		size = strconv.FormatInt(h.Devmajor, 10) + "," + strconv.FormatInt(h.Devminor, 10)
	}
	user, group := h.Uname, h.Gname
	if user == "" {
		user = strconv.Itoa(h.Uid)
	}
	if group == "" {
		group = strconv.Itoa(h.Gid)
	}
	owner := user + "/" + group
	n := len(owner) + 1 + len(size)
	a.width = max(a.width, n, 19)
	zone := time.UTC
	if l, err := gnudate.Location(os.Getenv("TZ")); err == nil {
		zone = l
	}
	return string(mode) + " " + owner + strings.Repeat(" ", a.width-n+1) + size + " " + gnudate.Format("%F %H:%M", h.ModTime.In(zone)) + " " + h.Name + tail
}

// safe returns where a member goes, or "" when it is refused: a name must not
// lead out of the folder that is extracted to.
func (r *reader) safe(name string) (string, bool) {
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			r.fail(name, ": Member name contains '..'")
			return "", false
		}
	}
	if strings.HasPrefix(name, "/") {
		name = r.memberName(name)
	}
	name = path.Clean(name)
	for range r.o.strip {
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			return "", true
		}
		name = rest
	}
	return name, true
}

func (r *reader) at(name string) string {
	if r.dir == "" {
		return name
	}
	return r.dir + "/" + name
}

// parents makes the folders above a member. A symbolic link among them that
// leads elsewhere was not made by this archive: links come last.
func (r *reader) parents(name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	return os.MkdirAll(r.at(dir), 0o777)
}

func (r *reader) extract(tr *tar.Reader, h *tar.Header) error {
	name, ok := r.safe(h.Name)
	if !ok || name == "" {
		return nil
	}
	if r.o.verbose > 0 {
		out := r.c.Stdout
		if r.o.stdout {
			out = r.c.Stderr
		}
		io.WriteString(out, r.line(h, r.o.verbose > 1)+"\n")
	}
	if r.o.stdout {
		if h.Typeflag == tar.TypeReg {
			_, err := io.Copy(struct{ io.Writer }{r.c.Stdout}, tr)
			return err
		}
		return nil
	}
	if name == "." {
		return nil
	}
	to := r.at(name)
	if err := r.parents(name); err != nil {
		r.fail(h.Name, ": Cannot open: ", applet.Reason(err))
		return nil
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if fi, err := os.Lstat(to); err == nil && !fi.IsDir() && fi.Mode()&fs.ModeSymlink == 0 {
			os.Remove(to)
		}
		if err := os.MkdirAll(to, 0o777); err != nil {
			r.fail(h.Name, ": Cannot mkdir: ", applet.Reason(err))
			return nil
		}
		r.times, r.folder = append(r.times, h), append(r.folder, to)
	case tar.TypeReg:
		return r.file(tr, h, to)
	case tar.TypeSymlink:
		r.links, r.paths = append(r.links, h), append(r.paths, to)
	case tar.TypeLink:
		target, ok := r.safe(h.Linkname)
		if !ok {
			return nil
		}
		if !r.clear(h.Name, to) {
			return nil
		}
		if err := os.Link(r.at(target), to); err != nil {
			r.fail(h.Name, ": Cannot hard link to '", h.Linkname, "': ", applet.Reason(err))
		}
	default:
		r.fail(h.Name, ": Cannot mknod: ", applet.Reason(syscall.EPERM))
	}
	return nil
}

// clear removes what stands in a member's place, so that nothing is ever
// written through a link.
func (r *reader) clear(name, to string) bool {
	fi, err := os.Lstat(to)
	if err != nil {
		return true
	}
	switch {
	case r.o.skipOld:
		return false
	case r.o.keepOld:
		r.fail(name, ": Cannot open: File exists")
		return false
	case fi.IsDir():
		r.fail(name, ": Cannot open: File exists")
		return false
	}
	if err := os.Remove(to); err != nil {
		r.fail(name, ": Cannot unlink: ", applet.Reason(err))
		return false
	}
	return true
}

func (r *reader) file(tr *tar.Reader, h *tar.Header, to string) error {
	if !r.clear(h.Name, to) {
		return nil
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(h.Mode)&0o777)
	if err != nil {
		r.fail(h.Name, ": Cannot open: ", applet.Reason(err))
		return nil
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, tr, make([]byte, 64<<10))
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) { // the disk is full: nothing more will fit
			r.fail(h.Name, ": Cannot write: ", applet.Reason(err))
			return errors.New("Error is not recoverable: exiting now")
		}
		return err
	}
	r.attributes(h, to)
	return nil
}

// attributes sets permissions and times.
func (r *reader) attributes(h *tar.Header, to string) {
	os.Chmod(to, fs.FileMode(h.Mode)&0o777) // where there are modes
	if !r.o.touch {
		os.Chtimes(to, h.ModTime, h.ModTime)
	}
}

// finish makes the symbolic links, which had to wait, and sets the times of
// folders, which filling them changed.
func (r *reader) finish() {
	for i, h := range r.links {
		if !r.clear(h.Name, r.paths[i]) {
			continue
		}
		if err := os.Symlink(h.Linkname, r.paths[i]); err != nil {
			r.fail(h.Name, ": Cannot create symlink to '", h.Linkname, "': ", applet.Reason(err))
		}
	}
	for i := len(r.times) - 1; i >= 0; i-- {
		r.attributes(r.times[i], r.folder[i])
	}
}
