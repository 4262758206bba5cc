// Package sed is sed, as GNU sed 4.9 has it.
//
// The e command, the e flag of s and the files of w run and open through the
// sandbox like any other command's. --debug is refused.
package sed

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is sed.
var Command = &applet.Command{
	Name:     "sed",
	Synopsis: "[OPTION]... {SCRIPT} [FILE]...",
	Summary:  "edit a stream line by line",
	Help: `  -n, --quiet, --silent   do not print the pattern space at the end of each cycle
  -e, --expression=SCRIPT add SCRIPT to the commands
  -f, --file=FILE         add the commands in FILE
  -E, -r, --regexp-extended  extended regular expressions
  -i[SUFFIX], --in-place[=SUFFIX]  edit files in place; keep a copy when there is a SUFFIX
      --follow-symlinks   with -i, edit what a link points to
  -l, --line-length=N     wrap the output of l at N
  -s, --separate          files are separate streams
  -u, --unbuffered        flush after each line
  -z, --null-data         lines end in a 0 byte
      --posix             no GNU extensions of regular expressions
      --sandbox           refuse the commands e, r and w
`,
	Run: run,
}

type options struct {
	quiet, extended, inPlace, follow, separate bool
	unbuffered, null, posix, sandbox           bool
	suffix                                     string
	lineLen                                    int
	chunks                                     []chunk
}

// Statuses of GNU sed.
const (
	badUsage = 1
	badInput = 2
	panicked = 4
)

func run(c *applet.Ctx) int {
	o := options{lineLen: 70}
	var bad error
	operands, status, ok := c.Parse(badUsage,
		applet.Bool(&o.quiet, 'n', "quiet"),
		applet.Bool(&o.quiet, 0, "silent"),
		applet.Func(func(v string) error { o.chunks = append(o.chunks, chunk{text: v}); return nil }, 'e', "expression"),
		applet.Func(func(v string) error {
			data, err := readScript(c, v)
			if err != nil && bad == nil {
				bad = err
			}
			o.chunks = append(o.chunks, chunk{text: data, file: v})
			return nil
		}, 'f', "file"),
		applet.Bool(&o.extended, 'E', "regexp-extended"),
		applet.Bool(&o.extended, 'r', ""),
		applet.Optional(func(v string, _ bool) error { o.inPlace, o.separate, o.suffix = true, true, v; return nil }, 'i', "in-place"),
		applet.Bool(&o.follow, 0, "follow-symlinks"),
		applet.Func(func(v string) error {
			n, err := strconv.ParseUint(v, 10, 31)
			if err != nil {
				return errors.New("invalid line length '" + v + "'")
			}
			o.lineLen = int(n)
			return nil
		}, 'l', "line-length"),
		applet.Bool(&o.separate, 's', "separate"),
		applet.Bool(&o.unbuffered, 'u', "unbuffered"),
		applet.Bool(&o.null, 'z', "null-data"),
		applet.Do(func() {}, 'b', "binary"),
		applet.Bool(&o.posix, 0, "posix"),
		applet.Bool(&o.sandbox, 0, "sandbox"),
		applet.Do(func() { bad = errors.New("--debug is not supported") }, 0, "debug"),
	)
	if !ok {
		return status
	}
	if bad != nil {
		c.Warn(bad.Error())
		return panicked
	}
	if len(o.chunks) == 0 {
		if len(operands) == 0 {
			io.WriteString(c.Stderr, "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n")
			return c.Usage()
		}
		o.chunks = []chunk{{text: operands[0]}}
		operands = operands[1:]
	}
	e := &editor{c: c, o: &o, sep: '\n', quiet: o.quiet, files: map[string]*output{}}
	if o.null {
		e.sep = 0
	}
	e.stdout = &output{w: c.Stdout, sep: e.sep}
	e.out = e.stdout
	defer e.close()
	p := parser{o: &o, e: e, chunks: o.chunks}
	if err := p.program(); err != nil {
		c.Warn(err.Error())
		var pe *panicError
		if errors.As(err, &pe) {
			return panicked
		}
		return badUsage
	}
	e.prog = p.cmds
	e.quiet = e.quiet || p.quiet
	if len(operands) == 0 {
		operands = []string{"-"}
	}
	e.in = &input{e: e, names: operands}
	return e.run()
}

func readScript(c *applet.Ctx, name string) (string, error) {
	var data []byte
	var err error
	if name == "-" || name == "/dev/stdin" {
		data, err = io.ReadAll(c.Stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return "", errors.New("couldn't open file " + name + ": " + applet.Reason(err))
	}
	return strings.TrimSuffix(string(data), "\n"), nil
}

// panicError is an error with which GNU sed gives up: status 4.
type panicError struct{ msg string }

func (p *panicError) Error() string { return p.msg }
