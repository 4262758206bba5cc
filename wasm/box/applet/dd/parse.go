package dd

import (
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Symbols of conv=.
const (
	block uint = 1 << iota
	unblock
	lcase
	ucase
	sparse
	swab
	sync
	excl
	nocreat
	notrunc
	noerror
)

// Symbols of iflag= and oflag= that have an effect.
const (
	appending uint = 1 << iota
	countBytes
	skipBytes
	seekBytes
	directory
	fullblock
	nofollow
)

var convs = map[string]uint{"block": block, "unblock": unblock, "lcase": lcase, "ucase": ucase, "sparse": sparse, "swab": swab,
	"sync": sync, "excl": excl, "nocreat": nocreat, "notrunc": notrunc, "noerror": noerror, "fdatasync": 0, "fsync": 0}

// tables are what other character sets would need.
var tables = []string{"ascii", "ebcdic", "ibm"}

// flags are those of both sides; what is 0 has no effect here, as files are
// written at once and there are no caches.
var flags = map[string]uint{"append": appending, "directory": directory, "nofollow": nofollow, "fullblock": fullblock,
	"count_bytes": countBytes, "skip_bytes": skipBytes, "seek_bytes": seekBytes,
	"direct": 0, "dsync": 0, "sync": 0, "nonblock": 0, "noatime": 0, "nocache": 0, "noctty": 0}

// operands reads NAME=VALUE words.
func (d *job) operands(args []string) (status int, ok bool) {
	c := d.c
	for _, a := range args {
		name, value, found := strings.Cut(a, "=")
		if !found {
			return c.Usage("unrecognized operand ", applet.Curly(a)), false
		}
		var err error
		switch name {
		case "if":
			d.in = value
		case "of":
			d.out = value
		case "bs":
			d.bs, err = d.number(value, 1, nil)
		case "ibs":
			d.ibs, err = d.number(value, 1, nil)
		case "obs":
			d.obs, err = d.number(value, 1, nil)
		case "cbs":
			d.cbs, err = d.number(value, 1, nil)
		case "skip", "iseek":
			d.skip, err = d.number(value, 0, &d.skipB)
		case "seek", "oseek":
			d.seek, err = d.number(value, 0, &d.seekB)
		case "count":
			d.count, err = d.number(value, 0, &d.cntB)
		case "conv":
			for _, s := range strings.Split(value, ",") {
				bit, known := convs[s]
				for _, t := range tables {
					if s == t {
						c.Warn("conv=", s, " is not supported in the sandbox")
						return 1, false
					}
				}
				if !known {
					return c.Usage("invalid conversion: ", applet.Curly(s)), false
				}
				d.conv |= bit
			}
		case "iflag", "oflag":
			set, foreign, what := &d.iflag, uint(0), "input"
			if name == "oflag" {
				set, foreign, what = &d.oflag, fullblock, "output"
			}
			for _, s := range strings.Split(value, ",") {
				bit, known := flags[s]
				if !known || bit&foreign != 0 {
					return c.Usage("invalid ", what, " flag: ", applet.Curly(s)), false
				}
				*set |= bit
			}
		case "status":
			switch value {
			case "none", "noxfer", "progress":
				d.status = value
			default:
				return c.Usage("invalid status level: ", applet.Curly(value)), false
			}
		default:
			return c.Usage("unrecognized operand ", applet.Curly(a)), false
		}
		if err != nil {
			c.Warn(err.Error())
			return 1, false
		}
	}
	return d.settle()
}

// settle checks what does not go together and fills in defaults.
func (d *job) settle() (status int, ok bool) {
	if d.bs > 0 {
		d.ibs, d.obs = d.bs, d.bs
	}
	if d.ibs == 0 {
		d.ibs = 512
	}
	if d.obs == 0 {
		d.obs = 512
	}
	if d.cbs == 0 {
		d.conv &^= block | unblock
	}
	d.skipB = d.skipB || d.iflag&skipBytes != 0
	d.cntB = d.cntB || d.iflag&countBytes != 0
	d.seekB = d.seekB || d.oflag&seekBytes != 0
	for _, pair := range []struct {
		a, b uint
		text string
	}{{block, unblock, "block and unblock"}, {lcase, ucase, "lcase and ucase"}, {excl, nocreat, "excl and nocreat"}} {
		if d.conv&pair.a != 0 && d.conv&pair.b != 0 {
			d.c.Warn("cannot combine ", pair.text)
			return 1, false
		}
	}
	if d.ibs > maxBlock || d.obs > maxBlock || d.cbs > maxBlock {
		d.c.Warn("memory exhausted by buffers of more than 64 MiB")
		return 1, false
	}
	return 0, true
}

// maxBlock bounds the buffers: the memory of the sandbox is bounded too.
const maxBlock = 64 << 20

// complaint is an error whose text is the whole message.
type complaint string

func (e complaint) Error() string { return string(e) }

// number reads a number with suffixes and products. bytes, unless nil, is set
// when it ends in B and counts bytes.
func (d *job) number(s string, least int64, bytes *bool) (int64, error) {
	text := s
	if n := len(s); bytes != nil && n > 0 && s[n-1] == 'B' && (n < 2 || s[n-2] >= '0' && s[n-2] <= '9' || s[n-2] == 'c' || s[n-2] == 'w' || s[n-2] == 'b') {
		text = s[:n-1]
		*bytes = true
	}
	total := int64(1)
	over := false
	parts := strings.Split(text, "x")
	for _, part := range parts {
		n, err := applet.ParseSize(part, "bcwkKMGTPEZY")
		if len(parts) > 2 || part == "" || part[0] < '0' || part[0] > '9' || err != nil && err != applet.ErrOverflow {
			return 0, complaint("invalid number: " + applet.Curly(s))
		}
		over = over || err != nil || n > 0 && total > math.MaxInt64/n
		if !over {
			total *= n
		}
	}
	if strings.HasPrefix(text, "0x") {
		d.c.Warn("warning: ", applet.Curly("0x"), " is a zero multiplier; use ", applet.Curly("00x"), " if that is intended")
	}
	switch {
	case over:
		return 0, complaint("invalid number: " + applet.Curly(s) + ": " + applet.ErrOverflow.Error())
	case total < least:
		return 0, complaint("invalid number: " + applet.Curly(s))
	}
	return total, nil
}

func (d *job) openInput() (*os.File, error) {
	if err := d.wrongKind(d.in, d.iflag); err != nil {
		return nil, err
	}
	return os.Open(d.in)
}

// wrongKind looks at a file as the flags directory and nofollow demand.
func (d *job) wrongKind(name string, flags uint) error {
	fi, err := os.Lstat(name)
	if err != nil {
		return nil // the opening will tell
	}
	if flags&nofollow != 0 && fi.Mode()&os.ModeSymlink != 0 {
		return syscall.ELOOP
	}
	if flags&directory != 0 {
		if fi, err = os.Stat(name); err == nil && !fi.IsDir() {
			return syscall.ENOTDIR
		}
	}
	return nil
}

// stats counts blocks and bytes.
type stats struct {
	inFull, inPart, outFull, outPart, truncated, written int64
}

// report prints the statistics.
func (d *job) report() {
	if d.status == "none" {
		return
	}
	num := func(n int64) string { return strconv.FormatInt(n, 10) }
	text := num(d.inFull) + "+" + num(d.inPart) + " records in\n" + num(d.outFull) + "+" + num(d.outPart) + " records out\n"
	switch {
	case d.truncated == 1:
		text += "1 truncated record\n"
	case d.truncated > 1:
		text += num(d.truncated) + " truncated records\n"
	}
	if d.status != "noxfer" {
		text += transfer(d.written, d.elapsed()) + "\n"
	}
	d.c.Flush()
	d.c.Stderr.Write([]byte(text))
}
