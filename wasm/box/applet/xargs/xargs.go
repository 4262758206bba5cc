// Package xargs is xargs, as GNU findutils 4.9 has it. Its children run
// through the sandbox; -p, -o and --show-limits, which need a terminal or a
// system's limits, are refused.
package xargs

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is xargs.
var Command = &applet.Command{
	Name:     "xargs",
	Synopsis: "[OPTION]... COMMAND [INITIAL-ARGS]...",
	Summary:  "run a command with arguments from standard input",
	Help: `  -0, --null              items end in a 0 byte; nothing is special
  -a, --arg-file=FILE     read items from FILE
  -d, --delimiter=CHAR    items end in CHAR; nothing is special
  -E, -e, --eof[=END]     stop at the item END
  -I R, -i[R], --replace[=R]  replace R in the initial arguments, one line at a time
  -L, -l, --max-lines[=N] use at most N lines for each command
  -n, --max-args=N        use at most N items for each command
  -P, --max-procs=N       run up to N commands at once; 0: as many as there are
  -r, --no-run-if-empty   run nothing when there are no items
  -s, --max-chars=N       limit the length of a command line
  -t, --verbose           print commands before they run
  -x, --exit              exit when a command line is too long
`,
	Run: run,
}

// The limits of a command line, as on Linux; a line is at most this long.
const (
	defaultChars = 128 << 10
	maxChars     = 2 << 20
	maxParallel  = 64
)

type job struct {
	c *applet.Ctx

	null     bool
	delim    int // -1: white space, quotes and backslashes
	eofStr   string
	replace  string // "": no -I
	lines    int
	args     int
	procs    int
	noEmpty  bool
	chars    int
	verbose  bool
	exit     bool
	childIn  *os.File
	initial  []string
	in       *bufio.Reader
	running  int
	status   int
	stop     bool
	lineNo   int
	fatal    int
	badInput bool // the input ended in an open quote
	readDone bool
}

func run(c *applet.Ctx) int {
	j := &job{c: c, delim: -1, procs: 1, chars: defaultChars}
	file, refused := "", ""
	var bad error
	number := func(p *int, name string, least int) func(string) error {
		return func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				bad = applet.UsageError("invalid number \"" + v + "\" for -" + name + " option")
				return bad
			}
			if n < least {
				bad = applet.UsageError("value " + v + " for -" + name + " option should be >= " + strconv.Itoa(least))
				return bad
			}
			*p = n
			return nil
		}
	}
	orDefault := func(f func(string) error, def string) func(string, bool) error {
		return func(v string, given bool) error {
			if !given {
				v = def
			}
			return f(v)
		}
	}
	setLines := func(v string) error {
		j.exclude("-L", &j.args, &j.replace, nil)
		return number(&j.lines, "L", 1)(v)
	}
	setReplace := func(v string) error {
		j.exclude("--replace/-I/-i", &j.args, nil, &j.lines)
		j.replace = v
		return nil
	}
	setEOF := func(v string) error { j.eofStr = v; return nil }
	command, status, ok := c.Parse(1,
		applet.StopAtOperand(),
		applet.Do(func() { j.null, j.delim = true, 0 }, '0', "null"),
		applet.String(&file, 'a', "arg-file"),
		applet.Func(func(v string) error {
			d, err := delimiter(v)
			j.delim = d
			return err
		}, 'd', "delimiter"),
		applet.Func(setEOF, 'E', ""),
		applet.Optional(orDefault(setEOF, ""), 'e', "eof"),
		applet.Func(setReplace, 'I', ""),
		applet.Optional(orDefault(setReplace, "{}"), 'i', "replace"),
		applet.Func(setLines, 'L', ""),
		applet.Optional(orDefault(setLines, "1"), 'l', "max-lines"),
		applet.Func(func(v string) error {
			err := number(&j.args, "n", 1)(v)
			if j.args == 1 && j.replace != "" { // as GNU xargs: -I implies it
				j.args = 0
				return err
			}
			j.exclude("--max-args/-n", nil, &j.replace, &j.lines)
			return err
		}, 'n', "max-args"),
		applet.Func(number(&j.procs, "P", 0), 'P', "max-procs"),
		applet.Bool(&j.noEmpty, 'r', "no-run-if-empty"),
		applet.Func(number(&j.chars, "s", 1), 's', "max-chars"),
		applet.Bool(&j.verbose, 't', "verbose"),
		applet.Bool(&j.exit, 'x', "exit"),
		applet.Do(func() { refused = "--interactive asks at a terminal, and there is none" }, 'p', "interactive"),
		applet.Do(func() { refused = "--open-tty needs a terminal, and there is none" }, 'o', "open-tty"),
		applet.Do(func() { refused = "--show-limits is not supported" }, 0, "show-limits"),
		applet.Func(func(string) error { refused = "--process-slot-var is not supported"; return nil }, 0, "process-slot-var"),
	)
	if !ok {
		return status
	}
	if refused != "" {
		c.Warn(refused)
		return 1
	}
	if j.chars > maxChars {
		j.chars = maxChars
	}
	if j.procs == 0 || j.procs > maxParallel {
		j.procs = maxParallel
	}
	if len(command) == 0 {
		command = []string{"echo"}
	}
	j.initial = command
	input := c.Stdin
	if file != "" && file != "-" {
		f, err := os.Open(file)
		if err != nil {
			c.Warn("Cannot open input file ", "‘"+file+"’: ", applet.Reason(err))
			return 1
		}
		defer f.Close()
		input = f
		j.childIn = os.Stdin // with -a, standard input is the children's
	}
	j.in = bufio.NewReaderSize(input, 64<<10)
	return j.run()
}

