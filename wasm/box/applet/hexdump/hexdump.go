// Package hexdump is the command hexdump.
package hexdump

import (
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// The commands.
var (
	Command = command("hexdump", "display file contents in hexadecimal, decimal, octal, or ascii")
	Hd      = command("hd", "hexdump -C")
)

func command(name, summary string) *applet.Command {
	return &applet.Command{Name: name, Synopsis: "[OPTION]... [FILE]...", Summary: summary, Help: help, Run: run}
}

const help = `  -e, --format FORMAT       format string to be used for displaying data
  -f, --format-file FILE    file that contains format strings
  -b, --one-byte-octal      one-byte octal display
  -c, --one-byte-char       one-byte character display
  -C, --canonical           canonical hex+ASCII display
  -d, --two-bytes-decimal   two-byte decimal display
  -o, --two-bytes-octal     two-byte octal display
  -x, --two-bytes-hex       two-byte hexadecimal display
  -n, --length LENGTH       interpret only length bytes of input
  -s, --skip OFFSET         skip offset bytes from the beginning
  -v, --no-squeezing        output identical lines`

// The formats of the options, as -e takes them.
const (
	address   = `"%07.7_Ax\n"`
	octalByte = `"%07.7_ax " 16/1 "%03o " "\n"`
	character = `"%07.7_ax " 16/1 "%3_c " "\n"`
	decimals  = `"%07.7_ax " 8/2 "  %05u " "\n"`
	octals    = `"%07.7_ax " 8/2 " %06o " "\n"`
	hexes     = `"%07.7_ax " 8/2 "   %04x " "\n"`
	usual     = `"%07.7_ax " 8/2 "%04x " "\n"`

	canonicalAddress = `"%08.8_Ax\n"`
	canonical        = `"%08.8_ax  " 8/1 "%02x " "  " 8/1 "%02x "`
	canonicalText    = `"  |" 16/1 "%_p" "|\n"`
)

func run(c *applet.Ctx) int {
	d := dumper{c: c}
	length, skip := int64(math.MaxInt64), int64(0)
	var bad error
	add := func(formats ...string) error {
		for _, f := range formats {
			units, err := parseFormat(f)
			if err != nil {
				return err
			}
			d.formats = append(d.formats, units)
		}
		return nil
	}
	canned := func(formats ...string) func() { return func() { bad = add(formats...) } }
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
	if c.Cmd.Name == "hd" {
		canned(canonicalAddress, canonical, canonicalText)()
	}
	files, status, ok := c.Parse(1,
		applet.Do(canned(address, octalByte), 'b', "one-byte-octal"),
		applet.Do(canned(address, character), 'c', "one-byte-char"),
		applet.Do(canned(canonicalAddress, canonical, canonicalText), 'C', "canonical"),
		applet.Do(canned(address, decimals), 'd', "two-bytes-decimal"),
		applet.Do(canned(address, octals), 'o', "two-bytes-octal"),
		applet.Do(canned(address, hexes), 'x', "two-bytes-hex"),
		applet.Func(func(v string) error { return add(v) }, 'e', "format"),
		applet.Func(func(v string) error {
			text, err := os.ReadFile(v)
			if err != nil {
				return errors.New("can't read " + v + ".: " + applet.Reason(err))
			}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					err = errors.Join(err, add(line))
				}
			}
			return err
		}, 'f', "format-file"),
		applet.Func(num(&length, "length"), 'n', "length"),
		applet.Func(num(&skip, "offset"), 's', "skip"),
		applet.Bool(&d.all, 'v', "no-squeezing"),
	)
	if !ok {
		return status
	}
	if len(d.formats) == 0 {
		bad = add(address, usual)
	}
	if bad != nil {
		c.Warn(bad.Error())
		return 1
	}
	d.prepare()
	if len(files) == 0 {
		files = []string{"-"}
	}
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
