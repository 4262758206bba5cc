package dd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// copy copies until the end or the count.
func (d *job) copy() bool {
	if !d.skipInput() {
		return false
	}
	buf := make([]byte, d.ibs)
	left := int64(-1) // bytes still to read
	if d.count >= 0 && d.cntB {
		left = d.count
	}
	ok := true
	for blocks := int64(0); d.count < 0 || d.cntB || blocks < d.count; blocks++ {
		want := d.ibs
		if left >= 0 {
			want = min(want, left)
		}
		if want == 0 {
			break
		}
		n, err := d.read(buf[:want])
		if err != nil && err != io.EOF {
			d.c.Flush()
			d.c.Warn("error reading ", d.name.in, ": ", applet.Reason(err))
			ok = false
			if d.conv&noerror == 0 || n == 0 { // an error without progress would come for ever
				break
			}
		}
		if n == 0 {
			break
		}
		if left >= 0 {
			left -= int64(n)
		}
		if int64(n) < d.ibs {
			d.inPart++
			if d.conv&sync != 0 {
				fill := byte(0)
				if d.conv&(block|unblock) != 0 {
					fill = ' '
				}
				for i := n; i < len(buf); i++ {
					buf[i] = fill
				}
				n = len(buf)
			}
		} else {
			d.inFull++
		}
		if err := d.convert(buf[:n]); err != nil {
			return d.cannotWrite(err)
		}
		if err == io.EOF {
			break
		}
	}
	if err := d.end(); err != nil {
		return d.cannotWrite(err)
	}
	return ok
}

func (d *job) cannotWrite(err error) bool {
	if !errors.Is(err, syscall.EPIPE) || d.file != nil {
		d.c.Warn("error writing ", d.name.out, ": ", applet.Reason(err))
	}
	return false
}

