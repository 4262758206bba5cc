// Package ls is the command ls.
package ls

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// The commands.
var (
	Command = command("ls", "list information about the FILEs (the current directory by default)")
	Dir     = command("dir", "ls -C -b")
	Vdir    = command("vdir", "ls -l -b")
)

func command(name, summary string) *applet.Command {
	return &applet.Command{Name: name, Synopsis: "[OPTION]... [FILE]...", Summary: summary, Help: help, Run: run}
}

const help = `  -a, --all                  do not ignore entries starting with .
  -A, --almost-all           do not list implied . and ..
      --author               with -l, print the author of each file
  -b, --escape               print C-style escapes for nongraphic characters
  -B, --ignore-backups       do not list implied entries ending with ~
  -c                         sort by, and show, ctime
  -C                         list entries by columns
      --color[=WHEN]         color the output; WHEN is always, auto or never
  -d, --directory            list directories themselves, not their contents
  -f                         do not sort, enable -aU, disable -ls
  -F, --classify[=WHEN]      append indicator (one of */=>@|) to entries
      --file-type            likewise, except do not append '*'
      --format=WORD          across, commas, long, single-column, verbose, vertical
      --full-time            like -l --time-style=full-iso
  -g                         like -l, but do not list owner
      --group-directories-first  group directories before files
  -G, --no-group             in a long listing, don't print group names
  -h, --human-readable       with -l and -s, print sizes like 1K 234M 2G etc.
      --si                   likewise, but use powers of 1000 not 1024
  -H, --dereference-command-line
                             follow symbolic links listed on the command line
      --hide=PATTERN         do not list implied entries matching PATTERN
      --indicator-style=WORD none, slash (-p), file-type, classify (-F)
  -i, --inode                print the index number of each file
  -I, --ignore=PATTERN       do not list implied entries matching PATTERN
  -k, --kibibytes            (accepted, no effect)
  -l                         use a long listing format
  -L, --dereference          show what symbolic links point to
  -m                         fill width with a comma separated list of entries
  -n, --numeric-uid-gid      like -l, but list numeric user and group IDs
  -N, --literal              print entry names without quoting
  -o                         like -l, but do not list group information
  -p                         append / indicator to directories
  -q, --hide-control-chars   print ? instead of nongraphic characters
  -Q, --quote-name           enclose entry names in double quotes
      --quoting-style=WORD   literal, locale, shell, shell-always, shell-escape,
                             shell-escape-always, c, escape
  -r, --reverse              reverse order while sorting
  -R, --recursive            list subdirectories recursively
  -s, --size                 print the allocated size of each file, in blocks
  -S                         sort by file size, largest first
      --show-control-chars   show nongraphic characters as-is
      --sort=WORD            none (-U), size (-S), time (-t), version (-v),
                             extension (-X), width
  -t                         sort by time, newest first; see --time
      --time=WORD            atime, access, use, ctime, status, birth
      --time-style=STYLE     full-iso, long-iso, iso, locale, or +FORMAT
  -T, --tabsize=COLS         (accepted, tab stops are 8 columns apart)
  -u                         sort by, and show, access time
  -U                         do not sort; list entries in directory order
  -v                         natural sort of (version) numbers within text
  -w, --width=COLS           set output width to COLS.  0 means no limit
  -x                         list entries by lines instead of by columns
  -X                         sort alphabetically by entry extension
      --zero                 end each output line with NUL, not newline
  -1                         list one file per line`

// Formats.
const (
	single = iota
	long
	columns
	across
	commas
)

// Indicator styles.
const (
	noIndicator = iota
	slash
	fileType
	classify
)

// lister is one run.
type lister struct {
	c   *applet.Ctx
	out []byte

	all, almost, noBackups, directory, recursive bool
	hide, ignore                                 []string
	format, indicator                            int
	noOwner, noGroup, numeric, author            bool
	human                                        int64 // base of sizes, 0 for plain
	inode, blocks                                bool
	deref                                        int
	by                                           byte // sort: n name, S, t, v, X, w, U
	time                                         byte // m, a, c
	reverse, dirsFirst                           bool
	timeStyle                                    string
	quoting                                      quoting
	questions                                    bool // -q
	width                                        int
	eol                                          byte
	color                                        bool
	colored                                      bool // an escape has been written
	status                                       int
	printed                                      bool // something stands before
	least                                        widths
}

