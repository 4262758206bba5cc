package ls

import (
	"cmp"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
)

// file is one entry.
type file struct {
	name   string
	info   fs.FileInfo // nil when it cannot be had and nothing needs it
	mode   fs.FileMode
	isDir  bool // also a symlink to one, where that matters
	target string
	to     fs.FileMode // mode of a symlink's target
	broken bool        // a symlink to nothing
}

func (l *lister) fail(status int, what, name string, err error) {
	l.c.Warn(what, " ", applet.Quote(name), ": ", applet.Reason(err))
	l.status = max(l.status, status)
}

// list lists the operands: files first, then the folders' contents.
func (l *lister) list(names []string) {
	if len(names) == 0 {
		names = []string{"."}
	}
	var files, dirs []file
	for _, name := range names {
		f, err := l.stat(name, true)
		if err != nil {
			l.fail(2, "cannot access", name, err)
			continue
		}
		if f.isDir && !l.directory {
			dirs = append(dirs, f)
		} else {
			files = append(files, f)
		}
	}
	l.sort(files)
	l.sort(dirs)
	if len(files) > 0 {
		// The columns are as wide as the folders given would need them, too.
		l.least = l.measure(dirs)
		l.print(files, "")
		l.least = widths{}
		l.printed = true
	}
	titles := l.recursive || len(names) > 1
	for _, d := range dirs {
		l.dir(d.name, titles, nil)
	}
}

// needsInfo tells whether the output needs more than names and types.
func (l *lister) needsInfo() bool {
	return l.format == long || l.blocks || l.inode || l.color || l.indicator == classify || l.deref == derefAll || l.dirsFirst ||
		l.by == 'S' || l.by == 't'
}

// stat looks at one file. argument tells that it stands on the command line.
func (l *lister) stat(name string, argument bool) (file, error) {
	f := file{name: name}
	follow := l.deref == derefAll || argument && (l.deref == derefArgs || l.deref == derefDirs)
	var fi fs.FileInfo
	var err error
	if follow {
		fi, err = os.Stat(name)
		if argument && l.deref == derefDirs && (err != nil || !fi.IsDir()) || err != nil && argument && l.deref == derefArgs {
			fi, err = os.Lstat(name)
		} else if err != nil && l.deref == derefAll && !argument {
			return f, err
		}
	} else {
		fi, err = os.Lstat(name)
	}
	if err != nil {
		return f, err
	}
	f.fill(fi)
	if f.mode&fs.ModeSymlink != 0 && (l.format == long || l.color || l.dirsFirst || l.indicator >= fileType) {
		l.readLink(&f, name)
	}
	return f, nil
}

func (f *file) fill(fi fs.FileInfo) {
	f.info, f.mode, f.isDir = fi, fi.Mode(), fi.IsDir()
}

func (l *lister) readLink(f *file, path string) {
	f.target, _ = os.Readlink(path)
	if to, err := os.Stat(path); err == nil {
		f.to = to.Mode()
	} else {
		f.broken = true
	}
}

// dir lists a folder and, with -R, those in it. above holds the folders that
// it lies in.
func (l *lister) dir(name string, title bool, above []fs.FileInfo) {
	d, err := os.Open(name)
	if err != nil {
		status := 1
		if above == nil {
			status = 2
		}
		l.fail(status, "cannot open directory", name, err)
		return
	}
	entries, err := d.ReadDir(-1)
	self, _ := d.Stat()
	d.Close()
	if title {
		if l.printed {
			l.out = append(l.out, '\n')
		}
		l.out = append(append(append(l.out, l.quoteName(name)...), ':'), l.eol)
	}
	l.printed = true
	if err != nil {
		l.fail(1, "reading directory", name, err)
	}
	files := l.entries(name, entries)
	l.sort(files)
	l.print(files, name)
	if len(l.out) >= applet.BufSize && !l.flush() {
		return
	}
	if !l.recursive {
		return
	}
	for _, a := range above {
		if self != nil && os.SameFile(a, self) {
			l.c.Warn(applet.Name(name), ": not listing already-listed directory")
			l.status = 2
			return
		}
	}
	if l.deref == derefAll && self != nil {
		above = append(above, self)
	} else if above == nil {
		above = []fs.FileInfo{}
	}
	for _, f := range files {
		if f.isDir && f.name != "." && f.name != ".." {
			l.dir(join(name, f.name), true, above)
		}
	}
}

func join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// entries makes files of a folder's entries, without those not wanted.
func (l *lister) entries(dir string, entries []fs.DirEntry) []file {
	files := make([]file, 0, len(entries)+2)
	need := l.needsInfo()
	add := func(name string, typ fs.FileMode) {
		if !need {
			f := file{name: name, mode: typ, isDir: typ.IsDir()}
			files = append(files, f)
			return
		}
		f, err := l.stat(join(dir, name), false)
		f.name = name
		if err != nil {
			l.fail(1, "cannot access", join(dir, name), err)
			f.mode, f.isDir = typ, typ.IsDir()
			if l.deref == derefAll {
				f.broken = true
			}
		}
		files = append(files, f)
	}
	if l.all {
		add(".", fs.ModeDir)
		add("..", fs.ModeDir)
	}
	for _, e := range entries {
		if l.hidden(e.Name()) {
			continue
		}
		add(e.Name(), e.Type())
	}
	return files
}

func (l *lister) hidden(name string) bool {
	dots := l.all || l.almost
	if !dots && strings.HasPrefix(name, ".") || l.noBackups && strings.HasSuffix(name, "~") {
		return true
	}
	for _, p := range l.ignore {
		if glob.Match(p, name, glob.Options{}) {
			return true
		}
	}
	if !dots {
		for _, p := range l.hide {
			if glob.Match(p, name, glob.Options{}) {
				return true
			}
		}
	}
	return false
}

func (l *lister) timeOf(f *file) time.Time {
	if f.info == nil {
		return time.Time{}
	}
	switch l.time {
	case 'a':
		return applet.Stat(f.info).Atime
	case 'c':
		return applet.Stat(f.info).Ctime
	}
	return f.info.ModTime()
}

func (l *lister) sort(files []file) {
	if l.by == 'U' {
		return
	}
	size := func(f *file) int64 {
		if f.info == nil {
			return 0
		}
		return f.info.Size()
	}
	slices.SortStableFunc(files, func(a, b file) int {
		if l.dirsFirst {
			if x, y := l.dirLike(&a), l.dirLike(&b); x != y {
				if x {
					return -1
				}
				return 1
			}
		}
		r := 0
		switch l.by {
		case 'S':
			r = cmp.Compare(size(&b), size(&a))
		case 't':
			r = l.timeOf(&b).Compare(l.timeOf(&a))
		case 'v':
			r = applet.CompareVersions(a.name, b.name)
		case 'X':
			r = strings.Compare(extension(a.name), extension(b.name))
		case 'w':
			r = cmp.Compare(displayWidth(a.name), displayWidth(b.name))
		}
		if r == 0 {
			r = strings.Compare(a.name, b.name)
		}
		if l.reverse {
			return -r
		}
		return r
	})
}

func (l *lister) dirLike(f *file) bool { return f.isDir || f.to.IsDir() }

func extension(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[i:]
	}
	return ""
}
