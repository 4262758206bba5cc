package find

import (
	"bufio"
	"os"
	"strconv"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// actionOf compiles the actions.
func (p *parser) actionOf(name string) (expr, bool) {
	f := p.f
	out := f.c.Out()
	switch name {
	case "-prune":
		return func(e *entry) bool { e.prune = true; return true }, true
	case "-quit":
		return func(e *entry) bool { e.f.over = true; return true }, true
	}
	if name != "-print" && name != "-print0" && name != "-printf" && name != "-ls" && name != "-fprint" && name != "-fprint0" &&
		name != "-fprintf" && name != "-fls" && name != "-delete" && name != "-exec" && name != "-execdir" {
		return nil, false
	}
	p.action = true
	switch name {
	case "-print":
		return p.printTo(out, '\n'), true
	case "-print0":
		return p.printTo(out, 0), true
	case "-fprint":
		return p.printTo(p.open(p.arg(name)), '\n'), true
	case "-fprint0":
		return p.printTo(p.open(p.arg(name)), 0), true
	case "-printf":
		return p.printf(out, p.arg(name)), true
	case "-fprintf":
		w := p.open(p.arg(name))
		return p.printf(w, p.arg(name)), true
	case "-ls":
		return list(out), true
	case "-fls":
		return list(p.open(p.arg(name))), true
	case "-delete":
		f.depthFirst = true // what is in a folder has to go first
		return remove, true
	}
	return p.exec(name), true
}

func (p *parser) printTo(w *bufio.Writer, end byte) expr {
	return func(e *entry) bool {
		w.WriteString(e.path)
		w.WriteByte(end)
		return true
	}
}

// open makes the file that an action writes to; two actions on one file share
// it.
func (p *parser) open(name string) *bufio.Writer {
	f := p.f
	switch name {
	case "/dev/stdout":
		return f.c.Out()
	case "/dev/stderr":
		w := bufio.NewWriterSize(f.c.Stderr, 1) // as good as none: the order shows
		f.flush = append(f.flush, func() { w.Flush() })
		return w
	}
	file := f.files[name]
	if file == nil {
		var err error
		if file, err = os.Create(name); err != nil {
			p.fail(applet.Curly(name), ": ", applet.Reason(err))
		}
		f.files[name] = file
	}
	w := bufio.NewWriter(file)
	f.flush = append(f.flush, func() {
		if err := w.Flush(); err != nil {
			f.warn(name, err)
		}
	})
	return w
}

// remove is -delete. The folder that the search began in cannot go, and that
// is no fault.
func remove(e *entry) bool {
	if e.path == "." || e.path == "./" {
		return true
	}
	if err := os.Remove(e.path); err != nil {
		e.f.c.Flush()
		e.f.c.Warn("cannot delete ", applet.Curly(e.path), ": ", applet.Reason(err))
		e.f.fail(1)
		return false
	}
	return true
}

// list is -ls: inode, KiB, mode, links, user, group, size, date and name.
func list(w *bufio.Writer) expr {
	return func(e *entry) bool {
		st := applet.Stat(e.info)
		b := applet.AppendPad(nil, strconv.FormatUint(st.Ino, 10), 9)
		b = append(applet.AppendPad(append(b, ' '), strconv.FormatInt(applet.Blocks(e.info)/2, 10), 6), ' ')
		b = append(append(b, applet.ModeString(e.mode())...), ' ')
		b = append(applet.AppendPad(b, strconv.FormatUint(st.Nlink, 10), 3), ' ')
		for range 2 {
			b = append(applet.AppendPad(b, applet.UserName, -8), ' ')
		}
		b = append(applet.AppendPad(b, strconv.FormatInt(e.info.Size(), 10), 8), ' ')
		t := e.info.ModTime().In(e.f.now.Location())
		format := "%b %e  %Y "
		if age := e.f.now.Sub(t); age >= -3600e9 && age < 180*24*3600e9 {
			format = "%b %e %H:%M "
		}
		b = applet.AppendTime(b, format, t)
		b = appendQuoted(b, e.path)
		if e.info.Mode()&os.ModeSymlink != 0 {
			if to, err := os.Readlink(e.path); err == nil {
				b = appendQuoted(append(b, " -> "...), to)
			}
		}
		w.Write(append(b, '\n'))
		return true
	}
}

// appendQuoted writes a name with what could be mistaken in a backslash.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' || c == '\\' || c == '"':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return b
}
