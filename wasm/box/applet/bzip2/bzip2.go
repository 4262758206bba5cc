// Package bzip2 is bzip2, bunzip2 and bzcat, as bzip2 1.0.8 has them.
package bzip2

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	writer "github.com/donax-sh/donax/wasm/box/applet/internal/bzip2"
	"github.com/donax-sh/donax/wasm/box/applet/internal/codec"
)

const help = `  -d, --decompress    decompress
  -z, --compress      compress
  -k, --keep          keep the files
  -f, --force         overwrite files that exist
  -t, --test          test the files
  -c, --stdout        write to standard output; keep the files
  -q, --quiet         no warnings
  -v, --verbose       tell the sizes
  -s, --small         no effect
  -1, --fast ... -9, --best  blocks of 100 kB to 900 kB (default)`

// The commands.
var (
	Bzip2   = command("bzip2", "compress files with bzip2")
	Bunzip2 = command("bunzip2", "decompress bzip2 files")
	Bzcat   = command("bzcat", "print bzip2 files")
)

func command(name, summary string) *applet.Command {
	return &applet.Command{Name: name, Synopsis: "[OPTION]... [FILE]...", Summary: summary, Help: help, Run: run}
}

type packer struct {
	c                                                     *applet.Ctx
	decompress, test, keep, force, stdout, quiet, verbose bool
	level                                                 int
	width                                                 int // of the longest name
	status                                                int
}

// Statuses beyond 0.
const (
	failed  = 1
	corrupt = 2
)

func run(c *applet.Ctx) int {
	p := &packer{c: c, level: 9, width: 7}
	switch c.Cmd.Name {
	case "bunzip2":
		p.decompress = true
	case "bzcat":
		p.decompress, p.stdout = true, true
	}
	level := func(n int) func() { return func() { p.level = n } }
	table := []applet.Opt{
		applet.Do(func() { p.decompress, p.test = true, false }, 'd', "decompress"),
		applet.Do(func() { p.decompress, p.test = false, false }, 'z', "compress"),
		applet.Do(func() { p.decompress, p.test = true, true }, 't', "test"),
		applet.Bool(&p.keep, 'k', "keep"), applet.Bool(&p.force, 'f', "force"), applet.Bool(&p.stdout, 'c', "stdout"),
		applet.Bool(&p.quiet, 'q', "quiet"), applet.Bool(&p.verbose, 'v', "verbose"), applet.Do(func() {}, 's', "small"),
		applet.Do(level(1), 0, "fast"), applet.Do(level(9), 0, "best"),
	}
	for n := 1; n <= 9; n++ {
		table = append(table, applet.Do(level(n), rune('0'+n), ""))
	}
	names, status, ok := c.Parse(failed, table...)
	if !ok {
		return status
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		p.width = max(p.width, len(name))
	}
	for _, name := range names {
		if name == "-" {
			p.count("(stdin)", func() (int64, int64, error) { return p.stream(c.Stdout, c.Stdin) })
		} else {
			p.file(name)
		}
		if c.Flush() != nil { // nobody reads on
			break
		}
	}
	return p.status
}

func (p *packer) fail(status int, parts ...string) {
	p.c.Flush()
	p.c.Warn(parts...)
	p.status = max(p.status, status)
}

// errFormat is what is no bzip2 at all.
var errFormat = errors.New("is not a bzip2 file.")

// stream compresses or decompresses, and counts the bytes.
func (p *packer) stream(w io.Writer, r io.Reader) (in, out int64, err error) {
	if !p.decompress {
		count := &counter{w: w}
		z := writer.NewWriter(count, p.level)
		if in, err = codec.Copy(z, r); err == nil {
			err = z.Close()
		}
		return in, count.n, err
	}
	if p.test {
		w = io.Discard
	}
	b := bufio.NewReaderSize(r, applet.BufSize)
	head, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return 0, 0, err
	}
	if len(head) < 4 || string(head[:3]) != "BZh" || head[3] < '1' || head[3] > '9' {
		if p.force && p.stdout && !p.test {
			out, err = codec.Copy(w, b)
			return out, out, err
		}
		return 0, 0, errFormat
	}
	out, err = codec.Copy(w, bzip2.NewReader(b))
	var se bzip2.StructuralError
	if errors.As(err, &se) && strings.Contains(string(se), "continuation") {
		err = errTrailing // all before it was whole
	}
	return 0, out, err
}

var errTrailing = errors.New("trailing garbage after EOF ignored")

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// count does work on a file, tells what came of it, and returns whether it
// succeeded.
func (p *packer) count(name string, work func() (in, out int64, err error)) bool {
	in, out, err := work()
	if err == errTrailing {
		if !p.quiet {
			p.c.Flush()
			io.WriteString(p.c.Stderr, "\n")
			p.c.Warn(name, ": ", err.Error())
		}
		err = nil
	}
	if err != nil {
		p.bad(name, err)
		return false
	}
	if !p.verbose {
		return true
	}
	said := "done"
	switch {
	case p.test:
		said = "ok"
	case !p.decompress && in == 0:
		said = " no data compressed."
	case !p.decompress:
		f := func(v float64, width, digits int) string {
			s := strconv.FormatFloat(v, 'f', digits, 64)
			return strings.Repeat(" ", max(0, width-len(s))) + s
		}
		share := float64(out) / float64(in)
		said = f(1/share, 6, 3) + ":1, " + f(8*share, 6, 3) + " bits/byte, " + f(100*(1-share), 5, 2) + "% saved, " +
			strconv.FormatInt(in, 10) + " in, " + strconv.FormatInt(out, 10) + " out."
	}
	io.WriteString(p.c.Stderr, p.label(name)+said+"\n")
	return true
}

