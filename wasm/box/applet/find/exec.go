package find

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// maxBatch is the size of the arguments that one command of -exec + gets.
const maxBatch = 128 << 10

// statusDenied is find's status when a policy refused a command: a caller has
// to see that the work was not done. GNU find, whose commands can always be
// tried, would give 0.
const statusDenied = 126

// exec compiles -exec and -execdir in both forms.
func (p *parser) exec(name string) expr {
	inDir := name == "-execdir"
	var args []string
	for {
		if p.pos == len(p.args) {
			p.fail("missing argument to `", name, "'")
		}
		a := p.args[p.pos]
		p.pos++
		if a == ";" {
			break
		}
		if a == "+" && len(args) > 0 && args[len(args)-1] == "{}" {
			return p.batch(name, args[:len(args)-1], inDir)
		}
		args = append(args, a)
	}
	if len(args) == 0 {
		p.fail("missing argument to `", name, "'")
	}
	return func(e *entry) bool {
		path, dir := e.path, ""
		if inDir {
			path, dir = inFolder(e)
		}
		argv := make([]string, len(args))
		for i, a := range args {
			argv[i] = strings.ReplaceAll(a, "{}", path)
		}
		return e.f.command(argv, dir) == 0
	}
}

// inFolder returns how -execdir names a file, and the folder it does so in.
func inFolder(e *entry) (path, dir string) {
	name := e.name()
	if name == "/" {
		return "/", "/"
	}
	dir = applet.Dir(e.path)
	abs, err := applet.Resolve(dir, applet.MustExist)
	if err != nil {
		abs = dir
	}
	return "./" + name, abs
}

// command runs one command and returns its status.
func (f *finder) command(argv []string, dir string) int {
	c := f.c
	c.Flush()
	for _, flush := range f.flush {
		flush()
	}
	if c.Procs == nil {
		c.Warn("cannot run ", applet.Curly(argv[0]), ": not inside the sandbox")
		f.fail(1)
		return 1
	}
	pid, err := c.Procs.Start(applet.Child{Args: argv, Dir: dir, Stdin: os.Stdin})
	if err == syscall.EACCES { // the reason of a denial is on Stderr already
		f.fail(statusDenied)
		return statusDenied
	}
	status := 0
	if err == nil {
		_, status, err = c.Procs.Wait(pid, 0)
	}
	if err != nil {
		c.Warn(applet.Curly(argv[0]), ": ", applet.Reason(err))
		return 127
	}
	if status == statusDenied && !slices.Contains([]string{"sh", "bash"}, argv[0]) {
		f.fail(statusDenied)
	}
	return status
}

// batch is one -exec ... {} +.
type batch struct {
	f    *finder
	base []string
	size int
	dir  string // of -execdir: a batch is for one folder
	args []string
	used int
}

func (p *parser) batch(name string, base []string, inDir bool) expr {
	if len(base) == 0 {
		p.fail("missing argument to `", name, "'")
	}
	for _, a := range base {
		if strings.Contains(a, "{}") {
			p.fail("Only one instance of {} is supported with ", name, " ... +")
		}
	}
	b := &batch{f: p.f, base: base}
	for _, a := range base {
		b.size += len(a) + 1
	}
	b.used = b.size
	p.f.batches = append(p.f.batches, b)
	return func(e *entry) bool {
		path, dir := e.path, ""
		if inDir {
			path, dir = inFolder(e)
		}
		if b.used+len(path)+1 > maxBatch || dir != b.dir {
			b.run()
		}
		b.dir = dir
		b.args = append(b.args, path)
		b.used += len(path) + 1
		return true
	}
}

func (b *batch) run() {
	if len(b.args) == 0 {
		return
	}
	if b.f.command(append(slices.Clone(b.base), b.args...), b.dir) != 0 {
		b.f.fail(1)
	}
	b.args, b.used = nil, b.size
}
