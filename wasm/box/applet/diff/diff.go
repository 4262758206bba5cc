// Package diff is diff, as GNU diffutils 3.8 has it: the normal, unified and
// context formats, side by side, for ed and RCS, brief and recursive. Output
// for #ifdef is refused.
package diff

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// Command is diff.
var Command = &applet.Command{
	NamedHint: true,
	Name:      "diff",
	Synopsis:  "[OPTION]... FILE1 FILE2",
	Summary:   "compare files line by line",
	Help: `      --normal              normal format (default)
  -q, --brief               only tell whether files differ
  -s, --report-identical-files  tell when files are the same
  -c, -C N, --context[=N]   context format with N lines of context (3)
  -u, -U N, --unified[=N]   unified format with N lines of context (3)
  -e, --ed                  a script for ed
  -n, --rcs                 the format of RCS
  -y, --side-by-side        two columns
  -W, --width=N             of -y: at most N columns (130)
      --left-column         of -y: common lines on the left only
      --suppress-common-lines  of -y: no common lines
  -p, --show-c-function     show the C function that each change is in
  -F, --show-function-line=RE  show the last line that matches RE
      --label=LABEL         the name of a file in headers
  -t, --expand-tabs         spaces for tabs
  -T, --initial-tab         a tab before each line
  -r, --recursive           compare folders and what is below them
  -N, --new-file            files that are missing are empty
      --unidirectional-new-file  the first ones only
  -x, --exclude=GLOB        leave files that match GLOB out
  -X, --exclude-from=FILE   the same for each line of FILE
  -S, --starting-file=FILE  start with FILE in folders
  -i, --ignore-case         ignore case
  -E, --ignore-tab-expansion  ignore how tabs are written
  -Z, --ignore-trailing-space  ignore white space at the end of lines
  -b, --ignore-space-change ignore how much white space there is
  -w, --ignore-all-space    ignore all white space
  -B, --ignore-blank-lines  ignore changes of blank lines only
  -I, --ignore-matching-lines=RE  ignore changes whose lines all match RE
  -a, --text                treat all files as text
      --strip-trailing-cr   ignore carriage returns at the end of lines
  -d, --minimal             find the smallest set of changes
      --speed-large-files   no effect
      --no-dereference      compare symbolic links themselves
      --color[=WHEN]        never or auto
`,
	Run: run,
}

const trouble = 2

type style uint8

const (
	normal style = iota
	unified
	context
	sideBySide
	ed
	rcs
	brief
)

type options struct {
	plain                                      bool // --normal was given
	style                                      style
	styles                                     map[style]bool
	lines                                      int // of context
	identical, recursive, newFile, uniNew      bool
	fold, trailing, change, all, blank, tabs   bool
	text, stripCR, minimal, expand, initialTab bool
	leftColumn, noCommon, noFollow             bool
	ignore, function                           *posixre.Regexp
	labels                                     []string
	exclude                                    []string
	width                                      int
	start                                      string
}

type comparer struct {
	c      *applet.Ctx
	o      *options
	given  string // the options, as they are repeated in headers of -r
	zone   *time.Location
	status int
}

