package wasi

import (
	"io"
	"math"
)

func fdRead(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	if d.dir {
		return eISDIR
	}
	if d.rights&rightRead == 0 {
		return eBADF
	}
	if d.flags&flagNonblock != 0 && !d.file.ready(false) {
		return eAGAIN
	}
	first := true
	n, e := c.read(c.u32(1), c.u32(2), func(b []byte) (int, error) {
		if !first && d.file.stream() && (d.file.waiter(false) == nil || !d.file.ready(false)) {
			return 0, nil // having read something, a read does not wait for more
		}
		first = false
		return readSome(d.file.r, b)
	})
	if e != 0 {
		return e
	}
	return c.mem.put32(c.u32(3), n)
}

// readSome reads until something has come. A reader that gives nothing, time
// and again, is broken.
func readSome(r io.Reader, b []byte) (int, error) {
	for range 100 {
		if n, err := r.Read(b); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// read fills a vector until f comes short.
func (c *call) read(vec, n uint32, f func([]byte) (int, error)) (uint32, errno) {
	var total uint32
	var fault errno
	e := c.mem.iovecs(vec, n, func(b []byte) bool {
		if uint64(total)+uint64(len(b)) > math.MaxInt32 {
			return false
		}
		c.alive()
		k, err := f(b)
		total += uint32(k)
		if err != nil && err != io.EOF && total == 0 {
			c.alive() // the reader failed because the context is over
			fault = c.tellStream(err)
		}
		return err == nil && k == len(b)
	})
	if e == 0 {
		e = fault
	}
	return total, e
}

func fdPread(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	switch {
	case d.dir:
		return eISDIR
	case d.file.f == nil:
		return eSPIPE
	case d.rights&rightRead == 0:
		return eBADF
	case int64(c.p[3]) < 0:
		return eINVAL
	}
	off := int64(c.p[3])
	n, e := c.read(c.u32(1), c.u32(2), func(b []byte) (int, error) {
		k, err := d.file.f.ReadAt(b, off)
		off += int64(k)
		return k, err
	})
	if e != 0 {
		return e
	}
	return c.mem.put32(c.u32(4), n)
}

func fdWrite(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	if d.dir || d.rights&rightWrite == 0 {
		return eBADF
	}
	if d.flags&flagNonblock != 0 && !d.file.ready(true) {
		return eAGAIN
	}
	n, e := c.write(c.u32(1), c.u32(2), func(b []byte) (int, error) {
		if d.flags&flagAppend != 0 && !d.opened && d.file.f != nil {
			// The flag came after the file was opened.
			if _, err := d.file.f.Seek(0, io.SeekEnd); err != nil {
				return 0, err
			}
		}
		return d.file.w.Write(b)
	})
	if e != 0 {
		return e
	}
	return c.mem.put32(c.u32(3), n)
}

// write writes out a vector until f fails. What was written before counts:
// the failure will come again.
func (c *call) write(vec, n uint32, f func([]byte) (int, error)) (uint32, errno) {
	var total uint32
	var fault errno
	e := c.mem.iovecs(vec, n, func(b []byte) bool {
		if uint64(total)+uint64(len(b)) > math.MaxInt32 {
			return false
		}
		c.alive()
		k, err := f(b)
		k = min(max(k, 0), len(b))
		total += uint32(k)
		if err != nil {
			c.alive()
			if n := c.tellStream(err); total == 0 {
				fault = n
			}
			return false
		}
		return k == len(b)
	})
	if e == 0 {
		e = fault
	}
	return total, e
}

func fdPwrite(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	switch {
	case d.dir || d.rights&rightWrite == 0:
		return eBADF
	case d.file.f == nil:
		return eSPIPE
	case int64(c.p[3]) < 0:
		return eINVAL
	}
	off := int64(c.p[3])
	n, e := c.write(c.u32(1), c.u32(2), func(b []byte) (int, error) {
		k, err := d.file.f.WriteAt(b, off)
		off += int64(k)
		return k, err
	})
	if e != 0 {
		return e
	}
	return c.mem.put32(c.u32(4), n)
}

func fdSeek(c *call) errno { return c.seek(int64(c.p[1]), c.u32(2), c.u32(3)) }

func fdTell(c *call) errno { return c.seek(0, io.SeekCurrent, c.u32(1)) }

func (c *call) seek(off int64, whence, result uint32) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	switch {
	case d.dir:
		return eBADF
	case d.file.f == nil:
		return eSPIPE
	case whence > 2:
		return eINVAL
	}
	n, err := d.file.f.Seek(off, int(whence))
	if err != nil {
		return c.tell(err)
	}
	return c.mem.put64(result, uint64(n))
}

// fdSync has nothing to do: the file systems of the sandbox keep nothing
// back.
func fdSync(c *call) errno {
	_, e := c.get(c.u32(0))
	return e
}

func fdAdvise(c *call) errno {
	d, e := c.get(c.u32(0))
	switch {
	case e != 0:
		return e
	case d.dir:
		return eBADF
	case d.file.f == nil:
		return eSPIPE
	case c.u32(3) > 5 || int64(c.p[1]) < 0 || int64(c.p[2]) < 0:
		return eINVAL
	}
	return 0
}

func fdAllocate(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	off, n := int64(c.p[1]), int64(c.p[2])
	switch {
	case d.dir || d.rights&rightWrite == 0:
		return eBADF
	case d.file.f == nil:
		return eSPIPE
	case off < 0 || n <= 0 || off > math.MaxInt64-n:
		return eINVAL
	}
	fi, err := d.file.f.Stat()
	if err == nil && fi.Size() < off+n {
		err = d.file.f.Truncate(off + n)
	}
	return c.tell(err)
}
