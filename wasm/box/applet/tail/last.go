package tail

import (
	"bytes"
	"io"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// last writes the part of r that was asked for.
func (t *tailer) last(r io.Reader) error {
	if t.plus {
		return t.from(r)
	}
	if s, ok := r.(io.ReadSeeker); ok {
		if fi, err := statOf(r); err == nil && fi.Mode().IsRegular() {
			if pos, err := s.Seek(0, io.SeekCurrent); err == nil {
				return t.seekLast(s, pos, fi.Size())
			}
		}
	}
	return t.streamLast(r)
}

func statOf(r io.Reader) (os.FileInfo, error) {
	if f, ok := r.(interface{ Stat() (os.FileInfo, error) }); ok {
		return f.Stat()
	}
	return nil, os.ErrInvalid
}

// from writes everything from the count-th byte or line on.
func (t *tailer) from(r io.Reader) error {
	skip := max(0, t.count-1)
	if t.bytes && skip > 0 {
		done := int64(0)
		if s, ok := r.(io.Seeker); ok {
			if fi, err := statOf(r); err == nil && fi.Mode().IsRegular() {
				if _, err := s.Seek(skip, io.SeekCurrent); err == nil {
					done = skip
				}
			}
		}
		if done == 0 {
			if _, err := io.CopyN(io.Discard, r, skip); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
		skip = 0
	}
	buf := make([]byte, applet.BufSize)
	for {
		n, err := r.Read(buf)
		text := buf[:n]
		for skip > 0 && len(text) > 0 {
			i := bytes.IndexByte(text, t.delim)
			if i < 0 {
				text = nil
				break
			}
			text = text[i+1:]
			skip--
		}
		if len(text) > 0 {
			if _, werr := t.c.Stdout.Write(text); werr != nil {
				return errWrite
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// seekLast looks for the place from the end of a file, so that a big one is
// not read as a whole.
func (t *tailer) seekLast(r io.ReadSeeker, pos, size int64) error {
	start := pos
	if t.bytes {
		start = max(pos, size-t.count)
	} else if t.count == 0 {
		start = size
	} else {
		buf := make([]byte, applet.BufSize)
		left := t.count
		at := size
		first := true
	search:
		for at > pos {
			n := min(int64(len(buf)), at-pos)
			at -= n
			if _, err := r.Seek(at, io.SeekStart); err != nil {
				return err
			}
			got, err := io.ReadFull(r, buf[:n])
			if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
				return err
			}
			block := buf[:got]
			if first && got > 0 && block[got-1] == t.delim {
				block = block[:got-1] // it ends the last line, it begins none
			}
			first = first && got == 0
			for {
				i := bytes.LastIndexByte(block, t.delim)
				if i < 0 {
					break
				}
				if left--; left == 0 {
					start = at + int64(i) + 1
					break search
				}
				block = block[:i]
			}
		}
	}
	if start > size {
		start = size
	}
	if _, err := r.Seek(start, io.SeekStart); err != nil {
		return err
	}
	return t.copyAll(r)
}

func (t *tailer) copyAll(r io.Reader) error {
	buf := make([]byte, applet.BufSize)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := t.c.Stdout.Write(buf[:n]); werr != nil {
				return errWrite
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// streamLast keeps the last count bytes or lines of a pipe, and no more than
// as much again.
func (t *tailer) streamLast(r io.Reader) error {
	var held []byte
	s := 0
	lines := int64(0) // delimiters in held[s:]
	buf := make([]byte, applet.BufSize)
	for {
		n, err := r.Read(buf)
		if t.count > 0 {
			if s > 0 && s >= len(held)/2 {
				held = held[:copy(held, held[s:])]
				s = 0
			}
			held = append(held, buf[:n]...)
			if t.bytes {
				s = int(max(int64(s), int64(len(held))-t.count))
			} else {
				lines += int64(bytes.Count(buf[:n], []byte{t.delim}))
				for lines > t.count {
					s += bytes.IndexByte(held[s:], t.delim) + 1
					lines--
				}
			}
		}
		if err == nil {
			continue
		}
		if err != io.EOF {
			return err
		}
		if !t.bytes && lines == t.count && len(held) > s && held[len(held)-1] != t.delim {
			s += bytes.IndexByte(held[s:], t.delim) + 1 // the unfinished line is one of them
		}
		if _, err := t.c.Stdout.Write(held[s:]); err != nil {
			return errWrite
		}
		return nil
	}
}
