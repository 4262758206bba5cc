// Package tar is tar: create, append, list and extract, with gzip, bzip2, xz
// and zstd.
//
// Extraction never leaves the folder it works in: leading slashes are
// dropped, members with .. are refused by name, symbolic links are made last
// so that nothing is written through them, and files are made anew and never
// written through what stands in their place. Members that are safe are
// extracted also when others are refused; the status is then 2.
package tar

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
)

// Command is tar.
var Command = &applet.Command{
	Name:     "tar",
	Synopsis: "{-c|-x|-t|-r} [OPTION]... [FILE]...",
	Summary:  "pack files into an archive, and unpack them",
	Help: `  -c, --create          make an archive
  -x, --extract, --get  extract from an archive
  -t, --list            list an archive
  -r, --append          append to an archive that is not compressed
  -f, --file=ARCHIVE    the archive (- is standard input or output, and the default)
  -C, --directory=DIR   change to DIR first
  -v, --verbose         list what is treated
  -z, --gzip            gzip
  -j, --bzip2           bzip2
  -J, --xz              xz
      --zstd            zstd
  -I, --use-compress-program=PROG  what gzip, pigz, bzip2, xz or zstd means; its options
                        are not looked at
  -a, --auto-compress   as the archive's name says
  -O, --to-stdout       extract to standard output
  -k, --keep-old-files  do not replace files: an error
      --skip-old-files  do not replace files
      --overwrite, -U, --unlink-first, -p, --preserve-permissions, --no-same-owner,
      --no-same-permissions, --numeric-owner, --warning=W  no effect here
  -m, --touch           do not restore times
  -h, --dereference     pack what links point to
      --no-recursion    do not pack what is in folders
      --strip-components=N  drop N leading parts of names
      --exclude=GLOB    leave out what matches GLOB
  -X, --exclude-from=FILE  the same for each line of FILE
  -T, --files-from=FILE take names from FILE
      --null            names in FILE end in a 0 byte
      --wildcards       operands are globs
      --format=F        gnu, pax, posix or ustar
      --owner=N, --group=N  the owner and group written
      --mtime=DATE      the time written
      --sort=name       sort names (which they always are)
`,
	Run: run,
}

type options struct {
	mode                                           byte // c x t r
	file                                           string
	dir                                            string
	pack                                           string // gzip, bzip2, xz or zstd
	auto                                           bool
	verbose                                        int
	stdout, keepOld, skipOld, touch, follow, noRec bool
	null, wildcards                                bool
	strip                                          int
	exclude                                        []string
	format, owner, group, mtime                    string
	operands                                       []operand
}

// operand is a file to be packed, and the folder that -C named before it.
type operand struct{ dir, name string }

const failed = 2

type archiver struct {
	c      *applet.Ctx
	o      *options
	status int
	warned map[string]bool
	broken bool // the archive cannot be written
	gone   bool // the last word has been said
	width  int  // of owner and size in listings
}

func (a *archiver) fail(parts ...string) {
	a.c.Flush()
	a.c.Warn(parts...)
	a.status = failed
}

