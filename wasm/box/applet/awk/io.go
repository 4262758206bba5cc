package awk

import (
	"bufio"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// writer is a file that print writes to.
type writer struct {
	*bufio.Writer
	f *os.File
}

// getline reads a record into l, or as the record: of the main input, of a
// file, or of what a command prints.
func getline(l *lvalue, from *expr, command bool) *expr {
	return numeric(func(m *machine) float64 {
		var rec, rt string
		var ok bool
		if from == nil {
			if rec, ok = m.mainRecord(); !ok {
				return 0
			}
		} else {
			name := from.str(m)
			r := m.reader(name, command)
			if r == nil {
				return -1
			}
			if rec, rt, ok = m.next(r); !ok {
				if r.failed() != nil {
					return -1
				}
				return 0
			}
			m.rt = str(rt)
			if command {
				m.nr++
			}
		}
		if l == nil {
			m.setRecord(rec)
			return 1
		}
		p := l.place(m)
		p.set(m, value{s: rec, k: input})
		return 1
	})
}

// reader is an open file or the output of a command, nil when there is none.
func (m *machine) reader(name string, command bool) *reader {
	key := name
	if command {
		key = "|" + name
	}
	if r := m.readers[key]; r != nil {
		return r
	}
	if !command && (name == "-" || name == "/dev/stdin") {
		m.readers[key] = &reader{r: m.c.Stdin}
		return m.readers[key]
	}
	if command {
		m.flush()
		file, err := m.pipe(name)
		if err != nil {
			m.fatal(err.Error())
		}
		name = file
	} else if w := m.writers[name]; w != nil {
		w.Flush()
	}
	f, err := os.Open(name)
	if err == nil {
		if fi, e := f.Stat(); e == nil && fi.IsDir() {
			f.Close()
			return nil
		}
	}
	if err != nil {
		return nil
	}
	m.readers[key] = &reader{r: f, c: f}
	return m.readers[key]
}

// flush writes out what is buffered, before a command runs.
func (m *machine) flush() {
	m.out.Flush()
	for _, w := range m.writers {
		w.Flush()
	}
}

func (m *machine) writeTo(how, name string, b []byte) {
	switch name {
	case "/dev/stdout", "-":
		if how != "|" {
			m.out.Write(b)
			return
		}
	case "/dev/stderr":
		if how != "|" {
			m.c.Stderr.Write(b)
			return
		}
	}
	if how == "|" {
		file, err := m.host.out(name)
		if err != nil {
			m.fatal(err.Error())
		}
		how, name = ">>", file
	}
	w := m.writers[name]
	if w == nil {
		flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if how == ">>" {
			flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		}
		if name == "" {
			m.fatal("expression for `" + how + "' redirection has null string value")
		}
		f, err := os.OpenFile(name, flags, 0o666)
		if err != nil {
			m.fatal("cannot redirect to `" + name + "': " + applet.Reason(err))
		}
		w = &writer{bufio.NewWriterSize(f, 16<<10), f}
		m.writers[name] = w
	}
	if _, err := w.Write(b); err != nil {
		m.fatal("cannot write to `" + name + "': " + applet.Reason(err))
	}
}

// closeName is close(): the status of a command, 0 for a file, -1 for what is
// not open.
func (m *machine) closeName(name string) float64 {
	result := -1.0
	for _, key := range []string{name, "|" + name} {
		if r := m.readers[key]; r != nil {
			r.close()
			delete(m.readers, key)
			if result = 0; key != name {
				result = float64(m.closedRead(name))
			}
		}
	}
	file, command := m.writes[name]
	if !command {
		file = name
	}
	if w := m.writers[file]; w != nil {
		delete(m.writers, file)
		result = 0
		if w.Flush() != nil || w.f.Close() != nil {
			result = -1
		}
	}
	if command {
		m.flush()
		status, err := m.feed(name)
		if err != nil {
			m.fatal(err.Error())
		}
		result = float64(status)
	}
	return result
}

// closeAll ends the program: files are written, and commands run over what was
// written to them.
func (m *machine) closeAll() int {
	m.out.Flush()
	for name, w := range m.writers {
		if err := w.Flush(); err != nil {
			m.c.Warn("cannot write to `", name, "': ", applet.Reason(err))
			m.status = failed
		}
		w.f.Close()
	}
	for _, r := range m.readers {
		r.close()
	}
	if m.in != nil {
		m.in.close()
	}
	return m.finish()
}
