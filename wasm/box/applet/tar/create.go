package tar

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/bzip2"
	"github.com/donax-sh/donax/wasm/box/applet/internal/codec"
	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

type writer struct {
	*archiver
	tw    *tar.Writer
	self  fs.FileInfo // the archive, which is not packed into itself
	links map[[2]uint64]string
	mtime time.Time
}

func (a *archiver) create() {
	o := a.o
	if len(o.operands) == 0 {
		a.c.Warn("Cowardly refusing to create an empty archive")
		io.WriteString(a.c.Stderr, "Try 'tar --help' or 'tar --usage' for more information.\n")
		a.gone = true
		return
	}
	w := &writer{archiver: a, links: map[[2]uint64]string{}}
	if o.mtime != "" {
		t, err := gnudate.Parse(o.mtime, time.Now().UTC())
		if err != nil {
			a.fail("Invalid mtime: ", o.mtime)
			return
		}
		w.mtime = t
	}
	var out io.Writer = a.c.Stdout
	var f *os.File
	if o.file != "" && o.file != "-" {
		flags := os.O_RDWR | os.O_CREATE | os.O_TRUNC
		if o.mode == 'r' {
			flags = os.O_RDWR | os.O_CREATE
		}
		var err error
		if f, err = os.OpenFile(o.file, flags, 0o666); err != nil {
			a.fail(o.file, ": Cannot open: ", applet.Reason(err))
			return
		}
		defer f.Close()
		if o.mode == 'r' {
			if err := toEnd(f); err != nil {
				a.fail(o.file, ": cannot append: ", err.Error())
				return
			}
		}
		w.self, _ = f.Stat()
		out = f
	}
	b := bufio.NewWriterSize(out, 64<<10)
	z, err := o.compressor(a.c, b)
	if err != nil {
		a.fail("Cannot write: ", applet.Reason(err))
		return
	}
	w.tw = tar.NewWriter(b)
	if z != nil {
		w.tw = tar.NewWriter(z)
	}
	for _, op := range o.operands {
		w.add(op.dir, op.name, true)
		if a.broken {
			return
		}
	}
	err = w.tw.Close()
	if z != nil && err == nil {
		err = z.Close()
	}
	if err == nil && z == nil { // archives are multiples of 10 KiB
		_, err = b.Write(make([]byte, padding(w.size(b, f))))
	}
	if e := b.Flush(); err == nil {
		err = e
	}
	if err != nil {
		a.fail("Cannot write: ", applet.Reason(err))
	}
}

// packedAs is how a new archive is to be compressed: gzip, bzip2, xz, zstd or
// "".
func (o *options) packedAs() string {
	if o.pack != "" || !o.auto {
		return o.pack
	}
	for _, s := range [][2]string{{".gz", "gzip"}, {".tgz", "gzip"}, {".taz", "gzip"}, {".xz", "xz"}, {".txz", "xz"},
		{".zst", "zstd"}, {".tzst", "zstd"}, {".bz2", "bzip2"}, {".tbz", "bzip2"}, {".tbz2", "bzip2"}, {".tz2", "bzip2"}} {
		if strings.HasSuffix(o.file, s[0]) {
			return s[1]
		}
	}
	return ""
}

// compressor is what a new archive goes through; nil for none.
func (o *options) compressor(c *applet.Ctx, w io.Writer) (io.WriteCloser, error) {
	switch o.packedAs() {
	case "gzip":
		return codec.NewGzipWriter(c, w, codec.Gzip{Level: 6})
	case "bzip2":
		return bzip2.NewWriter(w, 9), nil
	case "xz":
		return codec.NewXZWriter(w, codec.XZOptions{Level: 6}), nil
	case "zstd":
		return codec.NewZstdWriter(w, 3, true)
	}
	return nil, nil
}

// size is how long the archive is so far, when that is known.
func (w *writer) size(b *bufio.Writer, f *os.File) int64 {
	if f == nil {
		return 0
	}
	if b.Flush() != nil {
		return 0
	}
	n, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return n
}

func padding(n int64) int64 {
	const record = 20 * 512
	if n%record == 0 {
		return 0
	}
	return record - n%record
}

// toEnd moves to where the members of an archive end.
func toEnd(f *os.File) error {
	tr := tar.NewReader(f)
	end := int64(0)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		end = at + (h.Size+511)/512*512
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return err
	}
	return f.Truncate(end)
}

