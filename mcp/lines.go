package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errLineTooLong = errors.New("line too long")

// lines reads messages, one a line.
type lines struct {
	br  *bufio.Reader
	max int
}

func newLines(r io.Reader, max int) *lines { return &lines{bufio.NewReaderSize(r, 64<<10), max} }

// next returns the next line that is not empty. It skips a line that is too
// long, holding no more of it than max, and reports errLineTooLong at its
// end; a last line without its newline counts.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))) // a byte order mark some shells write
		if len(line) > 0 {
			return line, nil
		}
	}
}

func (l *lines) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.br.ReadSlice('\n')
		if long = long || len(line)+len(part) > l.max; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLineTooLong
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		default:
			return line, nil
		}
	}
}
