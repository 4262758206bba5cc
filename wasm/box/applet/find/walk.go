package find

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// entry is a file that the expression looks at. What stat says of it is only
// asked when a test needs it.
type entry struct {
	f     *finder
	path  string
	base  string
	root  string // the path given that led here
	depth int
	typ   fs.FileMode
	known bool // typ is
	info  fs.FileInfo
	err   error
	prune bool
}

// stat returns what is known of the file, following links as -L and -H say.
func (e *entry) stat() (fs.FileInfo, error) {
	if e.info == nil && e.err == nil {
		e.info, e.err = os.Lstat(e.path)
		if e.err == nil && e.info.Mode()&fs.ModeSymlink != 0 && e.follows() {
			if fi, err := os.Stat(e.path); err == nil {
				e.info = fi
			}
		}
		if e.err == nil {
			e.typ, e.known = e.info.Mode().Type(), true
		}
	}
	return e.info, e.err
}

func (e *entry) follows() bool {
	return e.f.follow == 'L' || e.f.follow == 'H' && e.depth == 0
}

// mode returns the type bits; less is asked of the system than by stat.
func (e *entry) mode() fs.FileMode {
	if !e.known || e.typ&fs.ModeSymlink != 0 && e.follows() && e.info == nil {
		if _, err := e.stat(); err != nil {
			return fs.ModeIrregular
		}
	}
	return e.typ
}

func quote(s string) string { return "‘" + s + "’" }

// start walks one of the paths given.
func (f *finder) start(path string) {
	base := strings.TrimRight(path, "/")
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		base = base[i+1:]
	}
	if base == "" {
		base = "/"
	}
	e := &entry{f: f, path: path, base: base, root: path}
	fi, err := e.stat()
	if err != nil {
		f.warn(quote(path), ": ", applet.Reason(err))
		return
	}
	f.device = applet.Stat(fi).Dev
	f.visit(e)
}

// visit evaluates the expression for e and what is below it.
func (f *finder) visit(e *entry) {
	if f.quit {
		return
	}
	if e.mode() == fs.ModeIrregular && e.err != nil {
		if !errors.Is(e.err, fs.ErrNotExist) || e.depth == 0 {
			f.warn(quote(e.path), ": ", applet.Reason(e.err))
		}
		return
	}
	dir := e.mode().IsDir()
	var id fileID
	if dir && (f.follow == 'L' || f.mount) {
		fi, err := e.stat()
		if err == nil {
			info := applet.Stat(fi)
			id = fileID{info.Dev, info.Ino}
			if f.mount && info.Dev != f.device {
				dir = false
			}
			for _, a := range f.above {
				if a == id && f.follow == 'L' {
					f.warn("File system loop detected; ", quote(e.path), " is part of the same file system loop as ", quote(e.loopStart(a)), ".")
					return
				}
			}
		}
	}
	if !f.depth {
		f.eval(e)
	}
	if dir && !e.prune && !f.quit && (f.maxDepth < 0 || e.depth < f.maxDepth) {
		f.above = append(f.above, id)
		f.below(e)
		f.above = f.above[:len(f.above)-1]
	}
	if f.depth {
		f.eval(e)
	}
}

// loopStart names the folder above e that is the same as e.
func (e *entry) loopStart(id fileID) string {
	path := e.path
	for d := e.depth; d > 0; d-- {
		path = filepath.Dir(path)
		if fi, err := os.Stat(path); err == nil {
			if info := applet.Stat(fi); (fileID{info.Dev, info.Ino}) == id {
				return path
			}
		}
	}
	return e.root
}

func (f *finder) eval(e *entry) {
	if e.depth >= f.minDepth && !f.quit {
		f.expr.eval(f, e)
	}
}

func (f *finder) below(e *entry) {
	list, err := os.ReadDir(e.path)
	if err != nil {
		f.warn(quote(e.path), ": ", applet.Reason(err))
	}
	prefix := e.path
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	for _, d := range list {
		if f.quit {
			return
		}
		f.visit(&entry{f: f, path: prefix + d.Name(), base: d.Name(), root: e.root, depth: e.depth + 1, typ: d.Type(), known: true})
	}
	// A reader that is gone ends the walk.
	if errors.Is(f.c.Flush(), syscall.EPIPE) {
		f.quit = true
		f.status = 1
	}
}
