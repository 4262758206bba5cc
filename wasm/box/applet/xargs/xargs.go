// Package xargs is the command xargs.
package xargs

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is the command xargs.
var Command = applet.Command{
	Name:     "xargs",
	Synopsis: "[OPTION]... [COMMAND [INITIAL-ARG]...]",
	Summary:  "run COMMAND with arguments that are read from standard input",
	Help: `  -0, --null                   items are separated by a null, not whitespace
  -a, --arg-file=FILE          read arguments from FILE, not standard input
  -d, --delimiter=CHARACTER    items are separated by CHARACTER; quotes are not special
  -E END                       set logical EOF string; if END occurs as a line of input, the rest is ignored
  -I R, -i[R], --replace[=R]   replace R (default {}) in INITIAL-ARGS with each input line
  -L, --max-lines=MAX-LINES    use at most MAX-LINES non-blank input lines per command line
  -l[MAX-LINES]                the same, 1 line unless given
  -n, --max-args=MAX-ARGS      use at most MAX-ARGS arguments per command line
  -P, --max-procs=MAX-PROCS    run at most MAX-PROCS processes at a time; 0: as many as possible
  -r, --no-run-if-empty        if there are no arguments, then do not run COMMAND
  -s, --max-chars=MAX-CHARS    limit length of command line to MAX-CHARS
  -t, --verbose                print commands before executing them
  -x, --exit                   exit if the size (see -s) is exceeded`,
	Run: run,
}

// Exit statuses that xargs gives for what happened to a command.
const (
	statusFailed  = 123 // a command ended with 1 to 125
	statusStop    = 124 // a command ended with 255
	statusKilled  = 125 // a command was killed
	statusDenied  = 126 // a command could not be run
	statusMissing = 127
)

// maxChars is the size of a command line unless -s says otherwise, as GNU
// xargs has it. maxProcs bounds -P 0.
const (
	maxChars = 128 << 10
	maxProcs = 32
)

type config struct {
	null     bool
	delim    string
	file     string
	eof      string
	replace  string // -I
	lines    int    // -L
	args     int    // -n
	procs    int    // -P
	chars    int    // -s
	noEmpty  bool   // -r
	verbose  bool   // -t
	exitSize bool   // -x
}

func run(c *applet.Ctx) int {
	f := config{procs: 1, chars: maxChars}
	command, status, ok := c.Parse(1, f.options(c)...)
	if !ok {
		return status
	}
	if len(command) == 0 {
		command = []string{"echo"}
	}
	delim, err := f.delimiter()
	if err != nil {
		c.Warn(err.Error())
		return 1
	}
	if f.file == "" {
		f.file = "-"
	}
	in, err := c.Open(f.file)
	if err != nil {
		c.Warn("Cannot open input file ", applet.Curly(f.file), ": ", applet.Reason(err))
		return 1
	}
	defer in.Close()
	r := &runner{c: c, config: f, command: command}
	if f.file != "-" {
		r.stdin = os.Stdin // the input is elsewhere: the commands may read it
	}
	items := newItems(c, in, delim, f.replace != "", f.eof)
	if f.replace != "" {
		r.each(items)
	} else {
		r.batches(items)
	}
	r.waitAll()
	if r.status == 0 && items.err != nil {
		c.Warn(items.err.Error())
		return 1
	}
	return r.status
}

