package hexdump

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

type dumper struct {
	c       *applet.Ctx
	formats [][]unit // each is applied to every block
	block   int      // bytes of a block: what the longest of them takes
	all     bool     // also blocks that are like the one before
	tail    []piece
	out     []byte
}

// prepare finds the size of a block, and has the last unit of shorter formats
// repeated until they take as much.
func (d *dumper) prepare() {
	takes := func(units []unit) (n int) {
		for _, u := range units {
			n += u.times * u.size
		}
		return n
	}
	for _, f := range d.formats {
		d.block = max(d.block, takes(f))
	}
	for _, f := range d.formats {
		last := len(f) - 1
		for last >= 0 && f[last].size == 0 {
			last--
		}
		if last >= 0 && !f[last].given {
			f[last].times += (d.block - takes(f)) / f[last].size
		}
	}
	for _, f := range d.formats { // the unit that prints the end
		for i := range f {
			for _, p := range f[i].pieces {
				if p.kind == 'A' {
					d.tail = f[i].pieces
					f[i].times = 0
				}
			}
		}
	}
}

func (d *dumper) dump(r io.Reader, offset int64) error {
	if d.block == 0 {
		return nil
	}
	block, previous := make([]byte, d.block), make([]byte, d.block)
	any, repeating := false, false
	in := bufio.NewReaderSize(r, applet.BufSize)
	for {
		n, err := io.ReadFull(in, block)
		if n > 0 {
			if n == d.block && any && !d.all && bytes.Equal(block, previous) {
				if !repeating {
					d.out = append(d.out, "*\n"...)
				}
				repeating = true
			} else {
				repeating = false
				for _, f := range d.formats {
					d.line(f, offset, block[:n])
				}
				copy(previous, block)
				any = n == d.block
			}
			offset += int64(n)
		}
		if err != nil && offset > 0 {
			for _, p := range d.tail {
				d.piece(p, offset, nil)
			}
		}
		if len(d.out) >= applet.BufSize || err != nil {
			if _, werr := d.c.Stdout.Write(d.out); werr != nil {
				return nil
			}
			d.out = d.out[:0]
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line prints a block in one format.
func (d *dumper) line(units []unit, offset int64, block []byte) {
	for _, u := range units {
		for i := range u.times {
			for j, p := range u.pieces {
				if p.text != "" {
					text := p.text
					if u.times > 1 && i == u.times-1 && j == len(u.pieces)-1 { // no white space at the end of a list
						text = strings.TrimRight(text, " \t\n")
					}
					d.out = append(d.out, text...)
					continue
				}
				k := min(p.size, len(block))
				d.piece(p, offset, block[:k])
				offset, block = offset+int64(k), block[k:]
			}
		}
	}
}

// piece prints one conversion of data, which is short where the input ends.
func (d *dumper) piece(p piece, offset int64, data []byte) {
	s := p.spec
	switch {
	case p.kind == 0:
		d.out = append(d.out, p.text...)
		return
	case p.kind == 'a' || p.kind == 'A':
		d.out = s.Uint(d.out, uint64(offset))
		return
	case len(data) == 0: // behind the end
		d.out = cformat.Spec{Width: s.Width, Prec: -1}.String(d.out, "")
		return
	}
	var whole [8]byte
	copy(whole[:], data)
	v := uint64(0)
	for i := range 8 {
		v |= uint64(whole[i]) << (8 * i)
	}
	switch p.kind {
	case 'd':
		shift := 64 - 8*p.size
		d.out = s.Int(d.out, int64(v<<shift)>>shift)
	case 'x':
		d.out = s.Uint(d.out, v)
	case 'f':
		if p.size == 4 {
			d.out = s.Float(d.out, float64(math.Float32frombits(uint32(v))))
		} else {
			d.out = s.Float(d.out, math.Float64frombits(v))
		}
	case 's':
		s.Prec = -1
		d.out = s.String(d.out, string(data[:indexOrLen(data, 0)]))
	case 'c':
		d.out = s.String(d.out, string(data[:1]))
	case 'C':
		d.out = s.String(d.out, char(data[0]))
	case 'p':
		c := data[0]
		if c < ' ' || c >= 127 {
			c = '.'
		}
		d.out = s.String(d.out, string(rune(c)))
	case 'u':
		d.out = s.String(d.out, controlName(data[0]))
	}
}

func indexOrLen(b []byte, c byte) int {
	if i := bytes.IndexByte(b, c); i >= 0 {
		return i
	}
	return len(b)
}

func char(c byte) string {
	if i := strings.IndexByte("\x00\a\b\f\n\r\t\v", c); i >= 0 {
		return `\` + "0abfnrtv"[i:i+1]
	}
	if c >= ' ' && c < 127 {
		return string(rune(c))
	}
	s := strconv.FormatUint(uint64(c), 8)
	return strings.Repeat("0", 3-len(s)) + s
}

func controlName(c byte) string {
	const names = "nul soh stx etx eot enq ack bel bs ht lf vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us"
	switch {
	case c < ' ':
		return strings.Fields(names)[c]
	case c == 127:
		return "del"
	case c > 127:
		return strconv.FormatUint(uint64(c), 16)
	}
	return string(rune(c))
}
