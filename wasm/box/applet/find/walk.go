package find

import (
	"io/fs"
	"os"
	"sort"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// entry is one file that the expression is applied to.
type entry struct {
	f     *finder
	path  string // as it is printed
	start string // the starting point
	depth int
	info  fs.FileInfo // of the link itself, or of what it leads to when followed
	above *entry      // the folder it was found in

	prune bool
}

func (e *entry) name() string {
	p := e.path
	for len(p) > 1 && p[len(p)-1] == '/' {
		p = p[:len(p)-1]
	}
	if i := strings.LastIndexByte(p, '/'); i >= 0 && p != "/" {
		return p[i+1:]
	}
	return p
}

func (e *entry) mode() fs.FileMode { return applet.Mode(e.info) }

// start walks one starting point.
func (f *finder) start(path string) {
	info, err := f.stat(path, 0)
	if err != nil {
		f.warn(path, err)
		return
	}
	f.visit(&entry{f: f, path: path, start: path, info: info})
}

// stat describes a file as the follow options want it. A symlink that leads
// nowhere is described itself.
func (f *finder) stat(path string, depth int) (fs.FileInfo, error) {
	if f.follow == followAll || f.follow == followArguments && depth == 0 {
		if fi, err := os.Stat(path); err == nil {
			return fi, nil
		}
	}
	return os.Lstat(path)
}

// visit applies the expression to e and to what is below it.
func (f *finder) visit(e *entry) {
	if f.over {
		return
	}
	dir := e.info.IsDir()
	if dir && f.loops(e) {
		return
	}
	here := e.depth >= f.minDepth
	if here && !f.depthFirst {
		f.expr(e)
	}
	if dir && !(e.prune && !f.depthFirst) && (f.maxDepth < 0 || e.depth < f.maxDepth) {
		f.below(e)
	}
	if here && f.depthFirst && !f.over {
		f.expr(e)
	}
}

// loops complains about a folder that is above itself: only -L gets there.
func (f *finder) loops(e *entry) bool {
	if f.follow != followAll {
		return false
	}
	for a := e.above; a != nil; a = a.above {
		if os.SameFile(a.info, e.info) {
			f.c.Flush()
			f.c.Warn("File system loop detected; ", applet.Curly(e.path), " is part of the same file system loop as ", applet.Curly(a.path), ".")
			f.fail(1)
			return true
		}
	}
	return false
}

func (f *finder) below(e *entry) {
	list, err := os.ReadDir(e.path)
	if err != nil {
		f.warn(e.path, err)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name() < list[j].Name() })
	prefix := e.path
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	for _, d := range list {
		if f.over {
			return
		}
		path := prefix + d.Name()
		info, err := f.stat(path, e.depth+1)
		if err != nil {
			if !isGone(err) {
				f.warn(path, err)
			}
			continue
		}
		f.visit(&entry{f: f, path: path, start: e.start, depth: e.depth + 1, info: info, above: e})
	}
}

// isGone tells whether a file vanished between being listed and being looked
// at, which is no fault of anybody's.
func isGone(err error) bool {
	pe, ok := err.(*fs.PathError)
	return ok && pe.Err == syscall.ENOENT
}