// memberName is a name as it is stored: without what leads out.
func (a *archiver) memberName(name string) string {
	clean := name
	cut := 0
	for i := 0; i+2 <= len(clean); i++ { // up to and with the last ../
		if clean[i:i+2] == ".." && (i == 0 || clean[i-1] == '/') && (i+2 == len(clean) || clean[i+2] == '/') {
			cut = min(i+3, len(clean))
		}
	}
	for cut < len(clean) && clean[cut] == '/' {
		cut++
	}
	if cut > 0 {
		prefix := clean[:cut]
		if !a.warned[prefix] {
			a.warned[prefix] = true
			a.c.Flush()
			a.c.Warn("Removing leading `", prefix, "' from member names")
		}
		clean = clean[cut:]
	}
	if clean == "" {
		return "."
	}
	return clean
}

func (w *writer) add(dir, name string, top bool) {
	o := w.o
	if w.broken || o.excluded(name) {
		return
	}
	path := name
	if dir != "" && !filepath.IsAbs(name) {
		path = dir + "/" + name
	}
	stat := os.Lstat
	if o.follow {
		stat = os.Stat
	}
	fi, err := stat(path)
	if err != nil {
		w.fail(name, ": Cannot stat: ", applet.Reason(err))
		return
	}
	if w.self != nil && os.SameFile(w.self, fi) {
		w.c.Warn(o.file, ": file is the archive; not dumped")
		return
	}
	link := ""
	if fi.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			w.fail(name, ": Cannot readlink: ", applet.Reason(err))
			return
		}
	}
	if fi.Mode()&fs.ModeSocket != 0 {
		w.c.Warn(name, ": socket ignored")
		return
	}
	h, err := tar.FileInfoHeader(fi, link)
	if err != nil {
		w.fail(name, ": ", err.Error())
		return
	}
	w.fill(h, fi, name)
	if info := applet.Stat(fi); info.Nlink > 1 && fi.Mode().IsRegular() {
		id := [2]uint64{info.Dev, info.Ino}
		if first, ok := w.links[id]; ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
		} else {
			w.links[id] = h.Name
		}
	}
	w.member(path, name, h)
	if fi.IsDir() && !o.noRec {
		entries, err := os.ReadDir(path)
		if err != nil {
			w.fail(name, ": Cannot open: ", applet.Reason(err))
		}
		for _, e := range entries {
			w.add(dir, strings.TrimSuffix(name, "/")+"/"+e.Name(), false)
		}
	}
}

// fill completes a header: names, owner and what archives of the GNU format
// hold.
func (w *writer) fill(h *tar.Header, fi fs.FileInfo, name string) {
	o := w.o
	h.Name = w.memberName(name)
	if fi.IsDir() && !strings.HasSuffix(h.Name, "/") {
		h.Name += "/"
	}
	h.Mode = int64(applet.UnixMode(fi.Mode()))
	h.Uid, h.Gid, h.Uname, h.Gname = applet.UserID, applet.UserID, applet.UserName, applet.UserName
	owner(o.owner, &h.Uname, &h.Uid)
	owner(o.group, &h.Gname, &h.Gid)
	h.AccessTime, h.ChangeTime = time.Time{}, time.Time{}
	h.ModTime = h.ModTime.Truncate(time.Second)
	if !w.mtime.IsZero() {
		h.ModTime = w.mtime
	}
	h.Format = tar.FormatGNU
	switch o.format {
	case "pax", "posix":
		h.Format = tar.FormatPAX
	case "ustar":
		h.Format = tar.FormatUSTAR
	}
}

// owner reads NAME, ID or NAME:ID.
func owner(v string, name *string, id *int) {
	if v == "" {
		return
	}
	n, num, ok := strings.Cut(v, ":")
	if !ok {
		num = n
	}
	if i, err := strconv.Atoi(num); err == nil {
		*id = i
		if !ok {
			n = ""
		}
	}
	*name = n
}

func (w *writer) member(path, name string, h *tar.Header) {
	var f *os.File
	if h.Typeflag == tar.TypeReg && h.Size > 0 {
		var err error
		if f, err = os.Open(path); err != nil {
			w.fail(name, ": Cannot open: ", applet.Reason(err))
			return
		}
		defer f.Close()
	}
	if err := w.tw.WriteHeader(h); err != nil {
		w.fail(name, ": ", err.Error())
		w.broken = !errors.Is(err, tar.ErrHeader)
		return
	}
	if w.o.verbose > 0 {
		out := w.c.Stdout
		if w.o.file == "" || w.o.file == "-" {
			out = w.c.Stderr
		}
		io.WriteString(out, w.line(h, w.o.verbose > 1)+"\n")
	}
	if f == nil {
		return
	}
	n, err := io.Copy(w.tw, io.LimitReader(f, h.Size))
	if err == nil && n < h.Size {
		w.fail(name, ": File shrank by ", strconv.FormatInt(h.Size-n, 10), " bytes; padding with zeros")
		_, err = io.CopyN(w.tw, zeros{}, h.Size-n)
	}
	if err != nil {
		w.fail(name, ": Cannot write: ", applet.Reason(err))
		w.broken = true
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
