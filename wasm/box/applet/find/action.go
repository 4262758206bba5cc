package find

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

func printPath(f *finder, e *entry) bool {
	io.WriteString(f.c.Stdout, e.path+"\n")
	return true
}

// action parses an action; ok is false when name is none.
func (p *parser) action(name string) (n node, ok bool, err error) {
	base := strings.TrimPrefix(name, "-f")
	var w io.Writer = p.f.c.Stdout
	switch name {
	case "-fprint", "-fprint0", "-fprintf", "-fls":
		file, err := p.arg(name)
		if err != nil {
			return nil, true, err
		}
		if w, err = p.f.open(file); err != nil {
			return nil, true, errors.New(quote(file) + ": " + applet.Reason(err))
		}
	default:
		base = strings.TrimPrefix(name, "-")
	}
	switch base {
	case "print", "print0":
		end := "\n"
		if base == "print0" {
			end = "\x00"
		}
		n = test(func(f *finder, e *entry) bool {
			io.WriteString(w, e.path+end)
			return true
		})
	case "printf":
		format, err := p.arg(name)
		if err != nil {
			return nil, true, err
		}
		parts, err := parseFormat(format, p.f.c.Warn)
		if err != nil {
			return nil, true, err
		}
		n = test(func(f *finder, e *entry) bool {
			io.WriteString(w, parts.expand(f, e))
			return true
		})
	case "ls":
		n = test(func(f *finder, e *entry) bool {
			io.WriteString(w, listing(f, e))
			return true
		})
	case "delete":
		p.f.depth = true
		n = test(remove)
	case "exec", "execdir":
		if n, err = p.exec(name); err != nil {
			return nil, true, err
		}
	default:
		return nil, false, nil
	}
	p.f.action = true
	return n, true, nil
}

func remove(f *finder, e *entry) bool {
	if e.path == "." {
		return true
	}
	if err := os.Remove(e.path); err != nil {
		f.warn("cannot delete ", quote(e.path), ": ", applet.Reason(err))
		return false
	}
	return true
}

// listing is the line of -ls.
func listing(f *finder, e *entry) string {
	fi, err := e.stat()
	if err != nil {
		return ""
	}
	info := applet.Stat(fi)
	t := fi.ModTime().In(f.zone())
	date := gnudate.Format("%b %e %H:%M", t)
	if age := f.now.Sub(t); age > 180*24*time.Hour || age < -time.Hour {
		date = gnudate.Format("%b %e  %Y", t)
	}
	s := pad(strconv.FormatUint(info.Ino, 10), 9) + " " + pad(strconv.FormatInt(applet.Blocks(fi)/2, 10), 6) + " " +
		applet.ModeString(fi.Mode()) + " " + pad(strconv.FormatUint(info.Nlink, 10), 3) + " " +
		pad(applet.UserName, -8) + " " + pad(applet.UserName, -8) + " " + pad(strconv.FormatInt(fi.Size(), 10), 8) + " " + date + " " + e.path
	if to, err := os.Readlink(e.path); err == nil {
		s += " -> " + to
	}
	return s + "\n"
}

// pad fills s with spaces to the width, on the left unless it is negative.
func pad(s string, width int) string {
	if n := width - len(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	if n := -width - len(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

func (f *finder) zone() *time.Location {
	if loc, err := gnudate.Location(os.Getenv("TZ")); err == nil {
		return loc
	}
	return time.UTC
}

// execNode is -exec or -execdir.
type execNode struct {
	args  []string
	many  bool // + : the names are collected
	dir   bool
	names []string
	bytes int
	where string // the folder of the names collected by -execdir
}

// maxBatch bounds what one command of -exec + is given: as the arguments of a
// process are bounded elsewhere.
const maxBatch = 128 << 10

func (p *parser) exec(name string) (node, error) {
	e := &execNode{dir: name == "-execdir"}
	for {
		if p.pos >= len(p.args) {
			return nil, errors.New("missing argument to `" + name + "'")
		}
		a := p.args[p.pos]
		p.pos++
		if a == ";" {
			break
		}
		if a == "+" && len(e.args) > 0 && e.args[len(e.args)-1] == "{}" {
			e.many = true
			e.args = e.args[:len(e.args)-1]
			break
		}
		if a == "+" && len(e.args) > 0 && strings.Contains(e.args[len(e.args)-1], "{}") {
			return nil, errors.New("Only one instance of {} is supported with " + name + " ... +")
		}
		e.args = append(e.args, a)
	}
	if len(e.args) == 0 {
		return nil, errors.New("invalid argument `;' to `" + name + "'")
	}
	if e.many {
		for _, a := range e.args {
			if strings.Contains(a, "{}") {
				return nil, errors.New("In ‘" + name + " ... {} +’ the ‘{}’ must appear by itself, but you specified ‘" + a + "’")
			}
		}
		p.f.batches = append(p.f.batches, e)
	}
	return e, nil
}

func (x *execNode) eval(f *finder, e *entry) bool {
	name, where := e.path, ""
	if x.dir {
		name, where = "./"+e.base, filepath.Dir(e.path)
		if e.base == "/" || e.depth == 0 && (e.path == "." || e.path == "..") {
			name, where = e.path, "."
		}
	}
	if x.many {
		if x.where != where || x.bytes+len(name)+9 > maxBatch {
			x.flush(f)
		}
		x.where = where
		x.names = append(x.names, name)
		x.bytes += len(name) + 9
		return true
	}
	args := make([]string, len(x.args))
	for i, a := range x.args {
		args[i] = strings.ReplaceAll(a, "{}", name)
	}
	return x.start(f, args, where) == 0
}

func (x *execNode) flush(f *finder) {
	if len(x.names) == 0 {
		return
	}
	args := append(append([]string(nil), x.args...), x.names...)
	x.names, x.bytes = nil, 0
	if x.start(f, args, x.where) != 0 {
		f.status = 1
	}
}

func (x *execNode) start(f *finder, args []string, where string) int {
	dir := ""
	if where != "" && where != "." {
		dir = where
		if !filepath.IsAbs(dir) {
			if wd, err := os.Getwd(); err == nil {
				dir = filepath.Join(wd, dir)
			}
		}
	}
	status := f.c.Spawn(applet.Child{Args: args, Dir: dir, Stdin: os.Stdin})
	if status == statusDenied {
		f.denied = true
	}
	return status
}

// statusDenied is what a command that could not be run ends with, most often
// because the policy refused it. It is then find's own status too, unlike GNU
// find's: whoever called has to see that the work was not done.
const statusDenied = 126
