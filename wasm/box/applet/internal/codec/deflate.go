package codec

import (
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Sizes that applet.Ctx.Deflate takes.
const (
	deflateWindow = 32 << 10
	deflatePart   = 64 << 10
)

var errDeflate = errors.New("the data could not be compressed")

// NewDeflateWriter writes deflate of a level from 0 to 9, by the host where
// there is one: native code does it five times faster. Close it.
func NewDeflateWriter(c *applet.Ctx, w io.Writer, level int) (io.WriteCloser, error) {
	if c.Deflate == nil || level < 1 {
		return flate.NewWriter(w, level)
	}
	return &deflater{c: c, w: w, level: level}, nil
}

type deflater struct {
	c     *applet.Ctx
	w     io.Writer
	level int
	buf   []byte // the window before it, and the part that is collected
	dict  int    // length of the window
	out   []byte
}

func (d *deflater) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(d.buf)-d.dict == deflatePart {
			if err := d.emit(false); err != nil {
				return n, err
			}
		}
		k := min(len(p), deflatePart-(len(d.buf)-d.dict))
		d.buf = append(d.buf, p[:k]...)
		p, n = p[k:], n+k
	}
	return n, nil
}

// emit compresses the part, which becomes the window of the next one.
func (d *deflater) emit(last bool) error {
	var ok bool
	if d.out, ok = d.c.Deflate(d.out[:0], d.level, d.buf, d.dict, last); !ok {
		return errDeflate
	}
	d.dict = copy(d.buf, d.buf[max(0, len(d.buf)-deflateWindow):])
	d.buf = d.buf[:d.dict]
	_, err := d.w.Write(d.out)
	return err
}

func (d *deflater) Close() error { return d.emit(true) }

// Gzip is what the header of a gzip file says.
type Gzip struct {
	Level int // 1 to 9
	Name  string
	Time  time.Time // zero: not said
}

// NewGzipWriter writes gzip, as GNU gzip does. Close it.
func NewGzipWriter(c *applet.Ctx, w io.Writer, g Gzip) (io.WriteCloser, error) {
	head := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3} // deflate, from Unix
	if g.Name != "" {
		head[3] = 8
		head = append(append(head, g.Name...), 0)
	}
	if t := g.Time.Unix(); !g.Time.IsZero() && t > 0 && t < 1<<32 {
		binary.LittleEndian.PutUint32(head[4:], uint32(t))
	}
	switch g.Level {
	case 1:
		head[8] = 4
	case 9:
		head[8] = 2
	}
	z, err := NewDeflateWriter(c, w, g.Level)
	return &gzipWriter{z: z, w: w, head: head}, err
}

type gzipWriter struct {
	z    io.WriteCloser
	w    io.Writer
	head []byte // nil once it is written
	sum  uint32
	size uint32
}

func (g *gzipWriter) begin() error {
	if g.head == nil {
		return nil
	}
	_, err := g.w.Write(g.head)
	g.head = nil
	return err
}

func (g *gzipWriter) Write(p []byte) (int, error) {
	if err := g.begin(); err != nil {
		return 0, err
	}
	g.sum = crc32.Update(g.sum, crc32.IEEETable, p)
	g.size += uint32(len(p))
	return g.z.Write(p)
}

func (g *gzipWriter) Close() error {
	if err := errors.Join(g.begin(), g.z.Close()); err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint32(nil, g.sum)
	_, err := g.w.Write(binary.LittleEndian.AppendUint32(tail, g.size))
	return err
}
