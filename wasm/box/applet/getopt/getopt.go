// Package getopt is the command getopt, which brings the options of a script
// into order.
package getopt

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is getopt.
var Command = applet.Command{
	Name:     "getopt",
	Synopsis: "OPTSTRING PARAMETERS... | [OPTION]... [--] [OPTSTRING] PARAMETERS...",
	Summary:  "parse command options",
	Help: `  -a, --alternative             allow long options starting with single -
  -l, --longoptions LONGOPTS    the long options to be recognized
  -n, --name PROGNAME           the name under which errors are reported
  -o, --options OPTSTRING       the short options to be recognized
  -q, --quiet                   disable error reporting
  -Q, --quiet-output            no normal output
  -s, --shell SHELL             set quoting conventions to those of SHELL
  -T, --test                    test for this version: the status is 4
  -u, --unquoted                do not quote the output`,
	Run: run,
}

const (
	failedParse = 1 // of the parameters
	failedUse   = 2 // of getopt itself
	enhanced    = 4 // of --test
)

// argument tells whether an option takes one.
type argument uint8

const (
	none argument = iota
	needed
	optional
)

type long struct {
	name string
	arg  argument
}

type parser struct {
	c                   *applet.Ctx
	name                string // in complaints
	short               string
	long                []long
	alternative         bool // -long is --long
	quiet, quietOutput  bool
	unquoted, csh       bool
	inPlace, atOperands bool // operands stay where they are; or end the options
	out, operands       []string
	failed              bool
}

func run(c *applet.Ctx) int {
	p := &parser{c: c}
	given, test := false, false
	params := c.Args
	compatible := os.Getenv("GETOPT_COMPATIBLE") != ""
	if compatible || len(params) == 0 || !strings.HasPrefix(params[0], "-") {
		p.unquoted = true
	} else {
		var status int
		var ok bool
		params, status, ok = c.Parse(failedUse,
			applet.StopAtOperand(),
			applet.Bool(&p.alternative, 'a', "alternative"),
			applet.Func(p.addLong, 'l', "longoptions"),
			applet.String(&p.name, 'n', "name"),
			applet.Func(func(v string) error { p.short, given = v, true; return nil }, 'o', "options"),
			applet.Bool(&p.quiet, 'q', "quiet"),
			applet.Bool(&p.quietOutput, 'Q', "quiet-output"),
			applet.Func(p.setShell, 's', "shell"),
			applet.Bool(&test, 'T', "test"),
			applet.Bool(&p.unquoted, 'u', "unquoted"),
		)
		if !ok {
			return status
		}
	}
	if test {
		return enhanced
	}
	if !given {
		if len(params) == 0 {
			c.Usage("missing optstring argument")
			return failedUse
		}
		p.short, params = strings.TrimLeft(params[0], "-+"), params[1:]
		if compatible && len(params) > 0 && params[0] == "--" {
			params = params[1:]
		}
	}
	if p.name == "" {
		p.name = c.Cmd.Name
	}
	switch {
	case strings.HasPrefix(p.short, "-"):
		p.inPlace, p.short = true, p.short[1:]
	case strings.HasPrefix(p.short, "+"), os.Getenv("POSIXLY_CORRECT") != "":
		p.atOperands, p.short = true, strings.TrimPrefix(p.short, "+")
	}
	p.parse(params)
	if !p.quietOutput {
		line := strings.Join(append(append(p.out, "--"), p.operands...), " ")
		io.WriteString(c.Stdout, " "+line+"\n")
	}
	if p.failed {
		return failedParse
	}
	return 0
}

func (p *parser) addLong(v string) error {
	for _, name := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(", \t\n", r) }) {
		bare := strings.TrimSuffix(strings.TrimSuffix(name, ":"), ":")
		if bare == "" {
			return applet.UsageError("empty long option after -l or --long argument")
		}
		p.long = append(p.long, long{bare, argument(len(name) - len(bare))})
	}
	return nil
}

func (p *parser) setShell(v string) error {
	switch v {
	case "sh", "bash":
		p.csh = false
	case "csh", "tcsh":
		p.csh = true
	default:
		return applet.UsageError("unknown shell after -s or --shell argument")
	}
	return nil
}

