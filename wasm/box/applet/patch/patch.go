// Package patch is the command patch: it applies what diff found, as GNU patch
// does. There is nobody to ask inside the sandbox, so that questions are
// answered as GNU patch answers them without a terminal.
package patch

import (
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is patch.
var Command = applet.Command{
	Name:     "patch",
	Synopsis: "[OPTION]... [ORIGFILE [PATCHFILE]]",
	Summary:  "apply a diff file to an original",
	Help: `  -p NUM, --strip=NUM       strip NUM leading components from file names
  -F LINES, --fuzz LINES    set the fuzz factor to LINES for inexact matching
  -l, --ignore-whitespace   ignore white space changes between patch and input
  -c, --context             interpret the patch as a context difference
  -n, --normal              interpret the patch as a normal difference
  -u, --unified             interpret the patch as a unified difference
  -N, --forward             ignore patches that appear to be reversed or already applied
  -R, --reverse             assume patches were created with old and new files swapped
  -i PATCHFILE, --input=PATCHFILE  read patch from PATCHFILE instead of stdin
  -o FILE, --output=FILE    output patched files to FILE
  -r FILE, --reject-file=FILE  output rejects to FILE; - drops them
  -E, --remove-empty-files  remove output files that are empty after patching
  -t, --batch               ask no questions; skip bad patches; assume reversed
  -f, --force               like -t, but ignore bad patches, and assume unreversed
  -s, --quiet, --silent     work silently unless an error occurs
      --verbose             accepted
      --binary              keep the CRs of the patch
      --dry-run             do not change any files; just print what would happen
  -d DIR, --directory=DIR   change the working directory to DIR first
  -b, --backup              back up the original contents of each file
      --backup-if-mismatch  back up if the patch does not match exactly (the default)
      --no-backup-if-mismatch  back up mismatches only if otherwise requested
  -B PREFIX, --prefix=PREFIX  prepend PREFIX to backup file names
  -z SUFFIX, --suffix=SUFFIX  append SUFFIX to backup file names`,
	Run: run,
}

// A patcher is one run of the command.
type patcher struct {
	*applet.Ctx
	strip                          int // -1: the last component
	fuzz                           int
	blanks, forward, reverse       bool
	removeEmpty, batch, force      bool
	silent, dryRun, binary, backup bool
	mismatch                       bool // back up what does not match exactly
	kind, input, output, rejects   string
	prefix, suffix, dir            string
	original                       string
	failed                         bool
	outText                        []byte
	dangerous                      string // the name that was last told to be so
}

func run(c *applet.Ctx) int {
	p := &patcher{Ctx: c, strip: -1, fuzz: 2, mismatch: true, suffix: ".orig"}
	var verbose bool
	number := func(what string, n *int) func(string) error {
		return func(v string) error {
			d, err := strconv.Atoi(v)
			if err != nil || d < 0 {
				return errors.New("**** " + what + " " + v + " is not a number")
			}
			*n = d
			return nil
		}
	}
	as := func(kind string) func() { return func() { p.kind = kind } }
	operands, status, ok := c.Parse(2,
		applet.Func(number("strip count", &p.strip), 'p', "strip"),
		applet.Func(number("fuzz factor", &p.fuzz), 'F', "fuzz"),
		applet.Bool(&p.blanks, 'l', "ignore-whitespace"),
		applet.Do(as("context"), 'c', "context"),
		applet.Do(as("normal"), 'n', "normal"),
		applet.Do(as("unified"), 'u', "unified"),
		applet.Bool(&p.forward, 'N', "forward"),
		applet.Bool(&p.reverse, 'R', "reverse"),
		applet.String(&p.input, 'i', "input"),
		applet.String(&p.output, 'o', "output"),
		applet.String(&p.rejects, 'r', "reject-file"),
		applet.Bool(&p.removeEmpty, 'E', "remove-empty-files"),
		applet.Bool(&p.batch, 't', "batch"),
		applet.Bool(&p.force, 'f', "force"),
		applet.Bool(&p.silent, 's', "quiet"),
		applet.Bool(&p.silent, 0, "silent"),
		applet.Bool(&verbose, 0, "verbose"),
		applet.Bool(&p.binary, 0, "binary"),
		applet.Bool(&p.dryRun, 0, "dry-run"),
		applet.String(&p.dir, 'd', "directory"),
		applet.Bool(&p.backup, 'b', "backup"),
		applet.Do(func() { p.mismatch = true }, 0, "backup-if-mismatch"),
		applet.Do(func() { p.mismatch = false }, 0, "no-backup-if-mismatch"),
		applet.Func(func(v string) error { p.prefix, p.suffix = v, ""; return nil }, 'B', "prefix"),
		applet.String(&p.suffix, 'z', "suffix"),
	)
	if !ok {
		return status
	}
	if len(operands) > 2 {
		c.Warn(operands[2] + ": extra operand")
		io.WriteString(c.Stderr, "patch: Try 'patch --help' for more information.\n")
		return 2
	}
	if len(operands) > 0 {
		p.original = operands[0]
	}
	if len(operands) > 1 && p.input == "" {
		p.input = operands[1]
	}
	if p.dir != "" {
		if err := os.Chdir(p.dir); err != nil {
			return p.fatal("Can't change to directory " + p.dir + " : " + applet.Reason(err))
		}
	}
	in := io.Reader(c.Stdin)
	if p.input != "" && p.input != "-" {
		f, err := os.Open(p.input)
		if err != nil {
			return p.fatal("Can't open patch file " + p.input + " : " + applet.Reason(err))
		}
		defer f.Close()
		in = f
	}
	r, err := newReader(in)
	if err != nil {
		return p.fatal("read error : " + applet.Reason(err))
	}
	return p.all(r)
}

func (p *patcher) fatal(why string) int {
	p.Flush()
	io.WriteString(p.Stderr, "patch: **** "+why+"\n")
	return 2
}

// say tells what goes on, unless it should not.
func (p *patcher) say(parts ...string) {
	if !p.silent {
		p.ask(parts...)
	}
}

// ask tells what a person must know also with -s.
func (p *patcher) ask(parts ...string) {
	for _, s := range parts {
		io.WriteString(p.Stdout, s)
	}
}

// all applies every change of the patch.
func (p *patcher) all(r *reader) int {
	for n := 0; ; n++ {
		c, err := r.next(p.kind)
		var bad *malformed
		if c != nil {
			if !p.binary && c.stripCR {
				p.say("(Stripping trailing CRs from patch; use --binary to disable.)\n")
			}
			if p.reverse {
				c.reverse()
			}
			if status := p.file(c, err); status != 0 {
				return status
			}
		}
		switch {
		case errors.As(err, &bad):
			return p.fatal(bad.Error())
		case c != nil:
			continue
		case n == 0 && len(r.lines) > 0:
			return p.fatal("Only garbage was found in the patch input.")
		}
		break
	}
	if p.output != "" && p.output != "-" && !p.dryRun && p.outText != nil {
		if err := os.WriteFile(p.output, p.outText, 0o666); err != nil {
			return p.fatal("Can't create file " + p.output + " : " + applet.Reason(err))
		}
	}
	return applet.Status(!p.failed)
}
