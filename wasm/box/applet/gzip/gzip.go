// Package gzip is gzip, gunzip and zcat.
package gzip

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/codec"
)

const help = `  -c, --stdout, --to-stdout  write to standard output; keep the files
  -d, --decompress, --uncompress  decompress
  -k, --keep              keep the files
  -f, --force             overwrite files that exist
  -n, --no-name           neither store nor restore name and time
  -N, --name              store and restore name and time
  -l, --list              list sizes
  -t, --test              test the files
  -r, --recursive         treat what is in folders
  -S, --suffix=SUF        the suffix to use
  -q, --quiet             no warnings
  -v, --verbose           tell the names
  -1, --fast ... -9, --best  how hard to compress
`

// The commands.
var (
	Gzip   = command("gzip", "compress files", help)
	Gunzip = command("gunzip", "decompress files", help)
	Zcat   = command("zcat", "print compressed files", help)
)

func command(name, summary, help string) *applet.Command {
	return &applet.Command{Name: name, Synopsis: "[OPTION]... [FILE]...", Summary: summary, Help: help, Run: run}
}

type options struct {
	stdout, decompress, keep, force, noName, name, list bool
	test, recursive, quiet, verbose                     bool
	suffix                                              string
	level                                               int
}

type packer struct {
	c      *applet.Ctx
	o      *options
	status int
	listed bool
}

func run(c *applet.Ctx) int {
	o := &options{suffix: ".gz", level: 6}
	switch c.Cmd.Name {
	case "gunzip":
		o.decompress = true
	case "zcat":
		o.decompress, o.stdout = true, true
	}
	table := []applet.Opt{
		applet.Bool(&o.stdout, 'c', "stdout"), applet.Bool(&o.stdout, 0, "to-stdout"),
		applet.Bool(&o.decompress, 'd', "decompress"), applet.Bool(&o.decompress, 0, "uncompress"),
		applet.Bool(&o.keep, 'k', "keep"), applet.Bool(&o.force, 'f', "force"),
		applet.Bool(&o.noName, 'n', "no-name"), applet.Bool(&o.name, 'N', "name"),
		applet.Bool(&o.list, 'l', "list"), applet.Bool(&o.test, 't', "test"),
		applet.Bool(&o.recursive, 'r', "recursive"), applet.String(&o.suffix, 'S', "suffix"),
		applet.Bool(&o.quiet, 'q', "quiet"), applet.Bool(&o.verbose, 'v', "verbose"),
		applet.Do(func() { o.level = 1 }, 0, "fast"), applet.Do(func() { o.level = 9 }, 0, "best"),
	}
	for l := 1; l <= 9; l++ {
		table = append(table, applet.Do(func() { o.level = l }, rune('0'+l), ""))
	}
	operands, status, ok := c.Parse(1, table...)
	if !ok {
		return status
	}
	p := &packer{c: c, o: o}
	if len(operands) == 0 {
		operands = []string{"-"}
	}
	for _, name := range operands {
		if name == "-" {
			p.stream()
		} else {
			p.file(name)
		}
	}
	return p.status
}

// warn tells of what is wrong, under the name of gzip, whichever command runs.
func (p *packer) warn(parts ...string) {
	p.c.Flush()
	io.WriteString(p.c.Stderr, "gzip: "+strings.Join(parts, "")+"\n")
}

func (p *packer) fail(status int, parts ...string) {
	if status == 2 && p.o.quiet {
		return
	}
	p.warn(parts...)
	if p.status != 1 {
		p.status = status
	}
}

func (p *packer) stream() {
	if p.o.list {
		p.fail(1, "stdin: -l needs a file")
		return
	}
	var err error
	if p.o.decompress || p.o.test {
		out := p.c.Stdout
		if p.o.test {
			out = io.Discard
		}
		_, err = p.unpack(out, p.c.Stdin)
	} else {
		err = p.pack(p.c.Stdout, p.c.Stdin, "", time.Time{})
	}
	if err != nil {
		p.bad("stdin", err)
	}
}

// bad tells of data that is wrong.
func (p *packer) bad(name string, err error) {
	p.c.Flush()
	io.WriteString(p.c.Stderr, "\n") // GNU gzip ends the line of a progress that is not shown
	p.fail(1, name, ": ", reason(err))
}

func reason(err error) string {
	switch {
	case errors.Is(err, gzip.ErrHeader):
		return "not in gzip format"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "unexpected end of file"
	case errors.Is(err, gzip.ErrChecksum):
		return "invalid compressed data--crc error"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return applet.Reason(err)
	}
	return "invalid compressed data--format violated"
}

func (p *packer) pack(w io.Writer, r io.Reader, name string, when time.Time) error {
	g := codec.Gzip{Level: p.o.level}
	if !p.o.noName {
		g.Name, g.Time = name, when
	}
	z, err := codec.NewGzipWriter(p.c, w, g)
	if err != nil {
		return err
	}
	if _, err = io.CopyBuffer(z, onlyReader{r}, make([]byte, 64<<10)); err == nil {
		err = z.Close()
	}
	return err
}

// onlyReader and onlyWriter hide WriteTo and ReadFrom, which would pass the
// buffer by and make errors of the one those of the other.
type onlyReader struct{ io.Reader }

type onlyWriter struct{ io.Writer }