// exclude drops the options that opt takes the place of, and says so.
func (j *job) exclude(opt string, args *int, replace *string, lines *int) {
	say := func(old string) {
		j.c.Warn("warning: options ", old, " and ", opt, " are mutually exclusive, ignoring previous ", old, " value")
	}
	if args != nil && *args > 0 {
		say("--max-args")
		*args = 0
	}
	if replace != nil && *replace != "" {
		say("--replace")
		*replace = ""
	}
	if lines != nil && *lines > 0 {
		say("--max-lines")
		*lines = 0
	}
}

// delimiter reads the argument of -d.
func delimiter(v string) (int, error) {
	if len(v) == 1 {
		return int(v[0]), nil
	}
	if len(v) > 1 && v[0] == '\\' {
		if k := strings.IndexByte(`abfnrtv\0`, v[1]); k >= 0 && len(v) == 2 {
			return int("\a\b\f\n\r\t\v\\\x00"[k]), nil
		}
		base, digits := 8, v[1:]
		if v[1] == 'x' {
			base, digits = 16, v[2:]
		}
		if n, err := strconv.ParseUint(digits, base, 8); err == nil {
			return int(n), nil
		}
	}
	return 0, errors.New("Invalid input delimiter specification " + v + ": the delimiter must be either a single character or an escape sequence starting with \\.")
}

func (j *job) run() int {
	base := 0
	for _, a := range j.initial {
		base += len(a) + 1
	}
	if base > j.chars {
		j.c.Warn("argument list too long")
		return 1
	}
	var items []string
	size, lines, ran := base, 0, false
	flush := func() {
		if len(items) > 0 || !ran && !j.noEmpty && j.replace == "" {
			j.start(append(append([]string(nil), j.initial...), items...))
			ran = true
		}
		items, size, lines = nil, base, 0
	}
	for !j.stop {
		item, lineEnd, ok := j.next()
		if !ok {
			break
		}
		if j.replace != "" {
			j.one(item)
			continue
		}
		if size+len(item)+1 > j.chars {
			if len(items) == 0 {
				j.c.Warn("argument line too long")
				j.fatal = 1
				break
			}
			if j.exit && (j.args > 0 || j.lines > 0) || j.lines > 0 {
				j.c.Warn("argument list too long")
				j.fatal = 1
				break
			}
			flush()
			if base+len(item)+1 > j.chars {
				j.c.Warn("argument line too long")
				j.fatal = 1
				break
			}
		}
		items = append(items, item)
		size += len(item) + 1
		if lineEnd {
			lines++
		}
		if j.args > 0 && len(items) >= j.args || j.lines > 0 && lines >= j.lines {
			flush()
		}
	}
	switch {
	case j.stop:
	case j.badInput && len(items) > 0, j.fatal == 0 && (len(items) > 0 || !ran):
		flush() // also what came before a quote that never ends
	}
	for j.running > 0 {
		j.reap()
	}
	if j.fatal != 0 {
		return j.fatal
	}
	return j.status
}

// one runs the command with the item in place of the replace string.
func (j *job) one(item string) {
	args := make([]string, len(j.initial))
	size := 0
	for i, a := range j.initial {
		args[i] = a
		if i > 0 {
			args[i] = strings.ReplaceAll(a, j.replace, item)
		}
		size += len(args[i]) + 1
	}
	if size > j.chars {
		j.c.Warn("argument list too long")
		j.fatal, j.stop = 1, true
		return
	}
	j.start(args)
}

func (j *job) start(args []string) {
	if j.verbose {
		quoted := make([]string, len(args))
		for i, a := range args {
			quoted[i] = shellQuote(a)
		}
		j.c.Flush()
		io.WriteString(j.c.Stderr, strings.Join(quoted, " ")+"\n")
	}
	for j.running >= j.procs {
		j.reap()
		if j.stop {
			return
		}
	}
	if j.c.Procs == nil {
		j.c.Warn("cannot run ", applet.Quote(args[0]), ": not inside the sandbox")
		j.fatal, j.stop = 126, true
		return
	}
	j.c.Flush()
	_, err := j.c.Procs.Start(applet.Child{Args: args, Stdin: j.childIn})
	switch {
	case err == nil:
		j.running++
	case errors.Is(err, syscall.ENOENT):
		j.c.Warn(args[0], ": ", applet.Reason(err))
		j.fatal, j.stop = 127, true
	default:
		if !errors.Is(err, syscall.EACCES) { // a denial has already been explained
			j.c.Warn(args[0], ": ", applet.Reason(err))
		}
		j.fatal, j.stop = 126, true
	}
}

// reap waits for one child and notes its status.
func (j *job) reap() {
	_, status, err := j.c.Procs.Wait(-1, 0)
	j.running--
	name := j.initial[0]
	switch {
	case err != nil:
		j.c.Warn(name, ": ", applet.Reason(err))
		j.fatal, j.stop = 125, true
	case status == 255:
		j.c.Warn(name, ": exited with status 255; aborting")
		j.fatal, j.stop = 124, true
	case status > 128:
		j.c.Warn(name, ": terminated by signal ", strconv.Itoa(status-128))
		j.fatal, j.stop = 125, true
	case status != 0:
		j.status = 123
	}
}

// shellQuote quotes an argument as -t prints it.
func shellQuote(s string) string {
	if s == "" {
		return "''"
	}
	for _, r := range s {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./,:+@%=", r) || r > 127) {
			if strings.ContainsRune(s, '\'') && !strings.ContainsAny(s, "\"$`\\!") {
				return `"` + s + `"`
			}
			return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	return s
}