// oldStyle turns `tar xzf FILE` into options.
func oldStyle(args []string) []string {
	if len(args) == 0 || args[0] == "" || args[0][0] == '-' {
		return args
	}
	var out []string
	rest := args[1:]
	for _, c := range args[0] {
		out = append(out, "-"+string(c))
		if strings.ContainsRune("fCXTbgHIKLNVF", c) && len(rest) > 0 {
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	return append(out, rest...)
}

func run(c *applet.Ctx) int {
	o := &options{}
	var refused string
	var dirs []operand
	set := func(m byte) func() {
		return func() {
			if o.mode != 0 && o.mode != m {
				refused = "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option"
			}
			o.mode = m
		}
	}
	packer := func(name string) func() { return func() { o.pack = name } }
	no := func(what string) func() { return func() { refused = what + " is not supported" } }
	noArg := func(what string) func(string) error { return func(string) error { no(what)(); return nil } }
	none := func() {}
	ctx := *c
	ctx.Args = oldStyle(c.Args)
	// -C counts for the names after it: they are told apart by a mark.
	const mark = "\x00C"
	ctx.Args = markFolders(ctx.Args, mark)
	operands, status, ok := ctx.Parse(failed,
		applet.Do(set('c'), 'c', "create"), applet.Do(set('x'), 'x', "extract"), applet.Do(set('x'), 0, "get"), applet.Do(set('t'), 't', "list"), applet.Do(set('r'), 'r', "append"),
		applet.Do(no("-A"), 'A', "concatenate"), applet.Do(no("-d"), 'd', "diff"), applet.Do(no("-u"), 'u', "update"), applet.Do(no("--delete"), 0, "delete"),
		applet.String(&o.file, 'f', "file"),
		applet.Do(packer("gzip"), 'z', "gzip"), applet.Do(packer("gzip"), 0, "gunzip"), applet.Do(packer("bzip2"), 'j', "bzip2"),
		applet.Do(packer("xz"), 'J', "xz"), applet.Do(packer("zstd"), 0, "zstd"), applet.Bool(&o.auto, 'a', "auto-compress"),
		applet.Func(func(v string) error {
			word, _, _ := strings.Cut(strings.TrimSpace(v), " ")
			switch word {
			case "gzip", "bzip2", "xz", "zstd":
				o.pack = word
			case "pigz":
				o.pack = "gzip"
			default:
				return errors.New("-I " + v + " is not supported: gzip, bzip2, xz and zstd are")
			}
			return nil
		}, 'I', "use-compress-program"),
		applet.Do(func() { o.verbose++ }, 'v', "verbose"),
		applet.Bool(&o.stdout, 'O', "to-stdout"), applet.Bool(&o.keepOld, 'k', "keep-old-files"), applet.Bool(&o.skipOld, 0, "skip-old-files"),
		applet.Do(none, 0, "overwrite"), applet.Do(none, 'U', "unlink-first"), applet.Do(none, 'p', "preserve-permissions"), applet.Do(none, 0, "same-permissions"),
		applet.Do(none, 0, "no-same-owner"), applet.Do(none, 0, "no-same-permissions"), applet.Do(none, 0, "numeric-owner"), applet.Do(none, 0, "same-owner"), applet.Func(func(string) error { return nil }, 0, "warning"),
		applet.Bool(&o.touch, 'm', "touch"), applet.Bool(&o.follow, 'h', "dereference"),
		applet.Do(func() { o.noRec = true }, 0, "no-recursion"), applet.Do(func() { o.noRec = false }, 0, "recursion"),
		applet.Func(func(v string) error {
			n, err := strconv.ParseUint(v, 10, 16)
			if err != nil {
				return errors.New(v + ": Invalid number of elements")
			}
			o.strip = int(n)
			return nil
		}, 0, "strip-components"),
		applet.Func(func(v string) error { o.exclude = append(o.exclude, v); return nil }, 0, "exclude"),
		applet.Func(func(v string) error {
			data, err := os.ReadFile(v)
			if err != nil {
				return errors.New(v + ": Cannot open: " + applet.Reason(err))
			}
			for _, l := range strings.Split(string(data), "\n") {
				if l != "" {
					o.exclude = append(o.exclude, l)
				}
			}
			return nil
		}, 'X', "exclude-from"),
		applet.Func(func(v string) error { return o.namesFrom(c, v, &dirs) }, 'T', "files-from"),
		applet.Bool(&o.null, 0, "null"), applet.Bool(&o.wildcards, 0, "wildcards"),
		applet.Func(func(v string) error {
			switch v {
			case "gnu", "pax", "posix", "ustar":
				o.format = v
				return nil
			}
			return errors.New("Invalid archive format: " + v)
		}, 0, "format"),
		applet.String(&o.owner, 0, "owner"), applet.String(&o.group, 0, "group"), applet.String(&o.mtime, 0, "mtime"),
		applet.Func(func(v string) error {
			if v != "name" && v != "none" {
				return errors.New("invalid argument '" + v + "' for '--sort'")
			}
			return nil
		}, 0, "sort"),
		applet.Do(no("-P"), 'P', "absolute-names"), applet.Func(noArg("--to-command"), 0, "to-command"), applet.Func(noArg("--transform"), 0, "transform"),
		applet.Do(no("-S"), 'S', "sparse"), applet.Do(no("-W"), 'W', "verify"), applet.Do(no("-w"), 'w', "interactive"), applet.Func(noArg("--checkpoint-action"), 0, "checkpoint-action"),
	)
	if !ok {
		return status
	}
	if refused == "" && o.mode == 0 {
		refused = "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options"
	}
	if refused == "" && o.mode == 'r' && o.pack != "" {
		refused = "Cannot update compressed archives"
	}
	if refused != "" {
		c.Warn(refused)
		io.WriteString(c.Stderr, "Try 'tar --help' or 'tar --usage' for more information.\n")
		return failed
	}
	dir := ""
	for _, name := range operands {
		if d, ok := strings.CutPrefix(name, mark); ok {
			if strings.HasPrefix(d, "/") || dir == "" {
				dir = d
			} else {
				dir += "/" + d
			}
			continue
		}
		o.operands = append(o.operands, operand{dir, name})
	}
	o.operands = append(o.operands, dirs...)
	o.dir = dir
	a := &archiver{c: c, o: o, warned: map[string]bool{}}
	switch o.mode {
	case 'c', 'r':
		a.create()
	default:
		a.read()
	}
	if a.gone {
		return failed
	}
	if a.status != 0 {
		c.Flush()
		c.Warn("Exiting with failure status due to previous errors")
	}
	return a.status
}

// markFolders turns -C DIR into an operand, which keeps its place among the
// others.
func markFolders(args []string, mark string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(out, args[i:]...)
		case a == "-C" || a == "--directory":
			if i+1 < len(args) {
				i++
				out = append(out, mark+args[i])
				continue
			}
			out = append(out, a)
		case strings.HasPrefix(a, "--directory="):
			out = append(out, mark+strings.TrimPrefix(a, "--directory="))
		case strings.HasPrefix(a, "-C") && len(a) > 2:
			out = append(out, mark+a[2:])
		case a == "-f" || a == "--file" || a == "-X" || a == "-T" || a == "--exclude":
			out = append(out, a)
			if i+1 < len(args) {
				i++
				out = append(out, args[i])
			}
		default:
			out = append(out, a)
		}
	}
	return out
}

func (o *options) namesFrom(c *applet.Ctx, file string, to *[]operand) error {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(c.Stdin)
	} else {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return errors.New(file + ": Cannot open: " + applet.Reason(err))
	}
	sep := "\n"
	if o.null || strings.Contains(string(data), "\x00") {
		sep = "\x00"
	}
	for _, l := range strings.Split(string(data), sep) {
		if l != "" {
			*to = append(*to, operand{"", l})
		}
	}
	return nil
}

// excluded tells whether a name or one of its tails matches an --exclude.
func (o *options) excluded(name string) bool {
	name = strings.TrimSuffix(name, "/")
	for _, p := range o.exclude {
		for tail := name; ; {
			for i := range len(tail) + 1 { // what is in an excluded folder is out, too
				if (i == len(tail) || tail[i] == '/') && i > 0 && glob.Match(strings.TrimSuffix(p, "/"), tail[:i], glob.Options{}) {
					return true
				}
			}
			_, rest, ok := strings.Cut(tail, "/")
			if !ok {
				break
			}
			tail = rest
		}
	}
	return false
}
