// Package xz is xz, unxz and xzcat, as XZ Utils 5.4 has them.
package xz

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/codec"
)

const help = `  -z, --compress      compress
  -d, --decompress    decompress
  -t, --test          test the files
  -k, --keep          keep the files
  -f, --force         overwrite files; with -dc, pass on what is not xz
  -c, --stdout, --to-stdout  write to standard output; keep the files
  -0 ... -9, --fast, --best  how hard to compress; from 7 on it is the same
  -e, --extreme       no effect
  -C, --check=CHECK   crc32, crc64 (default), sha256 or none
  -F, --format=FORMAT  xz or auto, which is the same
  -S, --suffix=SUF    the suffix to use
  -T, --threads=NUM   no effect
  -q, --quiet         no warnings; twice: no errors
  -Q, --no-warn       warnings do not change the status
  -v, --verbose       no effect`

// The commands.
var (
	XZ    = command("xz", "compress files with xz")
	Unxz  = command("unxz", "decompress xz files")
	Xzcat = command("xzcat", "print xz files")
)

func command(name, summary string) *applet.Command {
	return &applet.Command{Name: name, Synopsis: "[OPTION]... [FILE]...", Summary: summary, Help: help, NamedHint: true, Run: run}
}

type packer struct {
	c                                     *applet.Ctx
	decompress, test, keep, force, stdout bool
	noWarn                                bool
	quiet                                 int
	suffix                                string
	codec.XZOptions
	status int
}

// Statuses beyond 0.
const (
	failed = 1
	warned = 2
)

func run(c *applet.Ctx) int {
	p := packer{c: c, suffix: ".xz", XZOptions: codec.XZOptions{Level: 6}}
	switch c.Cmd.Name {
	case "unxz":
		p.decompress = true
	case "xzcat":
		p.decompress, p.stdout = true, true
	}
	level := func(n int) func() { return func() { p.Level = n } }
	none := func() {}
	table := []applet.Opt{
		applet.Do(func() { p.decompress, p.test = false, false }, 'z', "compress"),
		applet.Do(func() { p.decompress, p.test = true, false }, 'd', "decompress"), applet.Do(func() { p.decompress, p.test = true, false }, 0, "uncompress"),
		applet.Do(func() { p.decompress, p.test = true, true }, 't', "test"),
		applet.Bool(&p.keep, 'k', "keep"), applet.Bool(&p.force, 'f', "force"),
		applet.Bool(&p.stdout, 'c', "stdout"), applet.Bool(&p.stdout, 0, "to-stdout"),
		applet.Do(level(0), 0, "fast"), applet.Do(level(9), 0, "best"), applet.Do(none, 'e', "extreme"),
		applet.Func(func(v string) error {
			switch v {
			case "crc32", "crc64", "sha256", "none":
				p.Check = v
				return nil
			}
			return errors.New(v + ": Unsupported integrity check type")
		}, 'C', "check"),
		applet.Func(func(v string) error {
			switch v {
			case "xz", "auto":
				return nil
			case "lzma", "alone", "lzip", "raw":
				return errors.New("the format " + v + " is not supported in the sandbox")
			}
			return errors.New(v + ": Unknown file format type")
		}, 'F', "format"),
		applet.String(&p.suffix, 'S', "suffix"),
		applet.Func(func(v string) error {
			if _, err := applet.ParseSize(v, ""); err != nil {
				return errors.New(v + ": Value is not a non-negative decimal integer")
			}
			return nil
		}, 'T', "threads"),
		applet.Do(func() { p.quiet++ }, 'q', "quiet"), applet.Bool(&p.noWarn, 'Q', "no-warn"), applet.Do(none, 'v', "verbose"),
		applet.Try(func() error { return errors.New("--list is not supported in the sandbox: use -t to test") }, 'l', "list"),
	}
	for n := range 10 {
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
		if name == "-" {
			p.tell("(stdin)", p.stream(c.Stdout, c.Stdin))
		} else {
			p.tell(name, p.file(name))
		}
		if p.broken() {
			break
		}
	}
	if p.status == warned && p.noWarn {
		return 0
	}
	return p.status
}

// broken tells whether nobody reads the output any more.
func (p *packer) broken() bool { return p.c.Flush() != nil }

// skipped is why a file was left alone: a warning.
type skipped string

func (s skipped) Error() string { return string(s) }

func (p *packer) tell(name string, err error) {
	if err == nil {
		return
	}
	var s skipped
	status, most := failed, 2
	if errors.As(err, &s) {
		status, most = warned, 1
	}
	if p.quiet < most {
		p.c.Flush()
		p.c.Warn(name, ": ", applet.Reason(err))
	}
	if p.status != failed {
		p.status = status
	}
}

// stream compresses or decompresses.
func (p *packer) stream(w io.Writer, r io.Reader) error {
	if !p.decompress {
		z := codec.NewXZWriter(w, p.XZOptions)
		if _, err := codec.Copy(z, r); err != nil {
			return err
		}
		return z.Close()
	}
	if p.test {
		w = io.Discard
	}
	in := bufio.NewReaderSize(r, applet.BufSize)
	head, err := in.Peek(len(codec.MagicXZ))
	if !codec.Begins(head, codec.MagicXZ) {
		switch {
		case err != nil && err != io.EOF:
			return err
		case p.force && p.stdout:
			_, err = codec.Copy(w, in)
			return err
		case len(head) == 0:
			return codec.ErrTruncated
		}
		return codec.ErrFormat
	}
	z, err := codec.NewXZReader(in)
	if err == nil {
		_, err = codec.Copy(w, z)
	}
	return err
}

func (p *packer) file(name string) error {
	toFile := !p.stdout && !p.test
	fi, err := os.Lstat(name)
	switch {
	case err != nil:
		return err
	case fi.Mode()&fs.ModeSymlink != 0 && toFile && !p.force:
		return skipped("Is a symbolic link, skipping")
	case fi.Mode()&fs.ModeSymlink != 0:
		if fi, err = os.Stat(name); err != nil {
			return err
		}
	}
	switch {
	case fi.IsDir():
		return skipped("Is a directory, skipping")
	case !fi.Mode().IsRegular() && toFile:
		return skipped("Not a regular file, skipping")
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if !toFile {
		return p.stream(p.c.Stdout, f)
	}
	to, err := p.target(name)
	if err != nil {
		head := make([]byte, len(codec.MagicXZ)) // what is no xz has no suffix to miss
		if n, _ := io.ReadFull(f, head); p.decompress && !codec.Begins(head[:n], codec.MagicXZ) {
			return codec.ErrFormat
		}
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		if !p.force {
			p.tell(to, syscall.EEXIST)
			return nil
		}
		os.Remove(to)
	}
	if err := codec.Replace(to, f, fi, p.stream); err != nil || p.keep {
		return err
	}
	return os.Remove(name)
}

// target is the name of the file to be made.
func (p *packer) target(name string) (string, error) {
	if !p.decompress {
		for _, s := range []string{".xz", ".txz", p.suffix} {
			if strings.HasSuffix(name, s) && len(name) > len(s) {
				return "", skipped("File already has `" + s + "' suffix, skipping")
			}
		}
		return name + p.suffix, nil
	}
	for _, s := range [][2]string{{p.suffix, ""}, {".xz", ""}, {".txz", ".tar"}, {".lzma", ""}, {".tlz", ".tar"}} {
		if to, ok := strings.CutSuffix(name, s[0]); ok && to != "" && !strings.HasSuffix(to, "/") {
			return to + s[1], nil
		}
	}
	return "", skipped("Filename has an unknown suffix, skipping")
}