func (f *config) options(c *applet.Ctx) []applet.Opt {
	number := func(name string, least int, p *int, also func()) func(string) error {
		return func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil {
				return errors.New("invalid number \"" + v + "\" for -" + name + " option")
			}
			if n < least {
				return errors.New("value " + v + " for -" + name + " option should be >= " + strconv.Itoa(least))
			}
			*p = n
			also()
			return nil
		}
	}
	// Of -I, -L and -n the last one wins, with a warning as GNU xargs gives it.
	const replaceName, linesName, argsName = "--replace", "--max-lines", "--max-args"
	drop := func(was bool, older, newer string) {
		if was {
			c.Warn("warning: options ", older, " and ", newer, " are mutually exclusive, ignoring previous ", older, " value")
		}
	}
	setReplace := func(v string) {
		drop(f.args > 0, argsName, "--replace/-I/-i")
		drop(f.lines > 0, linesName, "--replace/-I/-i")
		f.replace, f.lines, f.args = v, 0, 0
	}
	setLines := func() {
		drop(f.args > 0, argsName, "-L")
		drop(f.replace != "", replaceName, "-L")
		f.args, f.replace = 0, ""
	}
	setArgs := func() {
		if f.replace != "" && f.args == 1 {
			f.args = 0 // -n1 with -I means what -I does
			return
		}
		drop(f.replace != "", replaceName, "--max-args/-n")
		drop(f.lines > 0, linesName, "--max-args/-n")
		f.lines, f.replace = 0, ""
	}
	nothing := func() {}
	return []applet.Opt{
		applet.StopAtOperand(),
		applet.Bool(&f.null, '0', "null"),
		applet.String(&f.file, 'a', "arg-file"),
		applet.String(&f.delim, 'd', "delimiter"),
		applet.String(&f.eof, 'E', ""),
		applet.Optional(func(v string, _ bool) error { f.eof = v; return nil }, 'e', "eof"),
		applet.Func(func(v string) error { setReplace(v); return nil }, 'I', ""),
		applet.Optional(func(v string, given bool) error {
			if !given || v == "" {
				v = "{}"
			}
			setReplace(v)
			return nil
		}, 'i', "replace"),
		applet.Func(number("L", 1, &f.lines, setLines), 'L', "max-lines"),
		applet.Optional(func(v string, given bool) error {
			if !given {
				v = "1"
			}
			return number("l", 1, &f.lines, setLines)(v)
		}, 'l', ""),
		applet.Func(number("n", 1, &f.args, setArgs), 'n', "max-args"),
		applet.Func(number("P", 0, &f.procs, nothing), 'P', "max-procs"),
		applet.Func(number("s", 1, &f.chars, nothing), 's', "max-chars"),
		applet.Bool(&f.noEmpty, 'r', "no-run-if-empty"),
		applet.Bool(&f.verbose, 't', "verbose"),
		applet.Bool(&f.exitSize, 'x', "exit"),
		applet.Func(func(string) error { return errors.New("-p needs a terminal to ask on, and there is none") }, 'p', "interactive"),
	}
}

