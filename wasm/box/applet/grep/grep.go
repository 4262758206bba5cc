// Package grep is grep, egrep and fgrep, as GNU grep 3.8 has them.
//
// Folders are searched in the order of their names. grep -P takes the
// patterns of Go's regexp, and with look-around, back-references and atomic
// groups those of regexp2, which come close to Perl's.
package grep

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

const help = `  -E, --extended-regexp     patterns are extended regular expressions
  -F, --fixed-strings       patterns are plain text
  -G, --basic-regexp        patterns are basic regular expressions (default)
  -P, --perl-regexp         patterns are Perl regular expressions
  -e, --regexp=PATTERNS     use PATTERNS
  -f, --file=FILE           take patterns from FILE, one a line
  -i, -y, --ignore-case     ignore case
      --no-ignore-case      do not (default)
  -w, --word-regexp         match whole words only
  -x, --line-regexp         match whole lines only
  -z, --null-data           lines end in a 0 byte
  -s, --no-messages         do not report files that cannot be read
  -v, --invert-match        select the lines that do not match
  -m, --max-count=NUM       stop after NUM selected lines
  -b, --byte-offset         print the offset of each line
  -n, --line-number         print the number of each line
      --line-buffered       flush after each line
  -H, --with-filename       print the file's name with each line
  -h, --no-filename         do not
      --label=LABEL         name of standard input in what is printed
  -o, --only-matching       print only the parts that match
  -q, --quiet, --silent     print nothing; stop at the first match
      --binary-files=TYPE   binary, text or without-match
  -a, --text                binary files are text
  -I                        binary files do not match
  -d, --directories=ACTION  read, recurse or skip
  -D, --devices=ACTION      read or skip
  -r, --recursive           search folders
  -R, --dereference-recursive  and follow symbolic links
      --include=GLOB        search only files whose name matches GLOB
      --exclude=GLOB        skip files whose name matches GLOB
      --exclude-from=FILE   skip files whose name matches a line of FILE
      --exclude-dir=GLOB    skip folders whose name matches GLOB
  -L, --files-without-match  print the names of files without selected lines
  -l, --files-with-matches  print the names of files with selected lines
  -c, --count               print how many lines were selected
  -T, --initial-tab         make the text line up
  -Z, --null                print a 0 byte after a file's name
  -B, --before-context=NUM  print NUM lines before each
  -A, --after-context=NUM   print NUM lines after each
  -C, --context=NUM, -NUM   both
      --group-separator=SEP  what is printed between groups of lines
      --no-group-separator  nothing between groups
      --color[=WHEN], --colour[=WHEN]  mark matches: always, never or auto
  -U, --binary              no effect
`

// Command is grep.
var Command = command("grep", "find lines that match a pattern")

// Egrep is grep -E.
var Egrep = command("egrep", "grep -E: find lines that match an extended pattern")

// Fgrep is grep -F.
var Fgrep = command("fgrep", "grep -F: find lines that hold a text")

// The commands that search what is in compressed files.
var (
	Zgrep  = command("zgrep", "grep in files that may be compressed, by gzip, bzip2, xz or zstd")
	Zegrep = command("zegrep", "zgrep -E")
	Zfgrep = command("zfgrep", "zgrep -F")
)

func command(name, summary string) *applet.Command {
	return &applet.Command{Name: name, Synopsis: "[OPTION]... PATTERNS [FILE]...", Summary: summary, Help: help, Run: run, UsageHint: true}
}

type syntax uint8

const (
	basic syntax = iota + 1
	extended
	fixed
	perl
)

type options struct {
	syntax                      syntax
	fold, word, line, invert    bool
	null                        bool // -z
	quiet, noMessages           bool
	maxCount                    int // -1: none
	byteOffset, lineNumber      bool
	lineBuffered                bool
	only, count                 bool
	list                        byte // 'l', 'L' or 0
	nullName, tab, color        bool
	column, each, heading, trim bool // of rg; each: every match on a line of its own
	longest                     int  // bytes of a line that rg prints; 0: any
	binary                      string
	before, after               int
	grouped                     bool     // context was asked for, also of no lines: groups are kept apart
	origins                     []string // of the patterns: "FILE:LINE: "
	groupSep                    string
	noGroupSep                  bool
	label                       string
	names                       int8 // -1 -h, 1 -H
	directories                 string
	follow                      bool
	files, dirs                 filters
	patterns                    []string
	havePatterns                bool
	contextDigits, defaultAfter int
	foundOnly                   bool  // files without a match have no count
	unpack                      bool  // files may be compressed
	text                        bool  // of rg: 0 bytes do not make a file binary
	bad                         error // of an option's argument, told without a hint to --help
}

