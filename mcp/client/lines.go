package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// edge is how much is kept of the start and the end of a line that is too long.
const edge = 512

// A longLine is the error of a line over the limit; the next one can be read.
type longLine struct{ head, tail []byte }

func (*longLine) Error() string { return "a line is longer than the limit" }

// lines reads lines of at most max bytes.
type lines struct {
	br  *bufio.Reader
	max int
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) }

// next returns the next line that is not empty, without the space round it.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// line holds no more of a line than max, whatever its length.
func (l *lines) line() ([]byte, error) {
	var line []byte
	var long *longLine
	for {
		part, err := l.br.ReadSlice('\n')
		switch {
		case long != nil:
			long.tail = append(long.tail, part...)
			long.tail = long.tail[max(0, len(long.tail)-edge):]
		case len(line)+len(part) > l.max:
			line = append(line, part...)
			long = &longLine{bytes.Clone(line[:min(edge, len(line))]), bytes.Clone(line[max(0, len(line)-edge):])}
			line = nil
		default:
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long != nil && (err == nil || errors.Is(err, io.EOF)):
			return nil, long
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		default:
			return line, nil
		}
	}
}