// delimiter returns the byte between items, or -1 for blanks and quotes.
func (f *config) delimiter() (int, error) {
	switch d := f.delim; {
	case f.null:
		return 0, nil
	case d == "":
		return -1, nil
	case len(d) == 1:
		return int(d[0]), nil
	case d[0] == '\\' && len(d) == 2 && strings.Contains(`0abfnrtv\`, d[1:]):
		return int("\x00\a\b\f\n\r\t\v\\"[strings.IndexByte(`0abfnrtv\`, d[1])]), nil
	case d[0] == '\\':
		base, digits := 8, d[1:]
		if strings.HasPrefix(digits, "x") {
			base, digits = 16, digits[1:]
		}
		if n, err := strconv.ParseUint(digits, base, 8); err == nil {
			return int(n), nil
		}
		return 0, errors.New("Invalid escape sequence " + d + " in input delimiter specification.")
	}
	return 0, errors.New("Invalid input delimiter specification " + f.delim +
		": the delimiter must be either a single character or an escape sequence starting with \\.")
}

// runner starts the commands.
type runner struct {
	c *applet.Ctx
	config
	command []string
	stdin   *os.File

	running map[int]string // pid to the command's name
	status  int
	over    bool // nothing more is started
}

// each runs the command once for each item, put in place of -I's string.
func (r *runner) each(items *items) {
	for !r.over && items.next() {
		args := make([]string, len(r.command))
		size := 0
		for i, a := range r.command {
			if i > 0 {
				a = strings.ReplaceAll(a, r.replace, items.item)
			}
			args[i] = a
			size += len(a) + 1
		}
		if size > r.chars {
			r.c.Warn("argument list too long")
			r.stop(1)
			return
		}
		r.start(args)
	}
}

// batches runs the command with as many items as fit.
func (r *runner) batches(items *items) {
	base := 0
	for _, a := range r.command {
		base += len(a) + 1
	}
	var args []string
	size, lines, started := base, 0, false
	flush := func() {
		started = true
		r.start(append(append([]string{}, r.command...), args...))
		args, size, lines = nil, base, 0
	}
	for !r.over && items.next() {
		n := len(items.item) + 1
		if base+n > r.chars {
			if len(args) > 0 {
				flush()
			}
			r.c.Warn("argument line too long")
			r.stop(1)
			return
		}
		if size+n > r.chars {
			if r.exitSize || r.lines > 0 {
				r.c.Warn("argument list too long")
				r.stop(1)
				return
			}
			flush()
		}
		args = append(args, items.item)
		size += n
		if items.lineEnd {
			lines++
		}
		if r.args > 0 && len(args) == r.args || r.lines > 0 && lines == r.lines {
			flush()
		}
	}
	if r.over || items.err != nil && len(args) == 0 {
		return
	}
	if len(args) > 0 || !started && !r.noEmpty && items.err == nil {
		flush()
	}
}

// stop ends the run with a status, unless a worse one is there.
func (r *runner) stop(status int) {
	r.over = true
	r.fail(status)
}

func (r *runner) fail(status int) { r.status = max(r.status, status) }

// start runs one command line, and waits while -P are running.
func (r *runner) start(args []string) {
	if r.over {
		return
	}
	c := r.c
	if r.verbose {
		var b strings.Builder
		for i, a := range args {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(applet.Name(a))
		}
		b.WriteByte('\n')
		c.Stderr.Write([]byte(b.String()))
	}
	c.Flush()
	limit := r.procs
	if limit == 0 || limit > maxProcs {
		limit = maxProcs
	}
	for len(r.running) >= limit && !r.over {
		r.waitOne()
	}
	if r.over {
		return
	}
	if c.Procs == nil {
		c.Warn("cannot run ", args[0], ": not inside the sandbox")
		r.stop(statusDenied)
		return
	}
	pid, err := c.Procs.Start(applet.Child{Args: args, Stdin: r.stdin})
	switch err {
	case nil:
		if r.running == nil {
			r.running = map[int]string{}
		}
		r.running[pid] = args[0]
		if limit == 1 {
			r.waitOne()
		}
	case syscall.ENOENT:
		c.Warn(args[0], ": ", applet.Reason(err))
		r.stop(statusMissing)
	case syscall.EACCES: // the reason of a denial is on Stderr already
		r.stop(statusDenied)
	default:
		c.Warn(args[0], ": ", applet.Reason(err))
		r.stop(statusDenied)
	}
}

func (r *runner) waitOne() {
	pid, status, err := r.c.Procs.Wait(-1, 0)
	if err != nil {
		r.running = nil
		r.c.Warn("wait: ", applet.Reason(err))
		r.stop(1)
		return
	}
	name := r.running[pid]
	delete(r.running, pid)
	r.ended(name, status)
}

func (r *runner) waitAll() {
	for len(r.running) > 0 {
		r.waitOne()
	}
}

// ended notes the end of a command.
func (r *runner) ended(name string, status int) {
	switch {
	case status == 0:
	case status == 255:
		r.c.Warn(name, ": exited with status 255; aborting")
		r.stop(statusStop)
	case status == statusDenied || status == statusMissing:
		r.stop(status)
	case status > 128:
		r.c.Warn(name, ": terminated by signal ", strconv.Itoa(status-128))
		r.stop(statusKilled)
	default:
		r.fail(statusFailed)
	}
}
