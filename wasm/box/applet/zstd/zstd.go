// Package zstd is zstd, unzstd and zstdcat, as zstd 1.5 has them.
package zstd

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/codec"
)

const help = `  -1 ... -19          how hard to compress (default 3); from 7 on it is the same
  -d, --decompress, --uncompress  decompress
  -z, --compress      compress
  -t, --test          test the files
  -o FILE             write to FILE
  -c, --stdout        write to standard output
  -k, --keep          keep the files (default)
      --rm            remove the files
  -f, --force         overwrite files; with -dc, pass on what is not zstd
      --fast[=N], --ultra  the same as -1; levels to 22
      --check, --no-check  write a checksum (default), or none
  -q, --quiet         tell nothing; twice: no errors
  -v, --verbose, -T, --threads=N, --long[=N], -M, --memory=N, --no-progress,
      --single-thread, --no-dictID  no effect`

// The commands.
var (
	Zstd    = command("zstd", "compress files with zstd")
	Unzstd  = command("unzstd", "decompress zstd files")
	Zstdcat = command("zstdcat", "print zstd files")
)

func command(name, summary string) *applet.Command {
	return &applet.Command{Name: name, Synopsis: "[OPTION]... [FILE]...", Summary: summary, Help: help, Run: run}
}

type packer struct {
	c                                            *applet.Ctx
	decompress, test, remove, force, stdout, sum bool
	quiet                                        int
	out                                          string
	level                                        int
	ok                                           bool
}

func run(c *applet.Ctx) int {
	p := packer{c: c, sum: true, ok: true}
	switch c.Cmd.Name {
	case "unzstd":
		p.decompress = true
	case "zstdcat":
		p.decompress, p.stdout, p.force = true, true, true
	}
	none := func() {}
	size := func(v string) error {
		if _, err := applet.ParseSize(v, "KMG"); err != nil {
			return applet.UsageError("invalid number: " + applet.Curly(v))
		}
		return nil
	}
	optional := func(v string, given bool) error {
		if !given {
			return nil
		}
		return size(v)
	}
	refuse := func(what string) func() error {
		return func() error { return errors.New(what + " is not supported in the sandbox") }
	}
	table := []applet.Opt{
		applet.Do(func() { p.decompress = true }, 'd', "decompress"), applet.Do(func() { p.decompress = true }, 0, "uncompress"),
		applet.Do(func() { p.decompress = false }, 'z', "compress"),
		applet.Do(func() { p.decompress, p.test = true, true }, 't', "test"),
		applet.String(&p.out, 'o', ""), applet.Bool(&p.stdout, 'c', "stdout"),
		applet.Do(func() { p.remove = false }, 'k', "keep"), applet.Bool(&p.remove, 0, "rm"), applet.Bool(&p.force, 'f', "force"),
		applet.Optional(func(v string, given bool) error { p.level = 1; return optional(v, given) }, 0, "fast"), applet.Do(none, 0, "ultra"),
		applet.Do(func() { p.sum = true }, 0, "check"), applet.Do(func() { p.sum = false }, 0, "no-check"),
		applet.Do(func() { p.quiet++ }, 'q', "quiet"), applet.Do(none, 'v', "verbose"),
		applet.Func(size, 'T', "threads"), applet.Optional(optional, 0, "long"), applet.Func(size, 'M', "memory"),
		applet.Do(none, 0, "no-progress"), applet.Do(none, 0, "single-thread"), applet.Do(none, 0, "no-dictID"),
		applet.Try(refuse("-l"), 'l', "list"), applet.Try(refuse("-r"), 'r', ""), applet.Func(func(string) error { return refuse("a dictionary")() }, 'D', ""),
	}
	for d := range 10 { // -19 is a one and a nine
		table = append(table, applet.Do(func() { p.level = min(p.level*10+d, 99) }, rune('0'+d), ""))
	}
	names, status, ok := c.Parse(1, table...)
	if !ok {
		return status
	}
	if p.level == 0 {
		p.level = 3
	}
	if p.level = min(p.level, 22); p.out == "-" {
		p.out, p.stdout = "", true
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	if p.out != "" && len(names) > 1 {
		c.Warn("-o takes one file at a time in the sandbox")
		return 1
	}
	for _, name := range names {
		p.one(name)
		if c.Flush() != nil {
			break
		}
	}
	return applet.Status(p.ok)
}

// say tells what was done, unless -q; warn tells of errors.
func (p *packer) say(text string) {
	if p.quiet == 0 {
		p.c.Flush()
		io.WriteString(p.c.Stderr, text)
	}
}

func (p *packer) warn(text string) {
	p.ok = false
	if p.quiet < 2 {
		p.c.Flush()
		io.WriteString(p.c.Stderr, text+" \n")
	}
}

// bad tells of an error about data or streams.
func (p *packer) bad(name string, err error) {
	switch {
	case errors.Is(err, codec.ErrFormat):
		p.warn("zstd: " + name + ": unsupported format")
	case errors.Is(err, codec.ErrTruncated):
		p.warn(name + " : Read error (39) : premature end")
	case errors.Is(err, codec.ErrCorrupt):
		p.warn(name + " : Decoding error (36) : Data corruption detected")
	default:
		p.warn("zstd: " + name + ": " + applet.Reason(err))
	}
}

func (p *packer) one(name string) {
	if name == "-" {
		if p.out == "" {
			if _, _, err := p.stream(p.c.Stdout, p.c.Stdin); err != nil {
				p.bad("/*stdin*\\", err)
			}
			return
		}
		p.toFile("/*stdin*\\", p.c.Stdin, p.out, nil)
		return
	}
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		p.warn("zstd: can't stat " + name + " : " + applet.Reason(err) + " -- ignored")
		return
	case fi.IsDir():
		p.warn("zstd: " + name + " is a directory -- ignored")
		return
	}
	f, err := os.Open(name)
	if err != nil {
		p.bad(name, err)
		return
	}
	defer f.Close()
	if p.stdout || p.test {
		_, n, err := p.stream(p.c.Stdout, f)
		switch {
		case err != nil:
			p.bad(name, err)
		case p.test:
			p.unpacked(name, n)
		}
		return
	}
	to := p.out
	if to == "" {
		var ok bool
		if to, ok = p.target(name); !ok {
			p.warn("zstd: " + name + ": unknown suffix (.zst/.tzst expected). Can't derive the output file name. Specify it with -o dstFileName. Ignoring.")
			return
		}
	}
	if p.toFile(name, f, to, fi) && p.remove {
		if err := os.Remove(name); err != nil {
			p.bad(name, err)
		}
	}
}

