// Package od is the command od.
package od

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is od.
var Command = applet.Command{
	Name:     "od",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "write an unambiguous representation of FILE, octal bytes by default",
	Help: `  -A, --address-radix=RADIX   output format for file offsets: d, o, x or n
      --endian={big|little}   swap input bytes according the specified order
  -j, --skip-bytes=BYTES      skip BYTES input bytes first
  -N, --read-bytes=BYTES      limit dump to BYTES input bytes
  -t, --format=TYPE           select output format or formats
  -v, --output-duplicates     do not use * to mark line suppression
  -w[BYTES], --width[=BYTES]  output BYTES bytes per output line
  -a -b -c -d -f -i -l -o -s -x   -t a, o1, c, u2, fF, dI, dL, o2, d2, x2
TYPE is one or more of a, c, and d, f, o, u, x with a SIZE, a number or C, S,
I, L (and F, D, L for f); z after it adds a display of printable characters.`,
	Run: run,
}

// dumper is one run.
type dumper struct {
	c         *applet.Ctx
	radix     byte
	big       bool
	skip      int64
	limit     int64
	formats   []format
	all       bool
	width     int
	out       []byte
	previous  []byte
	repeating bool
}

func run(c *applet.Ctx) int {
	d := dumper{c: c, radix: 'o', limit: math.MaxInt64}
	bytes := func(p *int64, option string) func(string) error {
		return func(v string) error {
			n, err := parseBytes(strings.TrimPrefix(v, "+"))
			if err == applet.ErrOverflow {
				return errors.New(option + " argument " + applet.Quote(v) + " too large")
			}
			if err != nil {
				return errors.New("invalid " + option + " argument " + applet.Quote(v))
			}
			*p = n
			return nil
		}
	}
	short := func(letter rune, spec string) applet.Opt {
		return applet.Do(func() { d.add(spec) }, letter, "")
	}
	files, status, ok := c.Parse(1,
		applet.Func(func(v string) error {
			if v == "" || strings.IndexByte("doxn", v[0]) < 0 {
				return errors.New("invalid output address radix " + applet.Quote(v[:min(1, len(v))]) + "; it must be one character from [doxn]")
			}
			d.radix = v[0]
			return nil
		}, 'A', "address-radix"),
		applet.Func(func(v string) error {
			i, err := applet.Choose("--endian", v, []string{"little"}, []string{"big"})
			d.big = i == 1
			return err
		}, 0, "endian"),
		applet.Func(bytes(&d.skip, "-j"), 'j', "skip-bytes"),
		applet.Func(bytes(&d.limit, "-N"), 'N', "read-bytes"),
		applet.Func(d.add, 't', "format"),
		applet.Bool(&d.all, 'v', "output-duplicates"),
		applet.Optional(func(v string, given bool) error {
			n := int64(32)
			if given {
				if strings.Trim(v, "+0123456789") != "" && v != "" && v[0] >= '0' && v[0] <= '9' && !strings.HasPrefix(v, "0x") {
					return errors.New("invalid suffix in -w argument " + applet.Quote(v))
				}
				if err := bytes(&n, "-w")(v); err != nil {
					return err
				}
			}
			d.width = int(min(n, 1<<20))
			return nil
		}, 'w', "width"),
		short('a', "a"), short('b', "o1"), short('c', "c"), short('d', "u2"), short('f', "fF"), short('i', "dI"),
		short('l', "dL"), short('o', "o2"), short('s', "d2"), short('x', "x2"), short('h', "x2"),
	)
	if !ok {
		return status
	}
	if len(d.formats) == 0 {
		d.add("o2")
	}
	d.layout()
	return d.dump(files)
}

// parseBytes reads a size; 0x begins a hexadecimal one and 0 an octal one.
func parseBytes(v string) (int64, error) {
	digits := v
	if strings.HasPrefix(v, "0") && len(v) > 1 {
		n, err := strconv.ParseInt(v, 0, 64)
		return n, err
	}
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, applet.ErrNumber
	}
	return applet.ParseSize(digits, "bkKmMGTPEZY")
}