func run(c *applet.Ctx) int {
	o := options{maxCount: -1, before: -1, after: -1, defaultAfter: -1, groupSep: "--", binary: "binary", directories: "read"}
	switch c.Cmd.Name {
	case "egrep":
		o.syntax = extended
		c.Warn("warning: egrep is obsolescent; using grep -E")
	case "fgrep":
		o.syntax = fixed
		c.Warn("warning: fgrep is obsolescent; using grep -F")
	case "zgrep":
		o.unpack = true
	case "zegrep":
		o.unpack, o.syntax = true, extended
	case "zfgrep":
		o.unpack, o.syntax = true, fixed
	}
	operands, status, ok := c.Parse(2, o.table(c)...)
	if !ok {
		return status
	}
	if o.bad != nil {
		c.Warn(o.bad.Error())
		return 2
	}
	if o.maxCount == 0 && !o.havePatterns && len(operands) == 0 {
		return 1
	}
	if !o.havePatterns {
		if len(operands) == 0 {
			c.Usage()
			return 2
		}
		o.addPatterns("", operands[0])
		operands = operands[1:]
	}
	o.grouped = max(o.before, o.after, o.defaultAfter) >= 0
	for _, n := range []*int{&o.before, &o.after} {
		if *n < 0 {
			*n = max(o.defaultAfter, 0)
		}
	}
	if (o.maxCount == 0 || len(o.patterns) == 0 && !o.invert) && o.list != 'L' {
		return 1 // as GNU grep does, without a count or a look at the patterns
	}
	m, err := o.matcher(c)
	if err != nil {
		c.Warn(err.Error())
		return 2
	}
	g := &grep{c: c, o: &o, m: m, sep: '\n'}
	if o.null {
		g.sep = 0
	}
	return g.all(operands)
}

func (o *options) refuse(why string) {
	if o.bad == nil {
		o.bad = errors.New(why)
	}
}

// addPatterns adds the lines of s as patterns; file is where they are from,
// "" for the command line.
func (o *options) addPatterns(file, s string) {
	o.havePatterns = true
	for i, p := range strings.Split(s, "\n") {
		from := ""
		if file != "" {
			from = file + ":" + strconv.Itoa(i+1) + ": "
		}
		o.patterns, o.origins = append(o.patterns, p), append(o.origins, from)
	}
}

func (o *options) matcher(c *applet.Ctx) (matcher, error) {
	if o.syntax == perl {
		return newPerl(o)
	}
	opt := posixre.Options{Dialect: posixre.GrepBasic, Fold: o.fold, Line: o.line, Word: o.word, NoNewline: !o.null, HasSep: true, Sep: '\n'}
	switch o.syntax {
	case extended:
		opt.Dialect = posixre.GrepExtended
	case fixed:
		opt.Literal = true
	}
	if o.null {
		opt.Sep = 0
	}
	re, err := posixre.Compile(o.patterns, opt)
	if err != nil {
		return nil, o.complaints(c.Cmd.Name, opt, err)
	}
	for _, w := range re.Warnings {
		c.Warn("warning: ", w)
	}
	return re, nil
}