// quote writes a word as a shell reads it back.
func (p *parser) quote(s string) string {
	if p.unquoted {
		return s
	}
	pairs := []string{"'", `'\''`}
	if p.csh {
		pairs = append(pairs, `\`, `\\`, "!", `'\!'`, "\n", `\n`)
	}
	return "'" + strings.NewReplacer(pairs...).Replace(s) + "'"
}

func (p *parser) parse(params []string) {
	for i := 0; i < len(params); i++ {
		a := params[i]
		next := func() (string, bool) {
			if i+1 >= len(params) {
				return "", false
			}
			i++
			return params[i], true
		}
		var err error
		switch {
		case a == "--":
			p.operand(params[i+1:]...)
			return
		case len(a) < 2 || a[0] != '-':
			if p.atOperands {
				p.operand(params[i:]...)
				return
			}
			if p.inPlace {
				p.out = append(p.out, p.quote(a))
			} else {
				p.operand(a)
			}
		case a[1] == '-':
			err = p.longOption(a, a[2:], next)
		case p.alternative && (len(a) > 2 || p.kind(a[1]) < 0) && (p.has(a[1:]) || p.kind(a[1]) < 0):
			err = p.longOption(a, a[1:], next)
		default:
			p.shorts(a[1:], next)
		}
		if err != nil {
			p.complain(err.Error())
		}
	}
}

func (p *parser) operand(words ...string) {
	for _, w := range words {
		p.operands = append(p.operands, p.quote(w))
	}
}

func (p *parser) complain(text string) {
	p.failed = true
	if !p.quiet && !strings.HasPrefix(p.short, ":") {
		io.WriteString(p.c.Stderr, p.name+": "+text+"\n")
	}
}

// has tells whether s, up to a =, begins a long option's name.
func (p *parser) has(s string) bool {
	name, _, _ := strings.Cut(s, "=")
	for _, l := range p.long {
		if strings.HasPrefix(l.name, name) {
			return true
		}
	}
	return false
}

func (p *parser) longOption(typed, s string, next func() (string, bool)) error {
	dashes := typed[:len(typed)-len(s)]
	name, value, attached := strings.Cut(s, "=")
	var found []long
	for _, l := range p.long {
		if l.name == name {
			found = []long{l}
			break
		}
		if strings.HasPrefix(l.name, name) {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return errors.New("unrecognized option '" + dashes + name + "'")
	}
	if len(found) > 1 {
		text := "option '" + typed + "' is ambiguous; possibilities:"
		for _, l := range found {
			text += " '" + dashes + l.name + "'"
		}
		return errors.New(text)
	}
	l := found[0]
	switch {
	case l.arg == none && attached:
		return errors.New("option '" + dashes + l.name + "' doesn't allow an argument")
	case l.arg == needed && !attached:
		if value, attached = next(); !attached {
			return errors.New("option '" + dashes + l.name + "' requires an argument")
		}
	}
	p.out = append(p.out, "--"+l.name)
	if l.arg != none {
		p.out = append(p.out, p.quote(value))
	}
	return nil
}

// kind tells what argument a short option takes; -1: there is no such option.
func (p *parser) kind(c byte) int {
	i := strings.IndexByte(p.short, c)
	if i < 0 || c == ':' {
		return -1
	}
	rest := p.short[i+1:]
	return min(2, len(rest)-len(strings.TrimLeft(rest, ":")))
}

func (p *parser) shorts(s string, next func() (string, bool)) {
	for s != "" {
		c := s[:1]
		s = s[1:]
		kind := p.kind(c[0])
		if kind < 0 {
			p.complain("invalid option -- '" + c + "'")
			continue
		}
		value := s
		if argument(kind) == needed && s == "" {
			var ok bool
			if value, ok = next(); !ok {
				p.complain("option requires an argument -- '" + c + "'")
				return
			}
		}
		p.out = append(p.out, "-"+c)
		if argument(kind) != none {
			p.out = append(p.out, p.quote(value))
			return
		}
	}
}