// layout fixes the line's width and spreads the columns so that the fields of
// all formats stand below each other.
func (d *dumper) layout() {
	lcm := 1
	for _, f := range d.formats {
		for lcm%f.size != 0 {
			lcm *= 2
		}
	}
	switch {
	case d.width == 0:
		d.width = max(16, lcm)
		d.width -= d.width % lcm
	case d.width%lcm != 0:
		d.c.Warn("warning: invalid width ", strconv.Itoa(d.width), "; using ", strconv.Itoa(lcm), " instead")
		d.width = lcm
	}
	widest := 0
	for _, f := range d.formats {
		widest = max(widest, (f.field+1)*(d.width/f.size))
	}
	for i := range d.formats {
		f := &d.formats[i]
		f.pad = widest - f.field*(d.width/f.size)
	}
}

func (d *dumper) dump(files []string) int {
	if len(files) == 0 {
		files = []string{"-"}
	}
	ok, opened := true, false
	offset := int64(0)
	skip, left := d.skip, d.limit
	block := make([]byte, 0, d.width)
	buf := make([]byte, applet.BufSize/d.width*d.width+d.width)
	for _, name := range files {
		r, err := d.c.Open(name)
		if err != nil {
			d.c.WarnName(name, err)
			ok = false
			continue
		}
		opened = true
		if skip > 0 {
			n, err := io.CopyN(io.Discard, r, skip)
			skip -= n
			offset += n
			if err != nil && err != io.EOF {
				d.c.WarnName(name, err)
				ok = false
			}
		}
		for left > 0 {
			n, err := r.Read(buf[:min(int64(len(buf)), left)])
			left -= int64(n)
			for text := buf[:n]; len(text) > 0; {
				k := min(d.width-len(block), len(text))
				block = append(block, text[:k]...)
				text = text[k:]
				if len(block) == d.width {
					d.block(offset, block, false)
					offset += int64(len(block))
					block = block[:0]
				}
			}
			if err != nil {
				if err != io.EOF {
					d.c.WarnName(name, err)
					ok = false
				}
				break
			}
			if len(d.out) >= applet.BufSize && !d.flush() {
				r.Close()
				return 1
			}
		}
		r.Close()
	}
	if !opened {
		return 1
	}
	if skip > 0 {
		d.flush()
		d.c.Flush()
		d.c.Warn("cannot skip past end of combined input")
		return 1
	}
	if len(block) > 0 {
		d.block(offset, block, true)
		offset += int64(len(block))
	}
	if d.radix != 'n' {
		d.address(offset)
		d.out = append(d.out, '\n')
	}
	d.flush()
	return applet.Status(ok)
}

func (d *dumper) flush() bool {
	_, err := d.c.Stdout.Write(d.out)
	d.out = d.out[:0]
	return err == nil
}

func (d *dumper) address(offset int64) {
	base, digits := 8, 7
	switch d.radix {
	case 'n':
		return
	case 'd':
		base = 10
	case 'x':
		base, digits = 16, 6
	}
	s := strconv.FormatInt(offset, base)
	for range digits - len(s) {
		d.out = append(d.out, '0')
	}
	d.out = append(d.out, s...)
}

// block writes the lines of one block, which only the last one does not fill.
func (d *dumper) block(offset int64, block []byte, last bool) {
	if !d.all && !last && d.previous != nil && string(d.previous) == string(block) {
		if !d.repeating {
			d.out = append(d.out, "*\n"...)
			d.repeating = true
		}
		return
	}
	d.repeating = false
	d.previous = append(d.previous[:0], block...)
	for i := range d.formats {
		if i == 0 {
			d.address(offset)
		} else if d.radix != 'n' {
			digits := 7
			if d.radix == 'x' {
				digits = 6
			}
			d.out = append(d.out, strings.Repeat(" ", digits)...)
		}
		d.line(&d.formats[i], block)
		d.out = append(d.out, '\n')
	}
}
