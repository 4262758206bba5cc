package grep

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
)

// filters are the --include and --exclude globs in the order given: the last
// that matches decides.
type filters struct {
	globs   []string
	include []bool
}

func (f *filters) add(glob string, include bool) {
	f.globs = append(f.globs, glob)
	f.include = append(f.include, include)
}

// skips tells whether a name is left out. For a name given on the command
// line a glob may also match what follows any slash.
func (f *filters) skips(name string, given bool) bool {
	if len(f.globs) == 0 {
		return false
	}
	for i := len(f.globs) - 1; i >= 0; i-- {
		if match(f.globs[i], name, given) {
			return !f.include[i]
		}
	}
	return f.include[0]
}

func match(pattern, name string, given bool) bool {
	for {
		if glob.Match(pattern, name, glob.Options{}) {
			return true
		}
		_, rest, ok := strings.Cut(name, "/")
		if !given || !ok {
			return false
		}
		name = rest
	}
}

// all searches the operands and returns the exit status.
func (g *grep) all(operands []string) int {
	o := g.o
	recurse := o.directories == "recurse"
	g.withName = o.names > 0 || o.names == 0 && (len(operands) > 1 || recurse)
	dot := false
	if len(operands) == 0 {
		operands = []string{"-"}
		if recurse {
			operands, dot = []string{"."}, true
		}
	}
	if recurse && o.names == 0 && len(operands) == 1 && !dot {
		// One file named: its name is no news.
		if fi, err := os.Stat(operands[0]); operands[0] == "-" || err == nil && !fi.IsDir() {
			g.withName = false
		}
	}
	m := g.m
	for _, name := range operands {
		if name == "-" {
			label := "(standard input)"
			if o.label != "" {
				label = o.label
			}
			g.m = m
			g.report("(standard input)", g.input(label, g.c.Stdin))
		} else {
			g.operand(name, m, dot)
		}
		if o.quiet && g.selected {
			return 0
		}
		if g.broken() {
			break
		}
	}
	if g.failed {
		return 2
	}
	if g.selected {
		return 0
	}
	return 1
}

// broken tells whether nobody reads the output any more.
func (g *grep) broken() bool { return errors.Is(g.c.Flush(), syscall.EPIPE) && !g.o.quiet }

func (g *grep) report(name string, err error) {
	if err == nil {
		return
	}
	g.failed = true
	if !g.o.noMessages {
		g.c.Flush()
		g.c.Warn(name, ": ", applet.Reason(err))
	}
}

func (g *grep) operand(name string, m matcher, dot bool) {
	o := g.o
	fi, err := os.Stat(name)
	if err != nil {
		g.report(name, err)
		return
	}
	if fi.IsDir() {
		if o.directories == "skip" || !dot && o.dirs.skips(strings.TrimRight(name, "/"), true) {
			return
		}
		if o.directories == "recurse" {
			g.folder(name, dot, m, []fs.FileInfo{fi})
			return
		}
		if !o.files.skips(name, true) {
			g.report(name, syscall.EISDIR)
		}
		return
	}
	if !o.files.skips(name, true) {
		g.file(name, m)
	}
}

func (g *grep) file(name string, m matcher) {
	f, err := os.Open(name)
	if err != nil {
		g.report(name, err)
		return
	}
	g.m = m
	err = g.input(name, io.Reader(f))
	f.Close()
	g.report(name, err)
}

// folder searches a folder; above holds it and the folders that led to it, so
// that links in a circle end.
func (g *grep) folder(name string, dot bool, m matcher, above []fs.FileInfo) {
	o := g.o
	entries, err := os.ReadDir(name)
	if err != nil {
		g.report(name, err)
	}
	for _, e := range entries {
		path := e.Name()
		if !dot {
			path = strings.TrimSuffix(name, "/") + "/" + path
		}
		mode := e.Type()
		var fi fs.FileInfo
		if mode&fs.ModeSymlink != 0 {
			if !o.follow {
				continue
			}
			if fi, err = os.Stat(path); err != nil {
				g.report(path, err)
				continue
			}
			mode = fi.Mode()
		}
		switch {
		case mode.IsDir():
			if o.dirs.skips(e.Name(), false) {
				continue
			}
			next := above
			if o.follow {
				if fi == nil {
					if fi, err = os.Stat(path); err != nil {
						g.report(path, err)
						continue
					}
				}
				loop := false
				for _, a := range above {
					loop = loop || os.SameFile(a, fi)
				}
				if loop {
					if !o.noMessages {
						g.c.Warn("warning: ", path, ": recursive directory loop")
					}
					continue
				}
				next = append(above[:len(above):len(above)], fi)
			}
			g.folder(path, false, m, next)
		case mode.IsRegular():
			if !o.files.skips(e.Name(), false) {
				g.file(path, m)
			}
		}
		if g.o.quiet && g.selected || g.broken() {
			return
		}
	}
}
