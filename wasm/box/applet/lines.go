package applet

import (
	"bytes"
	"io"
)

// Lines reads records that end with a delimiter. Its buffer is reused: what
// Next returns is good until the next call.
type Lines struct {
	r     io.Reader
	delim byte
	buf   []byte
	s, e  int // the unread part of buf
	err   error
	full  bool
}

// NewLines reads records from r, which end with delim: '\n' or 0.
func NewLines(r io.Reader, delim byte) *Lines {
	return &Lines{r: r, delim: delim, buf: make([]byte, BufSize)}
}

// BufSize is the size in bytes of the buffers that commands read and write
// with. One call into the host for so much costs next to nothing.
const BufSize = 64 << 10

// Next returns the next record without its delimiter, and false at the end.
func (l *Lines) Next() ([]byte, bool) {
	from := l.s
	for {
		if i := bytes.IndexByte(l.buf[from:l.e], l.delim); i >= 0 {
			rec := l.buf[l.s : from+i]
			l.s, l.full = from+i+1, true
			return rec, true
		}
		if l.err != nil {
			rec := l.buf[l.s:l.e]
			l.s, l.full = l.e, false
			return rec, len(rec) > 0
		}
		if l.s > 0 {
			copy(l.buf, l.buf[l.s:l.e])
			l.e -= l.s
			l.s = 0
		}
		from = l.e
		if l.e == len(l.buf) {
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		}
		n, err := l.r.Read(l.buf[l.e:])
		l.e += n
		l.err = err
	}
}

// Full tells whether the record that Next returned last had its delimiter.
func (l *Lines) Full() bool { return l.full }

// Err returns the error that ended the reading, nil at the end of the file.
func (l *Lines) Err() error {
	if l.err == io.EOF {
		return nil
	}
	return l.err
}
