// Package xxd is the command xxd.
package xxd

import (
	"bufio"
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is xxd.
var Command = applet.Command{
	Name:     "xxd",
	Synopsis: "[OPTION]... [INFILE [OUTFILE]]",
	Summary:  "make a hex dump or do the reverse",
	Help: `  -a          toggle autoskip: a single '*' replaces nul-lines
  -b          binary digit dump
  -c COLS     format COLS octets per line (default 16, -i 12, -ps 30)
  -d          show offset in decimal instead of hex
  -e          little-endian dump
  -g BYTES    number of octets per group in normal output (default 2, -e 4)
  -i          output in C include file style
  -l LEN      stop after LEN octets
  -n NAME     set the variable name used in C include output
  -o OFF      add OFF to the displayed file position
  -p, -ps     output in postscript plain hexdump style
  -r          reverse operation: convert hexdump into binary
  -s SEEK     start at SEEK bytes absolute
  -u          use upper case hex letters`,
	Run: run,
}

type dumper struct {
	c                                         *applet.Ctx
	skipNul, binary, decimal, little, include bool
	plain, reverse                            bool
	cols, group                               int
	length, offset, seek                      int64
	hex, name                                 string
	w                                         io.Writer
	out                                       []byte
}

func run(c *applet.Ctx) int {
	d := dumper{c: c, cols: -1, group: -1, length: math.MaxInt64, hex: "0123456789abcdef", w: c.Stdout}
	num := func(p *int64) func(string) error {
		return func(v string) error {
			n, err := strconv.ParseInt(strings.TrimPrefix(v, "+"), 0, 64)
			if err != nil {
				return errors.New("invalid number " + applet.Quote(v))
			}
			*p = n
			return nil
		}
	}
	cols, group := int64(-1), int64(-1)
	// xxd's options are words behind a single dash, too.
	for i, a := range c.Args {
		switch a {
		case "-ps", "-postscript", "-plain":
			c.Args[i] = "-p"
		case "-cols":
			c.Args[i] = "-c"
		case "-len":
			c.Args[i] = "-l"
		case "-seek", "-skip":
			c.Args[i] = "-s"
		case "-revert":
			c.Args[i] = "-r"
		case "-include":
			c.Args[i] = "-i"
		case "-bits":
			c.Args[i] = "-b"
		case "-groupsize":
			c.Args[i] = "-g"
		}
	}
	args, status, ok := c.Parse(1,
		applet.Do(func() { d.skipNul = !d.skipNul }, 'a', "autoskip"),
		applet.Do(func() { d.form(&d.binary) }, 'b', "bits"),
		applet.Func(num(&cols), 'c', "cols"),
		applet.Bool(&d.decimal, 'd', ""),
		applet.Do(func() { d.form(&d.little) }, 'e', ""),
		applet.Func(num(&group), 'g', "groupsize"),
		applet.Do(func() { d.form(&d.include) }, 'i', "include"),
		applet.Func(num(&d.length), 'l', "len"),
		applet.String(&d.name, 'n', "name"),
		applet.Func(num(&d.offset), 'o', "offset"),
		applet.Do(func() { d.form(&d.plain) }, 'p', "plain"),
		applet.Bool(&d.reverse, 'r', "revert"),
		applet.Func(num(&d.seek), 's', "seek"),
		applet.Do(func() { d.hex = "0123456789ABCDEF" }, 'u', ""),
	)
	if !ok {
		return status
	}
	d.cols, d.group = int(cols), int(group)
	d.defaults()
	if d.cols > 256 && !d.plain && !d.include {
		c.Warn("invalid number of columns (max. 256).")
		return 1
	}
	if len(args) > 2 {
		return c.ExtraOperand(args[2])
	}
	name := "-"
	if len(args) > 0 {
		name = args[0]
	}
	r, err := c.Open(name)
	if err != nil {
		c.Warn(name, ": ", applet.Reason(err))
		return 2
	}
	defer r.Close()
	if len(args) == 2 && args[1] != "-" {
		flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if d.reverse {
			flag = os.O_WRONLY | os.O_CREATE
		}
		f, err := os.OpenFile(args[1], flag, 0o666)
		if err != nil {
			c.Warn(args[1], ": ", applet.Reason(err))
			return 3
		}
		defer f.Close()
		d.w = f
	}
	if d.name == "" && name != "-" {
		d.name = name
	}
	if d.reverse {
		err = d.revert(r)
	} else {
		err = d.dump(r)
	}
	if err != nil {
		c.Warn(applet.Reason(err))
		return 2
	}
	return 0
}

// form chooses one form of output; the last one chosen holds.
func (d *dumper) form(which *bool) {
	d.binary, d.little, d.include, d.plain = false, false, false, false
	*which = true
}

func (d *dumper) defaults() {
	if d.cols <= 0 {
		switch {
		case d.plain:
			if d.cols != 0 {
				d.cols = 30
			} else {
				d.cols = math.MaxInt32
			}
		case d.include:
			d.cols = 12
		case d.binary:
			d.cols = 6
		default:
			d.cols = 16
		}
	}
	if d.group < 0 {
		d.group = 2
		if d.binary {
			d.group = 1
		}
		if d.little {
			d.group = 4
		}
	}
	if d.group == 0 || d.group > d.cols {
		d.group = d.cols
	}
}

// start goes to where the dump begins.
func (d *dumper) start(r io.Reader) error {
	if d.seek == 0 {
		return nil
	}
	if s, ok := r.(io.Seeker); ok {
		whence := io.SeekStart
		if d.seek < 0 {
			whence = io.SeekEnd
		}
		if pos, err := s.Seek(d.seek, whence); err == nil {
			d.seek = pos
			return nil
		}
	}
	if d.seek < 0 {
		return errors.New("Sorry, cannot seek.")
	}
	if _, err := io.CopyN(io.Discard, r, d.seek); err != nil && err != io.EOF {
		return err
	}
	return nil
}

func (d *dumper) flush() bool {
	_, err := d.w.Write(d.out)
	d.out = d.out[:0]
	return err == nil
}

func (d *dumper) dump(r io.Reader) error {
	if err := d.start(r); err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.LimitReader(r, d.length), applet.BufSize)
	if d.include {
		return d.asInclude(in)
	}
	block := make([]byte, min(d.cols, applet.BufSize))
	pos := d.seek
	nuls := 0
	for {
		n, err := io.ReadFull(in, block)
		if n > 0 {
			if d.plain {
				for _, b := range block[:n] {
					d.out = append(d.out, d.hex[b>>4], d.hex[b&15])
				}
				if d.cols <= applet.BufSize || err != nil {
					d.out = append(d.out, '\n')
				}
			} else if d.skipNul && n == len(block) && allNul(block) {
				if nuls++; nuls == 1 {
					d.line(pos, block)
				} else if nuls == 2 {
					d.out = append(d.out, "*\n"...)
				}
			} else {
				nuls = 0
				d.line(pos, block[:n])
			}
			pos += int64(n)
		}
		if (len(d.out) >= applet.BufSize || err != nil) && !d.flush() {
			return nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func allNul(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (d *dumper) line(pos int64, block []byte) {
	base := 16
	if d.decimal {
		base = 10
	}
	addr := strconv.FormatInt(pos+d.offset, base)
	d.out = append(d.out, strings.Repeat("0", max(0, 8-len(addr)))+addr+":"...)
	for i := 0; i < d.cols; i++ {
		if i%d.group == 0 {
			d.out = append(d.out, ' ')
		}
		at := i
		if d.little {
			at = i/d.group*d.group + d.group - 1 - i%d.group
		}
		switch {
		case at >= len(block) && d.binary:
			d.out = append(d.out, "        "...)
		case at >= len(block):
			d.out = append(d.out, "  "...)
		case d.binary:
			for bit := 7; bit >= 0; bit-- {
				d.out = append(d.out, '0'+block[at]>>bit&1)
			}
		default:
			d.out = append(d.out, d.hex[block[at]>>4], d.hex[block[at]&15])
		}
	}
	d.out = append(d.out, "  "...)
	for _, c := range block {
		if c < ' ' || c >= 127 {
			c = '.'
		}
		d.out = append(d.out, c)
	}
	d.out = append(d.out, '\n')
}

// asInclude writes a C array, named after the file.
func (d *dumper) asInclude(r io.Reader) error {
	ident := ""
	if d.name != "" {
		b := []byte(d.name)
		for i, c := range b {
			if c != '_' && (c < '0' || c > '9') && (c|32 < 'a' || c|32 > 'z') {
				b[i] = '_'
			}
		}
		if ident = string(b); ident[0] >= '0' && ident[0] <= '9' {
			ident = "__" + ident
		}
		d.out = append(d.out, "unsigned char "+ident+"[] = {\n"...)
	}
	text, err := io.ReadAll(r)
	for i, b := range text {
		switch {
		case i == 0:
			d.out = append(d.out, "  0x"...)
		case i%d.cols == 0:
			d.out = append(d.out, ",\n  0x"...)
		default:
			d.out = append(d.out, ", 0x"...)
		}
		d.out = append(d.out, d.hex[b>>4], d.hex[b&15])
	}
	if len(text) > 0 {
		d.out = append(d.out, '\n')
	}
	if ident != "" {
		d.out = append(d.out, "};\nunsigned int "+ident+"_len = "+strconv.Itoa(len(text))+";\n"...)
	}
	d.flush()
	return err
}
