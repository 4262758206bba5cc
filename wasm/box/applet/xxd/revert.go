package xxd

import (
	"io"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// revert makes bytes of a dump.
func (d *dumper) revert(r io.Reader) error {
	lines := applet.NewLines(r, '\n')
	if d.plain {
		half := -1
		for {
			line, more := lines.Next()
			if !more {
				break
			}
			for _, c := range line {
				v := digit(c)
				if v < 0 {
					continue
				}
				if half < 0 {
					half = v
					continue
				}
				d.out = append(d.out, byte(half<<4|v))
				half = -1
			}
			if len(d.out) >= applet.BufSize && !d.flush() {
				return nil
			}
		}
		d.flush()
		return lines.Err()
	}
	pos := int64(0)
	for {
		line, more := lines.Next()
		if !more {
			break
		}
		addr, bytes, ok := parse(string(line), d.cols)
		if !ok {
			continue
		}
		if addr += d.seek; addr != pos {
			if err := d.seekTo(addr, pos); err != nil {
				return err
			}
		}
		d.out = append(d.out, bytes...)
		pos = addr + int64(len(bytes))
		if len(d.out) >= applet.BufSize && !d.flush() {
			return nil
		}
	}
	d.flush()
	return lines.Err()
}

// seekTo moves the output from pos to addr: forward with zeros, backward only
// in a file.
func (d *dumper) seekTo(addr, pos int64) error {
	if !d.flush() {
		return nil
	}
	if s, ok := d.w.(io.Seeker); ok {
		_, err := s.Seek(addr, io.SeekStart)
		return err
	}
	if addr < pos {
		return errSeek
	}
	zeros := make([]byte, applet.BufSize)
	for n := addr - pos; n > 0; {
		k := min(n, int64(len(zeros)))
		if _, err := d.w.Write(zeros[:k]); err != nil {
			return nil
		}
		n -= k
	}
	return nil
}

type seekError struct{}

func (seekError) Error() string { return "Sorry, cannot seek backwards." }

var errSeek error = seekError{}

// parse reads a line of a dump: an address, a colon, and up to cols bytes in
// hexadecimal; what comes after two blanks is text.
func parse(line string, cols int) (addr int64, bytes []byte, ok bool) {
	a, rest, ok := strings.Cut(line, ":")
	if !ok || a == "" {
		return 0, nil, false
	}
	for _, c := range []byte(strings.TrimSpace(a)) {
		v := digit(c)
		if v < 0 {
			return 0, nil, false
		}
		addr = addr<<4 | int64(v)
	}
	half := -1
	blanks := 0
	for _, c := range []byte(rest) {
		v := digit(c)
		if v < 0 {
			if blanks++; c != ' ' || blanks > 1 {
				break
			}
			continue
		}
		blanks = 0
		if half < 0 {
			half = v
			continue
		}
		bytes = append(bytes, byte(half<<4|v))
		half = -1
		if len(bytes) == cols {
			break
		}
	}
	return addr, bytes, true
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|32 >= 'a' && c|32 <= 'f':
		return int(c|32-'a') + 10
	}
	return -1
}