// label begins a line about a file.
func (p *packer) label(name string) string {
	return "  " + name + ": " + strings.Repeat(" ", max(0, p.width-len(name)))
}

// recover is what bzip2 says after it has met damage.
const recover = "\nYou can use the `bzip2recover' program to attempt to recover\ndata from undamaged sections of corrupted files.\n\n"

// bad tells of what went wrong with a file.
func (p *packer) bad(name string, err error) {
	var pe *fs.PathError
	cut := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	damaged := cut || errors.As(err, new(bzip2.StructuralError))
	switch {
	case errors.As(err, &pe) || !damaged && err != errFormat:
		p.fail(failed, name, ": ", applet.Reason(err))
	case p.test:
		text := "data integrity (CRC) error in data"
		switch {
		case err == errFormat:
			text = "bad magic number (file not created by bzip2)"
		case cut:
			text = "file ends unexpectedly"
		}
		p.c.Flush()
		start := p.c.Cmd.Name + ": " + name + ": "
		if p.verbose {
			start = p.label(name)
		}
		io.WriteString(p.c.Stderr, start+text+"\n"+recover)
		p.status = corrupt
	case err == errFormat:
		p.fail(corrupt, name, " ", err.Error())
	case cut:
		io.WriteString(p.c.Stderr, "\n")
		p.fail(corrupt, "Compressed file ends unexpectedly;\n\tperhaps it is corrupted?  *Possible* reason follows.")
		p.hint(name)
	default:
		io.WriteString(p.c.Stderr, "\n")
		p.fail(corrupt, "Data integrity error when decompressing.")
		p.hint(name)
	}
}

func (p *packer) hint(name string) {
	to, deleted := "(stdout)", ""
	if !p.stdout && name != "(stdin)" {
		to, _ = p.target(name)
		deleted = p.c.Cmd.Name + ": Deleting output file " + to + ", if it exists.\n"
	}
	io.WriteString(p.c.Stderr, "\tInput file = "+name+", output file = "+to+"\n\n"+
		"It is possible that the compressed file(s) have become corrupted.\nYou can use the -tvv option to test integrity of such files.\n"+recover+deleted)
}

func (p *packer) file(name string) {
	toFile := !p.stdout && !p.test
	to, known := "", true
	if toFile {
		to, known = p.target(name)
	}
	stat := os.Stat
	if toFile && !p.force {
		stat = os.Lstat
	}
	fi, err := stat(name)
	if err != nil {
		p.fail(failed, "Can't open input file ", name, ": ", applet.Reason(err), ".")
		return
	}
	if to == "" && toFile {
		p.fail(failed, "Input file ", name, " already has ", name[strings.LastIndexByte(name, '.'):], " suffix.")
		return
	}
	switch {
	case fi.IsDir():
		p.fail(failed, "Input file ", name, " is a directory.")
		return
	case toFile && !fi.Mode().IsRegular():
		p.fail(failed, "Input file ", name, " is not a normal file.")
		return
	}
	f, err := os.Open(name)
	if err != nil {
		p.fail(failed, "Can't open input file ", name, ": ", applet.Reason(err), ".")
		return
	}
	defer f.Close()
	if !toFile {
		p.count(name, func() (int64, int64, error) { return p.stream(p.c.Stdout, f) })
		return
	}
	if !known && !p.quiet {
		p.c.Warn("Can't guess original name for ", name, " -- using ", to)
	}
	if _, err := os.Lstat(to); err == nil {
		if !p.force {
			p.fail(failed, "Output file ", to, " already exists.")
			return
		}
		os.Remove(to)
	}
	ok := p.count(name, func() (in, out int64, err error) {
		trailing := false
		err = codec.Replace(to, f, fi, func(w io.Writer, r io.Reader) (err error) {
			if in, out, err = p.stream(w, r); err == errTrailing {
				trailing, err = true, nil
			}
			return err
		})
		if trailing && err == nil {
			err = errTrailing
		}
		return in, out, err
	})
	if !ok {
		return
	}
	if !p.keep {
		if err := os.Remove(name); err != nil {
			p.fail(failed, name, ": ", applet.Reason(err))
		}
	}
}

// target is the name of the file to be made: "" when one that is compressed is
// to be compressed. known says that it follows from the name.
func (p *packer) target(name string) (to string, known bool) {
	for _, s := range [][2]string{{".bz2", ""}, {".bz", ""}, {".tbz2", ".tar"}, {".tbz", ".tar"}} {
		if rest, ok := strings.CutSuffix(name, s[0]); ok {
			if !p.decompress {
				return "", true
			}
			return rest + s[1], true
		}
	}
	if p.decompress {
		return name + ".out", false
	}
	return name + ".bz2", true
}