// read reads one block: what one read gives, or with fullblock all of it.
func (d *job) read(p []byte) (int, error) {
	if d.iflag&fullblock != 0 {
		n, err := io.ReadFull(d.r, p)
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		return n, err
	}
	for {
		n, err := d.r.Read(p)
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// skipInput seeks where that is possible and reads where it is not.
func (d *job) skipInput() bool {
	n := d.offset(d.skip, d.skipB, d.ibs)
	if n == 0 {
		return true
	}
	if f, ok := d.r.(*os.File); ok {
		at, err := f.Seek(0, io.SeekCurrent)
		fi, err2 := f.Stat()
		if err == nil && err2 == nil && fi.Mode().IsRegular() {
			if at+n > fi.Size() {
				d.cannotSkip()
				n = max(0, fi.Size()-at)
			}
			if _, err = f.Seek(n, io.SeekCurrent); err == nil {
				return true
			}
		}
	}
	gone, err := io.CopyN(io.Discard, d.r, n)
	switch {
	case err == io.EOF && gone < n:
		d.cannotSkip()
	case err != nil:
		d.c.Warn("error reading ", d.name.in, ": ", applet.Reason(err))
		return false
	}
	return true
}

func (d *job) cannotSkip() {
	name := d.name.in
	if d.in != "" {
		name = applet.Name(d.in)
	}
	d.c.Warn(name, ": cannot skip to specified offset")
}

// convert treats one block of input and writes what it gives.
func (d *job) convert(p []byte) error {
	switch {
	case d.conv&lcase != 0:
		for i, b := range p {
			if b >= 'A' && b <= 'Z' {
				p[i] = b | 32
			}
		}
	case d.conv&ucase != 0:
		for i, b := range p {
			if b >= 'a' && b <= 'z' {
				p[i] = b &^ 32
			}
		}
	}
	if d.conv&swab != 0 {
		p = d.swap(p)
	}
	switch {
	case d.conv&block != 0:
		return d.gather(d.toBlocks(p))
	case d.conv&unblock != 0:
		return d.gather(d.toLines(p))
	case d.bs > 0:
		return d.write(p) // short blocks stay short
	}
	return d.gather(p)
}

// swap swaps pairs of bytes; one without a partner waits for the next block.
func (d *job) swap(p []byte) []byte {
	p = append(d.odd, p...)
	whole := len(p) &^ 1
	d.odd = append([]byte(nil), p[whole:]...)
	p = p[:whole]
	for i := 0; i < whole; i += 2 {
		p[i], p[i+1] = p[i+1], p[i]
	}
	return p
}

// toBlocks pads lines to records of cbs bytes.
func (d *job) toBlocks(p []byte) []byte {
	var out []byte
	for _, b := range p {
		if b == '\n' {
			if d.column < d.cbs {
				out = append(out, bytes.Repeat([]byte{' '}, int(d.cbs-d.column))...)
			}
			d.column = 0
			continue
		}
		if d.column == d.cbs {
			d.truncated++
		} else if d.column < d.cbs {
			out = append(out, b)
		}
		d.column++
	}
	return out
}

// toLines makes lines of records, without the spaces at their ends.
func (d *job) toLines(p []byte) []byte {
	var out []byte
	for _, b := range p {
		if d.column == d.cbs {
			d.column, d.spaces = 0, 0
			out = append(out, '\n')
		}
		d.column++
		if b == ' ' {
			d.spaces++
			continue
		}
		for ; d.spaces > 0; d.spaces-- {
			out = append(out, ' ')
		}
		out = append(out, b)
	}
	return out
}

// gather writes whole output blocks and keeps the rest.
func (d *job) gather(p []byte) error {
	if len(d.pending) > 0 {
		k := min(len(p), int(d.obs)-len(d.pending))
		d.pending = append(d.pending, p[:k]...)
		p = p[k:]
		if int64(len(d.pending)) < d.obs {
			return nil
		}
		if err := d.write(d.pending); err != nil {
			return err
		}
		d.pending = d.pending[:0]
	}
	for int64(len(p)) >= d.obs {
		if err := d.write(p[:d.obs]); err != nil {
			return err
		}
		p = p[d.obs:]
	}
	d.pending = append(d.pending, p...)
	return nil
}

// end writes what is left when the input has ended.
func (d *job) end() error {
	if len(d.odd) > 0 {
		if err := d.gather(d.odd); err != nil {
			return err
		}
	}
	var rest []byte
	switch {
	case d.conv&block != 0 && d.column > 0 && d.column < d.cbs:
		rest = bytes.Repeat([]byte{' '}, int(d.cbs-d.column))
	case d.conv&unblock != 0 && d.column > 0:
		rest = []byte{'\n'}
	}
	if err := d.gather(rest); err != nil {
		return err
	}
	if len(d.pending) > 0 {
		return d.write(d.pending)
	}
	return nil
}

// write writes one block.
func (d *job) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if d.conv&sparse != 0 && d.file != nil && len(bytes.TrimLeft(p, "\x00")) == 0 {
		if _, err := d.file.Seek(int64(len(p)), io.SeekCurrent); err == nil {
			d.hole = true
			d.counted(len(p))
			return nil
		}
	}
	n, err := d.w.Write(p)
	if err != nil {
		if n > 0 {
			d.written += int64(n)
			d.outPart++
		}
		return err
	}
	d.hole = false
	d.counted(n)
	return nil
}

func (d *job) counted(n int) {
	d.written += int64(n)
	if int64(n) == d.obs {
		d.outFull++
	} else {
		d.outPart++
	}
}

// close ends the output; a file that ends in a hole gets its length.
func (d *job) close() error {
	if d.file == nil {
		return d.c.Flush()
	}
	var err error
	if d.hole {
		var at int64
		if at, err = d.file.Seek(0, io.SeekCurrent); err == nil {
			err = d.file.Truncate(at)
		}
	}
	if e := d.file.Close(); err == nil {
		err = e
	}
	return err
}