// What symlinks on the command line are followed.
const (
	derefDirs = iota
	derefNever
	derefArgs
	derefAll
)

func run(c *applet.Ctx) int {
	l := &lister{c: c, by: 0, time: 'm', timeStyle: "locale", eol: '\n', width: 80, deref: -1}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w > 0 {
		l.width = w
	}
	l.format = -1
	switch c.Cmd.Name {
	case "dir":
		l.format, l.quoting = columns, escape
	case "vdir":
		l.format, l.quoting = long, escape
	}
	var opts []applet.Opt
	if slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "-") }) {
		opts = l.options() // to make them costs more than a plain ls
	}
	names, status, ok := c.Parse(2, opts...)
	if !ok {
		return status
	}
	if l.format < 0 {
		l.format = single
	}
	if l.by == 0 {
		l.by = 'n'
		if l.time != 'm' && l.format != long {
			l.by = 't'
		}
	}
	if l.deref < 0 {
		l.deref = derefDirs
		if l.directory || l.indicator == classify || l.format == long {
			l.deref = derefNever
		}
	}
	l.color = l.color && colorTerm()
	l.list(names)
	l.flush()
	return l.status
}

// colorTerm tells whether the terminal is said to have colours, without which
// there are none even when they are asked for.
func colorTerm() bool {
	term := os.Getenv("TERM")
	return os.Getenv("LS_COLORS") != "" || os.Getenv("COLORTERM") != "" || term != "" && term != "dumb"
}

func (l *lister) flush() bool {
	_, err := l.c.Stdout.Write(l.out)
	l.out = l.out[:0]
	return err == nil
}