func run(c *applet.Ctx) int {
	o := &options{lines: 3, width: 130, styles: map[style]bool{}}
	var refused string
	var ignoreREs []string
	asked := -1 // the most context that was asked for
	set := func(s style) func() { return func() { o.style = s; o.styles[s] = true } }
	plain := func(s style) func() { return func() { set(s)(); asked = max(asked, 3) } }
	count := func(s style) func(string, bool) error {
		return func(v string, given bool) error {
			set(s)()
			if !given {
				asked = max(asked, 3)
				return nil
			}
			n, err := strconv.ParseUint(v, 10, 31)
			if err != nil {
				return errors.New("invalid context length '" + v + "'")
			}
			asked = max(asked, int(n))
			return nil
		}
	}
	need := func(f func(string, bool) error) func(string) error {
		return func(v string) error { return f(v, true) }
	}
	no := func(what string) func() { return func() { refused = what + " is not supported" } }
	operands, status, ok := c.Parse(trouble,
		applet.Do(func() { o.style, o.plain = normal, true }, 0, "normal"),
		applet.Do(func() { o.styles[brief] = true }, 'q', "brief"),
		applet.Bool(&o.identical, 's', "report-identical-files"),
		applet.Do(plain(context), 'c', ""), applet.Func(need(count(context)), 'C', ""), applet.Optional(count(context), 0, "context"),
		applet.Do(plain(unified), 'u', ""), applet.Func(need(count(unified)), 'U', ""), applet.Optional(count(unified), 0, "unified"),
		applet.Do(set(sideBySide), 'y', "side-by-side"),
		applet.Func(func(v string) error {
			n, err := strconv.ParseUint(v, 10, 31)
			if err != nil || n == 0 {
				return errors.New("invalid width '" + v + "'")
			}
			o.width = int(n)
			return nil
		}, 'W', "width"),
		applet.Bool(&o.leftColumn, 0, "left-column"),
		applet.Bool(&o.noCommon, 0, "suppress-common-lines"),
		applet.Do(func() { o.function, _ = compileRE([]string{`^[[:alpha:]$_]`}) }, 'p', "show-c-function"),
		applet.Func(func(v string) (err error) { o.function, err = compileRE([]string{v}); return err }, 'F', "show-function-line"),
		applet.Func(func(v string) error {
			if o.labels = append(o.labels, v); len(o.labels) > 2 {
				return errors.New("too many file label options")
			}
			return nil
		}, 'L', "label"),
		applet.Bool(&o.expand, 't', "expand-tabs"),
		applet.Bool(&o.initialTab, 'T', "initial-tab"),
		applet.Bool(&o.recursive, 'r', "recursive"),
		applet.Bool(&o.newFile, 'N', "new-file"),
		applet.Bool(&o.uniNew, 'P', "unidirectional-new-file"),
		applet.Func(func(v string) error { o.exclude = append(o.exclude, v); return nil }, 'x', "exclude"),
		applet.Func(func(v string) error {
			data, err := os.ReadFile(v)
			if err != nil {
				return errors.New(v + ": " + applet.Reason(err))
			}
			for _, l := range strings.Split(string(data), "\n") {
				if l != "" {
					o.exclude = append(o.exclude, l)
				}
			}
			return nil
		}, 'X', "exclude-from"),
		applet.String(&o.start, 'S', "starting-file"),
		applet.Bool(&o.fold, 'i', "ignore-case"),
		applet.Bool(&o.tabs, 'E', "ignore-tab-expansion"),
		applet.Bool(&o.trailing, 'Z', "ignore-trailing-space"),
		applet.Bool(&o.change, 'b', "ignore-space-change"),
		applet.Bool(&o.all, 'w', "ignore-all-space"),
		applet.Bool(&o.blank, 'B', "ignore-blank-lines"),
		applet.Func(func(v string) error { ignoreREs = append(ignoreREs, v); return nil }, 'I', "ignore-matching-lines"),
		applet.Bool(&o.text, 'a', "text"),
		applet.Bool(&o.stripCR, 0, "strip-trailing-cr"),
		applet.Bool(&o.minimal, 'd', "minimal"),
		applet.Do(func() {}, 'H', "speed-large-files"),
		applet.Bool(&o.noFollow, 0, "no-dereference"),
		applet.Optional(func(v string, given bool) error {
			if v == "always" {
				refused = "--color=always is not supported"
			} else if given && v != "never" && v != "auto" {
				return errors.New("invalid color '" + v + "'")
			}
			return nil
		}, 0, "color"),
		applet.Do(set(ed), 'e', "ed"), applet.Do(set(rcs), 'n', "rcs"), applet.Do(no("-l"), 'l', "paginate"),
		applet.Func(func(string) error { no("-D")(); return nil }, 'D', "ifdef"),
		applet.Do(no("--ignore-file-name-case"), 0, "ignore-file-name-case"),
	)
	if !ok {
		return min(status, 1) * trouble
	}
	delete(o.styles, normal)
	formats := len(o.styles)
	if o.styles[brief] {
		formats--
	}
	if formats > 1 {
		refused = "conflicting output style options"
	}
	if len(ignoreREs) > 0 && refused == "" {
		var err error
		if o.ignore, err = compileRE(ignoreREs); err != nil {
			refused = err.Error()
		}
	}
	if refused != "" {
		c.Warn(refused)
		io.WriteString(c.Stderr, "diff: Try 'diff --help' for more information.\n")
		return trouble
	}
	if asked >= 0 {
		o.lines = asked
	}
	switch {
	case o.styles[brief]:
		o.style = brief
	case o.style == normal && o.function != nil && !o.plain:
		o.style = context
	}
	if len(operands) != 2 {
		last := "diff"
		if len(operands) > 0 {
			last = operands[len(operands)-1]
		}
		if len(operands) > 2 {
			c.Warn("extra operand '", operands[2], "'")
		} else {
			c.Warn("missing operand after '", last, "'")
		}
		io.WriteString(c.Stderr, "diff: Try 'diff --help' for more information.\n")
		return trouble
	}
	cmp := &comparer{c: c, o: o, zone: time.UTC}
	if l, err := gnudate.Location(os.Getenv("TZ")); err == nil {
		cmp.zone = l
	}
	rest := operands
	for _, a := range c.Args {
		if len(rest) > 0 && a == rest[0] {
			rest = rest[1:]
			continue
		}
		cmp.given += " " + a
	}
	cmp.top(operands[0], operands[1])
	return cmp.status
}

