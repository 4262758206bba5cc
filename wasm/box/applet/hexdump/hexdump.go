// Package hexdump is the command hexdump.
package hexdump

import (
	"bufio"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is hexdump.
var Command = applet.Command{
	Name:     "hexdump",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "display file contents in hexadecimal, decimal, octal, or ascii",
	Help: `  -b, --one-byte-octal      one-byte octal display
  -c, --one-byte-char       one-byte character display
  -C, --canonical           canonical hex+ASCII display
  -d, --two-bytes-decimal   two-byte decimal display
  -o, --two-bytes-octal     two-byte octal display
  -x, --two-bytes-hex       two-byte hexadecimal display
  -n, --length LENGTH       interpret only length bytes of input
  -s, --skip OFFSET         skip offset bytes from the beginning
  -v, --no-squeezing        output identical lines`,
	Run: run,
}

// style is one form of a line.
type style struct {
	size   int // bytes of a field
	base   int // 0: characters
	digits int
	width  int // columns of a field
	canon  bool
}

func run(c *applet.Ctx) int {
	var styles []style
	length, skip := int64(math.MaxInt64), int64(0)
	all := false
	add := func(s style) func() { return func() { styles = append(styles, s) } }
	num := func(p *int64, what string) func(string) error {
		return func(v string) error {
			n, err := int64(0), error(nil)
			if strings.HasPrefix(v, "0") && len(v) > 1 {
				n, err = strconv.ParseInt(v, 0, 64)
			} else {
				n, err = applet.ParseSize(v, "bkKmMGTPE")
			}
			if err != nil || v == "" || v[0] < '0' || v[0] > '9' {
				return errors.New("failed to parse " + what + ": " + applet.Quote(v))
			}
			*p = n
			return nil
		}
	}
	files, status, ok := c.Parse(1,
		applet.Do(add(style{size: 1, base: 8, digits: 3, width: 4}), 'b', "one-byte-octal"),
		applet.Do(add(style{size: 1, base: 0, width: 4}), 'c', "one-byte-char"),
		applet.Do(add(style{canon: true, size: 1}), 'C', "canonical"),
		applet.Do(add(style{size: 2, base: 10, digits: 5, width: 8}), 'd', "two-bytes-decimal"),
		applet.Do(add(style{size: 2, base: 8, digits: 6, width: 8}), 'o', "two-bytes-octal"),
		applet.Do(add(style{size: 2, base: 16, digits: 4, width: 8}), 'x', "two-bytes-hex"),
		applet.Func(num(&length, "length"), 'n', "length"),
		applet.Func(num(&skip, "offset"), 's', "skip"),
		applet.Bool(&all, 'v', "no-squeezing"),
	)
	if !ok {
		return status
	}
	if len(styles) == 0 {
		styles = []style{{size: 2, base: 16, digits: 4, width: 5}}
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	d := dumper{c: c, styles: styles, all: all}
	var readers []io.Reader
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			c.Warn(name, ": ", applet.Reason(err))
			ok = false
			continue
		}
		defer r.Close()
		readers = append(readers, r)
	}
	if len(readers) == 0 {
		c.Warn("all input file arguments failed")
		return 1
	}
	in := io.MultiReader(readers...)
	n, err := io.CopyN(io.Discard, in, skip)
	if err == nil {
		err = d.dump(io.LimitReader(in, length), n)
	} else if err == io.EOF {
		err = nil
	}
	if err != nil {
		c.Warn(files[0], ": ", applet.Reason(err))
		ok = false
	}
	return applet.Status(ok)
}

type dumper struct {
	c      *applet.Ctx
	styles []style
	all    bool
	out    []byte
}

func (d *dumper) dump(r io.Reader, offset int64) error {
	block := make([]byte, 16)
	var previous [16]byte
	any, repeating := false, false
	buffered := bufio.NewReaderSize(r, applet.BufSize)
	for {
		n, err := io.ReadFull(buffered, block)
		if n > 0 {
			if n == 16 && any && !d.all && [16]byte(block) == previous {
				if !repeating {
					d.out = append(d.out, "*\n"...)
				}
				repeating = true
			} else {
				repeating = false
				for _, s := range d.styles {
					d.line(s, offset, block[:n])
				}
				copy(previous[:], block)
				any = n == 16
			}
			offset += int64(n)
		}
		if len(d.out) >= applet.BufSize || err != nil {
			if err != nil && offset > 0 {
				digits := 7
				if d.styles[len(d.styles)-1].canon {
					digits = 8
				}
				d.out = append(d.out, zeros(strconv.FormatInt(offset, 16), digits)...)
				d.out = append(d.out, '\n')
			}
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

func zeros(s string, width int) string {
	return strings.Repeat("0", max(0, width-len(s))) + s
}

func (d *dumper) line(s style, offset int64, block []byte) {
	if s.canon {
		d.out = append(d.out, zeros(strconv.FormatInt(offset, 16), 8)...)
		for i := range 16 {
			if i%8 == 0 {
				d.out = append(d.out, ' ')
			}
			d.out = append(d.out, ' ')
			if i < len(block) {
				d.out = append(d.out, "0123456789abcdef"[block[i]>>4], "0123456789abcdef"[block[i]&15])
			} else {
				d.out = append(d.out, "  "...)
			}
		}
		d.out = append(d.out, "  |"...)
		for _, c := range block {
			if c < ' ' || c >= 127 {
				c = '.'
			}
			d.out = append(d.out, c)
		}
		d.out = append(d.out, "|\n"...)
		return
	}
	d.out = append(d.out, zeros(strconv.FormatInt(offset, 16), 7)...)
	for i := 0; i < 16; i += s.size {
		if i >= len(block) {
			d.out = append(d.out, strings.Repeat(" ", s.width)...)
			continue
		}
		v := uint64(block[i])
		if s.size == 2 && i+1 < len(block) {
			v |= uint64(block[i+1]) << 8
		}
		text := ""
		if s.base == 0 {
			text = char(block[i])
		} else {
			text = zeros(strconv.FormatUint(v, s.base), s.digits)
		}
		d.out = applet.AppendPad(d.out, text, s.width)
	}
	d.out = append(d.out, '\n')
}

func char(c byte) string {
	if i := strings.IndexByte("\x00\a\b\f\n\r\t\v", c); i >= 0 {
		return `\` + "0abfnrtv"[i:i+1]
	}
	if c >= ' ' && c < 127 {
		return string(rune(c))
	}
	return zeros(strconv.FormatUint(uint64(c), 8), 3)
}
