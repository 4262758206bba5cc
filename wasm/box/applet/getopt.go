package applet

import (
	"io"
	"strings"
)

// An Opt is one option of a command, as getopt_long knows it.
type Opt struct {
	short    rune // 0: none
	long     string
	arg      argKind
	set      func(value string, given bool) error
	operands bool // not an option: stop at the first operand, as POSIXLY_CORRECT
}

type argKind uint8

const (
	noArg argKind = iota
	needArg
	optionalArg
)

// Bool is an option without argument that sets *p. Either name may be left
// out: 0 and "".
func Bool(p *bool, short rune, long string) Opt { return Do(func() { *p = true }, short, long) }

// Do is an option without argument that calls f. Options are applied in the
// order given, so of two that exclude each other the last wins.
func Do(f func(), short rune, long string) Opt {
	return Opt{short: short, long: long, set: func(string, bool) error { f(); return nil }}
}

// String is an option with an argument that is stored in *p.
func String(p *string, short rune, long string) Opt {
	return Func(func(v string) error { *p = v; return nil }, short, long)
}

// Func is an option with an argument that is passed to f. The text of an
// error of f is the whole complaint: "invalid number of lines: 'x'".
func Func(f func(value string) error, short rune, long string) Opt {
	return Opt{short: short, long: long, arg: needArg, set: func(v string, _ bool) error { return f(v) }}
}

// Optional is an option whose argument may be left out and, if given, is
// attached: -iSUFFIX, --in-place=SUFFIX.
func Optional(f func(value string, given bool) error, short rune, long string) Opt {
	return Opt{short: short, long: long, arg: optionalArg, set: f}
}

// StopAtOperand makes parsing end at the first operand, for commands whose
// operands are another command's line (env, xargs, timeout).
func StopAtOperand() Opt { return Opt{operands: true} }

// Parse reads the options in c.Args as GNU getopt_long does: short ones
// bundled, long ones abbreviated, options after operands, -- . It returns the
// operands and true; or false when the command is over, with its status:
// after --help, or after a complaint about an option, which is never ignored.
// Usage errors have status 1 unless usageStatus says otherwise.
func (c *Ctx) Parse(usageStatus int, opts ...Opt) (operands []string, status int, ok bool) {
	stop := false
	for _, o := range opts {
		stop = stop || o.operands
	}
	bad := func(parts ...string) ([]string, int, bool) {
		c.Usage(parts...)
		return nil, usageStatus, false
	}
	args := c.Args
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
			return append(operands, args...), 0, true
		case strings.HasPrefix(a, "--"):
			name, value, hasValue := strings.Cut(a[2:], "=")
			o, err := findLong(opts, name)
			if err != "" {
				return bad(err)
			}
			if o == nil { // --help
				io.WriteString(c.Stdout, c.Cmd.helpText())
				return nil, 0, false
			}
			switch {
			case o.arg == noArg && hasValue:
				return bad("option '--", o.long, "' doesn't allow an argument")
			case o.arg == needArg && !hasValue:
				if len(args) == 0 {
					return bad("option '--", o.long, "' requires an argument")
				}
				value, args = args[0], args[1:]
				hasValue = true
			}
			if err := o.set(value, hasValue); err != nil {
				return bad(err.Error())
			}
		case len(a) > 1 && a[0] == '-':
			for rest := a[1:]; rest != ""; {
				var r rune
				for _, r = range rest {
					break
				}
				rest = rest[len(string(r)):]
				o := findShort(opts, r)
				if o == nil {
					return bad("invalid option -- '", string(r), "'")
				}
				value, given := "", false
				if o.arg == optionalArg && rest != "" || o.arg == needArg && rest != "" {
					value, given, rest = rest, true, ""
				} else if o.arg == needArg {
					if len(args) == 0 {
						return bad("option requires an argument -- '", string(r), "'")
					}
					value, given, args = args[0], true, args[1:]
				}
				if err := o.set(value, given); err != nil {
					return bad(err.Error())
				}
			}
		default:
			operands = append(operands, a)
			if stop {
				return append(operands, args...), 0, true
			}
		}
	}
	return operands, 0, true
}

func findShort(opts []Opt, r rune) *Opt {
	for i := range opts {
		if opts[i].short == r && r != 0 {
			return &opts[i]
		}
	}
	return nil
}

// findLong finds a long option by its name or an unambiguous abbreviation. A
// nil option without complaint is --help.
func findLong(opts []Opt, name string) (*Opt, string) {
	var found []*Opt
	for i := range opts {
		o := &opts[i]
		if o.long == "" {
			continue
		}
		if o.long == name {
			return o, ""
		}
		if strings.HasPrefix(o.long, name) {
			found = append(found, o)
		}
	}
	if strings.HasPrefix("help", name) && name != "" && (name == "help" || len(found) == 0) {
		return nil, ""
	}
	switch len(found) {
	case 0:
		return nil, "unrecognized option '--" + name + "'"
	case 1:
		return found[0], ""
	}
	msg := "option '--" + name + "' is ambiguous; possibilities:"
	for _, o := range found {
		msg += " '--" + o.long + "'"
	}
	return nil, msg
}