func (l *lister) options() []applet.Opt {
	set := func(p *int, v int, short rune, long string) applet.Opt {
		return applet.Do(func() { *p = v }, short, long)
	}
	sortBy := func(v byte, short rune) applet.Opt { return applet.Do(func() { l.by = v }, short, "") }
	word := func(long string, f func(i int), groups ...[]string) applet.Opt {
		return applet.Func(func(v string) error {
			i, err := applet.Choose("--"+long, v, groups...)
			if err == nil {
				f(i)
			}
			return err
		}, 0, long)
	}
	when := func(long string, short rune, f func(on bool)) applet.Opt {
		return applet.Optional(func(v string, given bool) error {
			if !given {
				f(true)
				return nil
			}
			i, err := applet.Choose("--"+long, v, []string{"always", "yes", "force"}, []string{"never", "no", "none"}, []string{"auto", "tty", "if-tty"})
			f(i == 0) // there is no terminal
			return err
		}, short, long)
	}
	var ignored bool
	return []applet.Opt{
		applet.Bool(&l.all, 'a', "all"),
		applet.Do(func() { l.almost, l.all = true, false }, 'A', "almost-all"),
		applet.Bool(&l.author, 0, "author"),
		applet.Do(func() { l.quoting = escape }, 'b', "escape"),
		applet.Bool(&l.noBackups, 'B', "ignore-backups"),
		applet.Do(func() { l.time = 'c' }, 'c', ""),
		set(&l.format, columns, 'C', ""),
		when("color", 0, func(on bool) { l.color = on }),
		applet.Bool(&l.directory, 'd', "directory"),
		applet.Do(func() {
			l.all, l.by, l.color, l.blocks = true, 'U', false, false
			if l.format == long {
				l.format = -1
			}
		}, 'f', ""),
		applet.Do(func() { l.indicator = classify }, 'F', ""),
		when("classify", 0, func(on bool) {
			if on {
				l.indicator = classify
			}
		}),
		set(&l.indicator, fileType, 0, "file-type"),
		word("format", func(i int) { l.format = []int{across, commas, long, long, single, columns}[i] },
			[]string{"across", "horizontal"}, []string{"commas"}, []string{"long"}, []string{"verbose"}, []string{"single-column"}, []string{"vertical"}),
		applet.Do(func() { l.format, l.timeStyle = long, "full-iso" }, 0, "full-time"),
		applet.Do(func() { l.format, l.noOwner = long, true }, 'g', ""),
		applet.Bool(&l.dirsFirst, 0, "group-directories-first"),
		applet.Bool(&l.noGroup, 'G', "no-group"),
		applet.Do(func() { l.human = 1024 }, 'h', "human-readable"),
		applet.Do(func() { l.human = 1000 }, 0, "si"),
		set(&l.deref, derefArgs, 'H', "dereference-command-line"),
		set(&l.deref, derefDirs, 0, "dereference-command-line-symlink-to-dir"),
		applet.Func(func(v string) error { l.hide = append(l.hide, v); return nil }, 0, "hide"),
		word("indicator-style", func(i int) { l.indicator = i }, []string{"none"}, []string{"slash"}, []string{"file-type"}, []string{"classify"}),
		applet.Bool(&l.inode, 'i', "inode"),
		applet.Func(func(v string) error { l.ignore = append(l.ignore, v); return nil }, 'I', "ignore"),
		applet.Bool(&ignored, 'k', "kibibytes"),
		set(&l.format, long, 'l', ""),
		set(&l.deref, derefAll, 'L', "dereference"),
		set(&l.format, commas, 'm', ""),
		applet.Do(func() { l.format, l.numeric = long, true }, 'n', "numeric-uid-gid"),
		applet.Do(func() { l.quoting = literal }, 'N', "literal"),
		applet.Do(func() { l.format, l.noGroup = long, true }, 'o', ""),
		set(&l.indicator, slash, 'p', ""),
		applet.Bool(&l.questions, 'q', "hide-control-chars"),
		applet.Do(func() { l.quoting = cStyle }, 'Q', "quote-name"),
		word("quoting-style", func(i int) { l.quoting = quoting(i) }, []string{"literal"}, []string{"shell"}, []string{"shell-always"},
			[]string{"shell-escape"}, []string{"shell-escape-always"}, []string{"c"}, []string{"escape"}, []string{"locale"}, []string{"clocale"}),
		applet.Bool(&l.reverse, 'r', "reverse"),
		applet.Bool(&l.recursive, 'R', "recursive"),
		applet.Bool(&l.blocks, 's', "size"),
		sortBy('S', 'S'), sortBy('t', 't'), sortBy('U', 'U'), sortBy('v', 'v'), sortBy('X', 'X'),
		applet.Do(func() { l.questions = false }, 0, "show-control-chars"),
		word("sort", func(i int) { l.by = "UtSXvw"[i] }, []string{"none"}, []string{"time"}, []string{"size"}, []string{"extension"}, []string{"version"}, []string{"width"}),
		word("time", func(i int) { l.time = "acm"[i] }, []string{"atime", "access", "use"}, []string{"ctime", "status"},
			[]string{"birth", "creation"}),
		applet.Func(l.setTimeStyle, 0, "time-style"),
		applet.Func(func(v string) error {
			if _, err := applet.ParseSize(v, ""); err != nil {
				return errors.New("invalid tab size: " + applet.Curly(v))
			}
			return nil
		}, 'T', "tabsize"),
		applet.Do(func() { l.time = 'a' }, 'u', ""),
		applet.Func(func(v string) error {
			n, err := applet.ParseSize(v, "")
			if err != nil && err != applet.ErrOverflow {
				return errors.New("invalid line width: " + applet.Curly(v))
			}
			if l.width = int(min(n, 1<<30)); n == 0 {
				l.width = 1 << 30
			}
			return nil
		}, 'w', "width"),
		set(&l.format, across, 'x', ""),
		applet.Do(func() {
			l.eol, l.color, l.quoting = 0, false, literal
			if l.format != long {
				l.format = single
			}
		}, 0, "zero"),
		applet.Do(func() {
			if l.format != long {
				l.format = single
			}
		}, '1', ""),
	}
}

func (l *lister) setTimeStyle(v string) error {
	v = strings.TrimPrefix(v, "posix-")
	if strings.HasPrefix(v, "+") {
		l.timeStyle = v
		return nil
	}
	styles := []string{"full-iso", "long-iso", "iso", "locale"}
	for _, s := range styles {
		if s == v || v != "" && strings.HasPrefix(s, v) {
			l.timeStyle = s
			return nil
		}
	}
	return applet.UsageError("invalid argument " + applet.Curly(v) + " for " + applet.Curly("time style") + `
Valid arguments are:
  - [posix-]full-iso
  - [posix-]long-iso
  - [posix-]iso
  - [posix-]locale
  - +FORMAT (e.g., +%H:%M) for a 'date'-style format`)
}