// toFile makes the file to; info, unless nil, is that of the source.
func (p *packer) toFile(name string, r io.Reader, to string, info os.FileInfo) bool {
	if fi, err := os.Lstat(to); err == nil {
		if info != nil && os.SameFile(fi, info) {
			p.warn("zstd: Refusing to open an output file which will overwrite the input file")
			return false
		}
		if !p.force {
			what := "overwrite (y/n) ? Not overwritten "
			if p.quiet > 0 {
				what = "not overwritten "
			}
			p.warn("zstd: " + to + " already exists; " + what)
			return false
		}
		os.Remove(to)
	}
	var in, out int64
	work := func(w io.Writer, r io.Reader) (err error) {
		in, out, err = p.stream(w, r)
		return err
	}
	var err error
	if f, ok := r.(*os.File); ok && info != nil {
		err = codec.Replace(to, f, info, work)
	} else {
		var w *os.File
		if w, err = os.Create(to); err == nil {
			err = work(w, r)
			if e := w.Close(); err == nil {
				err = e
			}
		}
	}
	switch {
	case err != nil:
		p.bad(name, err)
		return false
	case p.decompress:
		p.unpacked(name, out)
	default:
		p.packed(name, to, in, out)
	}
	return true
}

// stream compresses or decompresses, and counts the bytes.
func (p *packer) stream(w io.Writer, r io.Reader) (in, out int64, err error) {
	if !p.decompress {
		count := &counter{w: w}
		z, err := codec.NewZstdWriter(count, p.level, p.sum)
		if err == nil {
			if in, err = codec.Copy(z, r); err == nil {
				err = z.Close()
			}
		}
		return in, count.n, err
	}
	if p.test {
		w = io.Discard
	}
	b := bufio.NewReaderSize(r, applet.BufSize)
	head, err := b.Peek(4)
	// Frames that are to be skipped have a range of numbers.
	frame := codec.Begins(head, codec.MagicZstd) || len(head) == 4 && head[0]&0xf0 == 0x50 && string(head[1:]) == "\x2a\x4d\x18"
	if !frame {
		switch {
		case err != nil && err != io.EOF:
			return 0, 0, err
		case p.force && p.stdout:
			out, err = codec.Copy(w, b)
			return out, out, err
		}
		return 0, 0, codec.ErrFormat
	}
	z, err := codec.NewZstdReader(b)
	if err != nil {
		return 0, 0, err
	}
	defer z.Close()
	out, err = codec.Copy(w, z)
	return 0, out, err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// target is the name of the file to be made.
func (p *packer) target(name string) (string, bool) {
	if !p.decompress {
		return name + ".zst", true
	}
	if to, ok := strings.CutSuffix(name, ".tzst"); ok && to != "" {
		return to + ".tar", true
	}
	to, ok := strings.CutSuffix(name, ".zst")
	return to, ok && to != "" && !strings.HasSuffix(to, "/")
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-len(s))) }

func (p *packer) unpacked(name string, n int64) {
	p.say(pad(name, 20) + ": " + strconv.FormatInt(n, 10) + " bytes \n")
}

func (p *packer) packed(name, to string, in, out int64) {
	percent := 0.0
	if in > 0 {
		percent = float64(out) * 100 / float64(in)
	}
	share := strconv.FormatFloat(percent, 'f', 2, 64)
	p.say(pad(name, 20) + " :" + strings.Repeat(" ", max(0, 6-len(share))) + share + "%   (" + human(in) + " => " + human(out) + ", " + to + ") \n")
}

// human writes a size in six columns and its unit.
func human(n int64) string {
	v, unit := float64(n), " B"
	for _, u := range []string{" KiB", " MiB", " GiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	digits := 0
	if unit != " B" {
		switch {
		case v < 10:
			digits = 2
		case v < 100:
			digits = 1
		}
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	return strings.Repeat(" ", max(0, 6-len(s))) + s + unit
}