func compileRE(patterns []string) (*posixre.Regexp, error) {
	re, err := posixre.Compile(patterns, posixre.Options{Dialect: posixre.GrepBasic})
	if err != nil {
		return nil, errors.New(patterns[len(patterns)-1] + ": " + err.Error())
	}
	return re, nil
}

func (c *comparer) worse(status int) { c.status = max(c.status, status) }

func (c *comparer) fail(name string, err error) {
	c.c.Flush()
	c.c.Warn(name, ": ", applet.Reason(err))
	c.worse(trouble)
}

func (c *comparer) say(parts ...string) { io.WriteString(c.c.Stdout, strings.Join(parts, "")+"\n") }

func (c *comparer) stat(name string) (fs.FileInfo, error) {
	if name == "-" {
		return nil, nil
	}
	if c.o.noFollow {
		return os.Lstat(name)
	}
	return os.Stat(name)
}

// top compares the two operands.
func (c *comparer) top(a, b string) {
	fa, errA := c.stat(a)
	fb, errB := c.stat(b)
	dirA, dirB := fa != nil && fa.IsDir(), fb != nil && fb.IsDir()
	switch { // a file and a folder: the file of that name in the folder
	case errA == nil && errB == nil && dirA && !dirB && b != "-":
		a = join(a, base(b))
		fa, errA = c.stat(a)
		dirA = fa != nil && fa.IsDir()
	case errA == nil && errB == nil && dirB && !dirA && a != "-":
		b = join(b, base(a))
		fb, errB = c.stat(b)
		dirB = fb != nil && fb.IsDir()
	}
	gone := func(err error) bool { return errors.Is(err, fs.ErrNotExist) && (c.o.newFile || c.o.uniNew) }
	if errA != nil && !(gone(errA) && errB == nil) {
		c.fail(a, errA)
	}
	if errB != nil && !(gone(errB) && errA == nil && !c.o.uniNew) {
		c.fail(b, errB)
	}
	if c.status == trouble {
		return
	}
	switch {
	case dirA && dirB:
		c.folders(a, b)
	case dirA && !dirB && errB != nil, dirB && !dirA && errA != nil:
		c.folders(a, b)
	case dirA != dirB:
		c.kinds(a, b, fa, fb)
	default:
		c.files(a, b, false)
	}
}

func join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

func base(name string) string {
	name = strings.TrimRight(name, "/")
	return name[strings.LastIndexByte(name, '/')+1:]
}

func kind(fi fs.FileInfo) string {
	switch m := fi.Mode(); {
	case m.IsDir():
		return "directory"
	case m.IsRegular():
		if fi.Size() == 0 {
			return "regular empty file"
		}
		return "regular file"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "fifo"
	}
	return "special file"
}

func (c *comparer) kinds(a, b string, fa, fb fs.FileInfo) {
	c.say("File ", a, " is a ", kind(fa), " while file ", b, " is a ", kind(fb))
	c.worse(1)
}

func (c *comparer) names(dir string) (map[string]fs.DirEntry, error) {
	out := map[string]fs.DirEntry{}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
next:
	for _, e := range entries {
		for _, x := range c.o.exclude {
			if glob.Match(x, e.Name(), glob.Options{}) {
				continue next
			}
		}
		out[e.Name()] = e
	}
	return out, err
}