func (p *packer) unpack(w io.Writer, r io.Reader) (*gzip.Header, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if head, _ := in.Peek(2); len(head) > 0 && string(head) != "\x1f\x8b" {
		return nil, gzip.ErrHeader
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	h := z.Header
	_, err = io.CopyBuffer(onlyWriter{w}, onlyReader{z}, make([]byte, 64<<10))
	if errors.Is(err, gzip.ErrHeader) { // what follows the last member is not gzip
		p.fail(2, "decompression OK, trailing garbage ignored")
		err = nil
	}
	return &h, err
}

func (p *packer) file(name string) {
	o := p.o
	fi, err := os.Stat(name)
	if err != nil && o.decompress && errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(name, o.suffix) {
		if fi2, err2 := os.Stat(name + o.suffix); err2 == nil {
			name, fi, err = name+o.suffix, fi2, nil
		}
	}
	if err != nil {
		if o.decompress && !strings.HasSuffix(name, o.suffix) {
			name += o.suffix
		}
		p.fail(1, name, ": ", applet.Reason(err))
		return
	}
	if fi.IsDir() {
		if !o.recursive {
			p.fail(2, name, " is a directory -- ignored")
			return
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			p.fail(1, name, ": ", applet.Reason(err))
		}
		for _, e := range entries {
			p.file(strings.TrimSuffix(name, "/") + "/" + e.Name())
		}
		return
	}
	f, err := os.Open(name)
	if err != nil {
		p.fail(1, name, ": ", applet.Reason(err))
		return
	}
	defer f.Close()
	switch {
	case o.list:
		p.listing(name, f, fi)
		return
	case o.test:
		if _, err := p.unpack(io.Discard, f); err != nil {
			p.bad(name, err)
		} else if o.verbose {
			p.warnOK(name)
		}
		return
	case o.stdout:
		if o.decompress {
			_, err = p.unpack(p.c.Stdout, f)
		} else {
			err = p.pack(p.c.Stdout, f, base(name), fi.ModTime())
		}
		if err != nil {
			p.bad(name, err)
		}
		return
	}
	p.replace(name, f, fi)
}

func (p *packer) warnOK(name string) { io.WriteString(p.c.Stderr, name+":\t OK\n") }

func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// target is the name of the file to be made.
func (p *packer) target(name string) (string, bool) {
	o := p.o
	if !o.decompress {
		if strings.HasSuffix(name, o.suffix) {
			if !o.quiet {
				p.warn(name, " already has ", o.suffix, " suffix -- unchanged")
			}
			return "", false
		}
		return name + o.suffix, true
	}
	for _, s := range []string{o.suffix, ".gz", ".z", "-gz", "-z", "_z", ".Z"} {
		if t, ok := strings.CutSuffix(name, s); ok && t != "" && !strings.HasSuffix(t, "/") {
			return t, true
		}
	}
	for _, s := range [][2]string{{".tgz", ".tar"}, {".taz", ".tar"}} {
		if t, ok := strings.CutSuffix(name, s[0]); ok {
			return t + s[1], true
		}
	}
	p.fail(2, name, ": unknown suffix -- ignored")
	return "", false
}

// replace makes the new file and removes the old one, which stands until the
// new one is whole.
func (p *packer) replace(name string, f *os.File, fi fs.FileInfo) {
	o := p.o
	to, ok := p.target(name)
	if !ok {
		return
	}
	if _, err := os.Lstat(to); err == nil {
		if !o.force {
			p.fail(2, to, " already exists;\tnot overwritten")
			return
		}
		os.Remove(to)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fi.Mode().Perm()&0o600)
	if err != nil {
		p.fail(1, to, ": ", applet.Reason(err))
		return
	}
	w := bufio.NewWriterSize(out, 64<<10)
	when := fi.ModTime()
	if o.decompress {
		var h *gzip.Header
		h, err = p.unpack(w, f)
		if err == nil && h != nil && o.name && !h.ModTime.IsZero() {
			when = h.ModTime
		}
	} else {
		err = p.pack(w, f, base(name), fi.ModTime())
	}
	if err == nil {
		err = w.Flush()
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(to)
		p.bad(name, err)
		return
	}
	os.Chmod(to, fi.Mode().Perm()) // where there are modes
	os.Chtimes(to, when, when)
	if o.verbose {
		verb := "replaced with"
		if o.keep {
			verb = "created"
		}
		small, big := fi.Size(), size(to)
		if !o.decompress {
			small, big = big, small
		}
		io.WriteString(p.c.Stderr, name+":\t"+ratio(small, big)+" -- "+verb+" "+to+"\n")
	}
	if !o.keep {
		if err := os.Remove(name); err != nil {
			p.fail(1, name, ": ", applet.Reason(err))
		}
	}
}

func size(name string) int64 {
	if fi, err := os.Stat(name); err == nil {
		return fi.Size()
	}
	return 0
}

// ratio is how much was saved, as gzip prints it: "%5.1f%%".
func ratio(small, big int64) string {
	v := 0.0
	if big > 0 {
		v = 100 * float64(big-(small-18)) / float64(big)
	}
	s := strconv.FormatFloat(v, 'f', 1, 64) + "%"
	for len(s) < 6 {
		s = " " + s
	}
	return s
}

func (p *packer) listing(name string, f *os.File, fi fs.FileInfo) {
	count := &counter{}
	h, err := p.unpack(count, f)
	if err != nil {
		p.bad(name, err)
		return
	}
	if !p.listed {
		p.listed = true
		io.WriteString(p.c.Stdout, "         compressed        uncompressed  ratio uncompressed_name\n")
	}
	to := strings.TrimSuffix(name, p.o.suffix)
	if p.o.name && h.Name != "" {
		to = h.Name
	}
	pad := func(n int64) string {
		s := strconv.FormatInt(n, 10)
		return strings.Repeat(" ", max(0, 19-len(s))) + s
	}
	io.WriteString(p.c.Stdout, pad(fi.Size())+" "+pad(count.n)+" "+ratio(fi.Size(), count.n)+" "+to+"\n")
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
