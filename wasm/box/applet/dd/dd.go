// Package dd is the command dd.
package dd

import (
	"io"
	"os"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is dd.
var Command = applet.Command{
	Name:     "dd",
	Synopsis: "[OPERAND]...",
	Summary:  "copy a file, converting and formatting according to the operands",
	Help: `  bs=BYTES       read and write up to BYTES bytes at a time (default 512)
  cbs=BYTES      convert BYTES bytes at a time
  conv=CONVS     convert as the comma separated symbols say
  count=N        copy only N input blocks
  ibs=BYTES      read up to BYTES bytes at a time
  if=FILE        read from FILE instead of standard input
  iflag=FLAGS    read as the comma separated symbols say
  obs=BYTES      write BYTES bytes at a time
  of=FILE        write to FILE instead of standard output
  oflag=FLAGS    write as the comma separated symbols say
  seek=N, oseek=N  skip N output blocks
  skip=N, iseek=N  skip N input blocks
  status=LEVEL   none: only errors; noxfer: no line of statistics;
                 progress: as without it, the statistics come at the end

  N and BYTES: c=1, w=2, b=512, kB=1000, K=1024, MB, M, ..., and products
  2x512; a count, seek or skip that ends in B is of bytes.
  CONVS: block unblock lcase ucase sparse swab sync excl nocreat notrunc
  noerror fdatasync fsync
  FLAGS: append count_bytes skip_bytes seek_bytes directory fullblock nofollow;
  direct dsync sync nonblock noatime nocache noctty have no effect here`,
	Run: run,
}

type job struct {
	c                  *applet.Ctx
	in, out            string
	ibs, obs, bs, cbs  int64
	skip, seek, count  int64 // blocks, or bytes; count -1: all
	skipB, seekB, cntB bool  // they are bytes
	conv, iflag, oflag uint
	status             string
	name               struct{ in, out string } // as messages have them

	r     io.Reader
	w     io.Writer
	file  *os.File // of w; nil when it is a stream
	began time.Time
	stats

	// Between blocks.
	pending []byte // less than an output block
	column  int64  // in the record at hand, of block and unblock
	spaces  int64  // held back by unblock
	odd     []byte // a byte whose partner is still to come, of swab
	hole    bool   // the last thing that sparse did was to skip
}

func run(c *applet.Ctx) int {
	args, status, ok := c.Parse(1)
	if !ok {
		return status
	}
	d := &job{c: c, count: -1, began: time.Now()}
	d.name.in, d.name.out = "'standard input'", "'standard output'"
	if status, ok := d.operands(args); !ok {
		return status
	}
	if !d.open() {
		return 1
	}
	ok = d.copy()
	if err := d.close(); err != nil {
		c.Warn("closing output file ", d.name.out, ": ", applet.Reason(err))
		ok = false
	}
	d.report()
	return applet.Status(ok)
}

// open opens both ends and goes to where the copying begins.
func (d *job) open() bool {
	d.r, d.w = d.c.Stdin, d.c.Stdout
	if d.in != "" {
		d.name.in = applet.Quote(d.in)
		f, err := d.openInput()
		if err != nil {
			d.c.Warn("failed to open ", d.name.in, ": ", applet.Reason(err))
			return false
		}
		d.r = f
	}
	if d.out == "" {
		return d.seekStream()
	}
	d.name.out = applet.Quote(d.out)
	flags := os.O_WRONLY
	at := d.offset(d.seek, d.seekB, d.obs)
	switch {
	case d.conv&excl != 0:
		flags |= os.O_CREATE | os.O_EXCL
	case d.conv&nocreat == 0:
		flags |= os.O_CREATE
	}
	if d.conv&notrunc == 0 && at < d.obs { // also for less than a block, as GNU dd does
		flags |= os.O_TRUNC
	}
	if d.oflag&appending != 0 {
		flags |= os.O_APPEND
	}
	if err := d.wrongKind(d.out, d.oflag); err != nil {
		d.c.Warn("failed to open ", d.name.out, ": ", applet.Reason(err))
		return false
	}
	f, err := os.OpenFile(d.out, flags, 0o666)
	if err != nil {
		d.c.Warn("failed to open ", d.name.out, ": ", applet.Reason(err))
		return false
	}
	d.file, d.w = f, f
	if at == 0 {
		return true
	}
	if d.conv&notrunc == 0 {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			if err := f.Truncate(at); err != nil {
				d.c.Warn("failed to truncate to ", string(applet.AppendNum(nil, at, 0)), " bytes in output file ", d.name.out, ": ", applet.Reason(err))
				return false
			}
		}
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		d.c.Warn(d.name.out, ": cannot seek: ", applet.Reason(err))
		return false
	}
	return true
}

// seekStream skips output where it is not a file that dd opened: a pipe
// cannot.
func (d *job) seekStream() bool {
	if d.offset(d.seek, d.seekB, d.obs) > 0 {
		d.c.Warn("'standard output': cannot seek: Illegal seek")
		d.report()
		return false
	}
	return true
}

// offset is where n blocks, or bytes, lead.
func (d *job) offset(n int64, bytes bool, block int64) int64 {
	if bytes {
		return n
	}
	return n * block
}