func (o *options) table(c *applet.Ctx) []applet.Opt {
	set := func(s syntax) func() {
		return func() { o.syntax = s }
	}
	lines := func(p *int) func(string) error {
		return func(v string) error {
			n, err := strconv.ParseUint(v, 10, 63)
			if errors.Is(err, strconv.ErrRange) {
				n = 1 << 40
			} else if err != nil {
				o.refuse(v + ": invalid context length argument")
				return nil
			}
			*p = int(min(n, 1<<40))
			return nil
		}
	}
	oneOf := func(p *string, complaint string, valid ...string) func(string) error {
		return func(v string) error {
			for _, x := range valid {
				if x == v {
					*p = v
					return nil
				}
			}
			o.refuse(complaint)
			return nil
		}
	}
	color := func(v string, given bool) error {
		switch v {
		case "always", "yes", "force":
			o.color = true
		case "never", "no", "none", "auto", "tty", "if-tty", "": // never a terminal
			o.color = false
		default:
			return errors.New("invalid argument '" + v + "' for '--color'")
		}
		return nil
	}
	devices := ""
	table := []applet.Opt{
		applet.Do(set(extended), 'E', "extended-regexp"),
		applet.Do(set(fixed), 'F', "fixed-strings"),
		applet.Do(set(basic), 'G', "basic-regexp"),
		applet.Do(set(perl), 'P', "perl-regexp"),
		applet.Func(func(v string) error { o.addPatterns("", v); return nil }, 'e', "regexp"),
		applet.Func(func(v string) error { return o.patternFile(c, v) }, 'f', "file"),
		applet.Bool(&o.fold, 'i', "ignore-case"),
		applet.Bool(&o.fold, 'y', ""),
		applet.Do(func() { o.fold = false }, 0, "no-ignore-case"),
		applet.Bool(&o.word, 'w', "word-regexp"),
		applet.Bool(&o.line, 'x', "line-regexp"),
		applet.Bool(&o.null, 'z', "null-data"),
		applet.Bool(&o.noMessages, 's', "no-messages"),
		applet.Bool(&o.invert, 'v', "invert-match"),
		applet.Func(func(v string) error {
			n, err := strconv.ParseInt(v, 10, 62)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				o.refuse("invalid max count")
				return nil
			}
			o.maxCount = int(max(n, -1))
			return nil
		}, 'm', "max-count"),
		applet.Bool(&o.byteOffset, 'b', "byte-offset"),
		applet.Bool(&o.lineNumber, 'n', "line-number"),
		applet.Bool(&o.lineBuffered, 0, "line-buffered"),
		applet.Do(func() { o.names = 1 }, 'H', "with-filename"),
		applet.Do(func() { o.names = -1 }, 'h', "no-filename"),
		applet.String(&o.label, 0, "label"),
		applet.Bool(&o.only, 'o', "only-matching"),
		applet.Bool(&o.quiet, 'q', "quiet"),
		applet.Bool(&o.quiet, 0, "silent"),
		applet.Func(oneOf(&o.binary, "unknown binary-files type", "binary", "text", "without-match"), 0, "binary-files"),
		applet.Do(func() { o.binary = "text" }, 'a', "text"),
		applet.Do(func() { o.binary = "without-match" }, 'I', ""),
		applet.Func(oneOf(&o.directories, "unknown directories method", "read", "recurse", "skip"), 'd', "directories"),
		applet.Func(oneOf(&devices, "unknown devices method", "read", "skip"), 'D', "devices"),
		applet.Do(func() { o.directories, o.follow = "recurse", false }, 'r', "recursive"),
		applet.Do(func() { o.directories, o.follow = "recurse", true }, 'R', "dereference-recursive"),
		applet.Func(func(v string) error { o.files.add(v, true); return nil }, 0, "include"),
		applet.Func(func(v string) error { o.files.add(v, false); return nil }, 0, "exclude"),
		applet.Func(func(v string) error { return o.excludeFrom(v) }, 0, "exclude-from"),
		applet.Func(func(v string) error { o.dirs.add(strings.TrimRight(v, "/"), false); return nil }, 0, "exclude-dir"),
		applet.Do(func() { o.list = 'L' }, 'L', "files-without-match"),
		applet.Do(func() { o.list = 'l' }, 'l', "files-with-matches"),
		applet.Bool(&o.count, 'c', "count"),
		applet.Bool(&o.tab, 'T', "initial-tab"),
		applet.Bool(&o.nullName, 'Z', "null"),
		applet.Func(lines(&o.before), 'B', "before-context"),
		applet.Func(lines(&o.after), 'A', "after-context"),
		applet.Func(lines(&o.defaultAfter), 'C', "context"),
		applet.Func(func(v string) error { o.groupSep, o.noGroupSep = v, false; return nil }, 0, "group-separator"),
		applet.Bool(&o.noGroupSep, 0, "no-group-separator"),
		applet.Optional(color, 0, "color"),
		applet.Optional(color, 0, "colour"),
		applet.Optional(color, 0, "colo"), // their common abbreviation, which would be ambiguous
		applet.Do(func() {}, 'U', "binary"),
		applet.Do(func() {}, 'u', "unix-byte-offsets"),
	}
	for d := range 10 { // -NUM
		table = append(table, applet.Do(func() {
			o.contextDigits = min(o.contextDigits*10+d, 1<<40)
			o.defaultAfter = o.contextDigits
		}, rune('0'+d), ""))
	}
	return table
}

func readAll(c *applet.Ctx, name string) ([]byte, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(c.Stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, errors.New(name + ": " + applet.Reason(err))
	}
	return data, nil
}

// complaints is err, what is wrong with the patterns together, as a line for
// each that is wrong alone.
func (o *options) complaints(name string, opt posixre.Options, err error) error {
	var all []string
	for i, p := range o.patterns {
		if _, e := posixre.Compile([]string{p}, opt); e != nil {
			all = append(all, o.origins[i]+e.Error())
		}
	}
	if len(all) == 0 {
		return err
	}
	return errors.New(strings.Join(all, "\n"+name+": "))
}

func (o *options) patternFile(c *applet.Ctx, name string) error {
	data, err := readAll(c, name)
	if err != nil {
		o.refuse(err.Error())
		return nil
	}
	o.havePatterns = true
	if len(data) > 0 {
		o.addPatterns(name, string(bytes.TrimSuffix(data, []byte("\n"))))
	}
	return nil
}

func (o *options) excludeFrom(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		o.refuse(name + ": " + applet.Reason(err))
		return nil
	}
	for _, l := range strings.Split(string(data), "\n") {
		if l != "" {
			o.files.add(l, false)
		}
	}
	return nil
}