func (c *comparer) folders(a, b string) {
	na, errA := c.names(a)
	nb, errB := c.names(b)
	if errA != nil {
		c.fail(a, errA)
		return
	}
	if errB != nil {
		c.fail(b, errB)
		return
	}
	all := map[string]bool{}
	for n := range na {
		all[n] = true
	}
	for n := range nb {
		all[n] = true
	}
	var names []string
	for n := range all {
		if n >= c.o.start {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	for _, n := range names {
		pa, pb := join(a, n), join(b, n)
		_, inA := na[n]
		_, inB := nb[n]
		if inA && !inB && !c.o.newFile {
			c.say("Only in ", a, ": ", n)
			c.worse(1)
			continue
		}
		if inB && !inA && !c.o.newFile && !c.o.uniNew {
			c.say("Only in ", b, ": ", n)
			c.worse(1)
			continue
		}
		var fa, fb fs.FileInfo
		var err error
		if inA {
			if fa, err = c.stat(pa); err != nil {
				c.fail(pa, err)
				continue
			}
		}
		if inB {
			if fb, err = c.stat(pb); err != nil {
				c.fail(pb, err)
				continue
			}
		}
		dirA, dirB := fa != nil && fa.IsDir(), fb != nil && fb.IsDir()
		switch {
		case dirA && dirB && !c.o.recursive:
			c.say("Common subdirectories: ", pa, " and ", pb)
		case dirA && dirB, dirA && fb == nil && c.o.recursive, dirB && fa == nil && c.o.recursive:
			c.folders(pa, pb)
		case dirA && fb == nil, dirB && fa == nil: // without -r
			where := a
			if dirB {
				where = b
			}
			c.say("Only in ", where, ": ", n)
			c.worse(1)
		case dirA != dirB || fa != nil && fb != nil && fa.Mode().Type() != fb.Mode().Type():
			c.kinds(pa, pb, fa, fb)
		case fa != nil && fb != nil && fa.Mode()&fs.ModeSymlink != 0:
			ta, _ := os.Readlink(pa)
			tb, _ := os.Readlink(pb)
			if ta != tb {
				c.say("Symbolic links ", pa, " and ", pb, " differ")
				c.worse(1)
			}
		default:
			c.files(pa, pb, true)
		}
	}
}

func (c *comparer) read(name string) (data []byte, when time.Time, err error) {
	if name == "-" {
		data, err = io.ReadAll(c.c.Stdin)
		return data, time.Now(), err
	}
	data, err = os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && (c.o.newFile || c.o.uniNew) {
		return nil, time.Unix(0, 0), nil
	}
	if err == nil {
		var fi fs.FileInfo
		if fi, err = os.Stat(name); err == nil {
			when = fi.ModTime()
		}
	}
	return data, when, err
}

// files compares two files; header tells that several are compared.
// named is what messages call a file.
func (c *comparer) named(i int, name string) string {
	if i < len(c.o.labels) {
		return c.o.labels[i]
	}
	return name
}

func (c *comparer) files(a, b string, header bool) {
	da, ta, err := c.read(a)
	if err != nil {
		c.fail(a, err)
		return
	}
	db, tb, err := da, ta, error(nil)
	if b != "-" || a != "-" {
		if db, tb, err = c.read(b); err != nil {
			c.fail(b, err)
			return
		}
	}
	same := bytes.Equal(da, db)
	if same && c.o.style != sideBySide {
		if c.o.identical {
			c.say("Files ", c.named(0, a), " and ", c.named(1, b), " are identical")
		}
		return
	}
	if !same && !c.o.text && (binary(da) || binary(db)) {
		if c.o.style == brief {
			c.say("Files ", c.named(0, a), " and ", c.named(1, b), " differ")
		} else {
			c.say("Binary files ", c.named(0, a), " and ", c.named(1, b), " differ")
		}
		c.worse(1)
		return
	}
	if c.o.style == ed {
		da, db = c.ended(a, da), c.ended(b, db)
	}
	p := newPair(c.o, da, db)
	hunks := p.compare()
	if len(hunks) == 0 && c.o.style != sideBySide {
		if c.o.identical {
			c.say("Files ", c.named(0, a), " and ", c.named(1, b), " are identical")
		}
		return
	}
	if len(hunks) > 0 {
		c.worse(1)
	}
	if c.o.style == brief {
		c.say("Files ", c.named(0, a), " and ", c.named(1, b), " differ")
		return
	}
	if header {
		c.say("diff", c.given, " ", a, " ", b)
	}
	c.print(p, hunks, a, b, ta, tb)
	if len(hunks) == 0 && c.o.identical {
		c.say("Files ", c.named(0, a), " and ", c.named(1, b), " are identical")
	}
}

// ended gives the last line of a file the newline that it lacks, which ed
// cannot leave out.
func (c *comparer) ended(name string, data []byte) []byte {
	if len(data) == 0 || data[len(data)-1] == '\n' {
		return data
	}
	c.c.Warn(name, ": No newline at end of file\n")
	c.worse(trouble)
	return append(data, '\n')
}

// binary tells whether data is no text: GNU diff looks at the first block.
func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 32<<10)], 0) >= 0 }
