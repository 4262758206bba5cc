package awk

import (
	"bytes"
	"errors"
	"io"
	"unsafe"
)

// reader reads records. What has been read is never written over, so records
// and their fields are parts of it and need no copy of their own.
type reader struct {
	r    io.Reader
	c    io.Closer
	buf  []byte
	s, e int // what is unread of buf
	err  error
}

const chunk = 64 << 10

// fill reads more; it is false at the end.
func (r *reader) fill() bool {
	if r.err != nil {
		return false
	}
	if r.e == len(r.buf) {
		rest := r.buf[r.s:r.e]
		r.buf = make([]byte, max(chunk, 2*len(rest)))
		r.s, r.e = 0, copy(r.buf, rest)
	}
	n, err := r.r.Read(r.buf[r.e:])
	r.e += n
	r.err = err
	return n > 0 || err == nil
}

// take returns the next n bytes as text.
func (r *reader) take(n int) string {
	if n == 0 {
		return ""
	}
	s := unsafe.String(&r.buf[r.s], n)
	r.s += n
	return s
}

// next reads a record as RS says; rt is what ended it.
func (m *machine) next(r *reader) (rec, rt string, ok bool) {
	switch {
	case m.split.how == ',':
		return m.nextCSV(r)
	case m.rs == "":
		return m.nextParagraph(r)
	case len(m.rs) > 1 || m.fold && isLetter(m.rs[0]):
		return m.nextMatch(r)
	}
	for from := 0; ; {
		if i := bytes.IndexByte(r.buf[r.s+from:r.e], m.rs[0]); i >= 0 {
			rec = r.take(from + i)
			return rec, r.take(1), true
		}
		from = r.e - r.s
		if !r.fill() {
			n := r.e - r.s
			return r.take(n), "", n > 0
		}
	}
}

// nextMatch reads up to a match of RS. A match at the end of what is there may
// go on, so more is read first.
func (m *machine) nextMatch(r *reader) (rec, rt string, ok bool) {
	re := m.dynamic(m.rs)
	for {
		data := r.buf[r.s:r.e]
		more := r.err == nil
		for from := 0; from <= len(data); {
			a, b, found := m.find(re, unsafe.String(unsafe.SliceData(data), len(data)), from)
			if !found || more && b == len(data) {
				break
			}
			if a == b { // a separator is not empty
				from = b + 1
				continue
			}
			rec = r.take(a)
			return rec, r.take(b - a), true
		}
		if !more {
			return r.take(len(data)), "", len(data) > 0
		}
		for n := len(data); r.fill() && r.e-r.s < 2*n; {
		}
	}
}

// nextParagraph reads up to empty lines.
func (m *machine) nextParagraph(r *reader) (rec, rt string, ok bool) {
	for {
		for r.s < r.e && r.buf[r.s] == '\n' {
			r.s++
		}
		if r.s < r.e || !r.fill() {
			break
		}
	}
	for from := 0; ; {
		data := r.buf[r.s:r.e]
		i := bytes.Index(data[from:], []byte("\n\n"))
		end := from + i
		if i >= 0 {
			n := end
			for n < len(data) && data[n] == '\n' {
				n++
			}
			if n < len(data) || r.err != nil {
				rec = r.take(end)
				return rec, r.take(n - end), true
			}
		}
		from = max(0, len(data)-1)
		if i >= 0 {
			from = end
		}
		if !r.fill() {
			data = r.buf[r.s:r.e]
			end = len(bytes.TrimRight(data, "\n"))
			rec = r.take(end)
			return rec, r.take(len(data) - end), len(data) > 0
		}
	}
}

func (r *reader) close() error {
	if r.c == nil {
		return nil
	}
	return r.c.Close()
}

// failed returns the error that ended the reading before its time.
func (r *reader) failed() error {
	if r.err == nil || errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}
