package applet

import "strings"

// An Opt is one option of a command, as getopt_long knows it.
type Opt struct {
	short    rune // 0: none
	long     string
	arg      argKind
	to       any  // what the constructors take; a pointer or function needs no memory of its own
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
func Bool(p *bool, short rune, long string) Opt { return Opt{short: short, long: long, to: p} }

// Do is an option without argument that calls f. Options are applied in the
// order given, so of two that exclude each other the last wins.
func Do(f func(), short rune, long string) Opt {
	return Opt{short: short, long: long, to: f}
}

// Try is Do for what may fail; the error is one as of [Func].
func Try(f func() error, short rune, long string) Opt {
	return Opt{short: short, long: long, to: f}
}

// String is an option with an argument that is stored in *p.
func String(p *string, short rune, long string) Opt {
	return Opt{short: short, long: long, arg: needArg, to: p}
}

// Func is an option with an argument that is passed to f. The text of an
// error of f is the whole complaint: "invalid number of lines: ‘x’". A
// [UsageError] is followed by the hint to try --help.
func Func(f func(value string) error, short rune, long string) Opt {
	return Opt{short: short, long: long, arg: needArg, to: f}
}

// Optional is an option whose argument may be left out and, if given, is
// attached: -iSUFFIX, --in-place=SUFFIX.
func Optional(f func(value string, given bool) error, short rune, long string) Opt {
	return Opt{short: short, long: long, arg: optionalArg, to: f}
}

// set does what the option is for.
func (o *Opt) set(value string, given bool) error {
	switch to := o.to.(type) {
	case *bool:
		*to = true
	case *string:
		*to = value
	case func():
		to()
	case func() error:
		return to()
	case func(string) error:
		return to(value)
	case func(string, bool) error:
		return to(value, given)
	}
	return nil
}

// StopAtOperand makes parsing end at the first operand, for commands whose
// operands are another command's line (env, xargs, timeout).
func StopAtOperand() Opt { return Opt{operands: true} }

// ChoiceError is the error of [Choose]. It ends commands with status 1, also
// those whose other usage errors have another one.
type ChoiceError string

func (e ChoiceError) Error() string { return string(e) }

// UsageError is an error of an option's function that GNU commands follow with
// the hint to try --help.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// Choose finds word, or what it abbreviates without doubt, among groups of
// synonyms and returns the group's index. The error is a [ChoiceError]
// that lists them, as GNU commands do: option is "--color".
func Choose(option, word string, groups ...[]string) (int, error) {
	found, ambiguous := -1, false
	for i, g := range groups {
		for _, w := range g {
			if w == word {
				return i, nil
			}
			if strings.HasPrefix(w, word) {
				ambiguous = ambiguous || found >= 0 && found != i
				found = i
			}
		}
	}
	if found >= 0 && !ambiguous {
		return found, nil
	}
	msg := "invalid argument "
	if ambiguous {
		msg = "ambiguous argument "
	}
	msg += Curly(word) + " for " + Curly(option) + "\nValid arguments are:"
	for _, g := range groups {
		msg += "\n  - "
		for i, w := range g {
			if i > 0 {
				msg += ", "
			}
			msg += Curly(w)
		}
	}
	return -1, ChoiceError(msg)
}

// Parse reads the options in c.Args as GNU getopt_long does: short ones
// bundled, long ones abbreviated, options after operands, -- . It returns the
// operands and true; or false when the command is over, with its status:
// after --help or --version, or after a complaint about an option, which is
// never ignored.
// Usage errors have status 1 unless usageStatus says otherwise.
func (c *Ctx) Parse(usageStatus int, opts ...Opt) (operands []string, status int, ok bool) {
	stop := false
	for i := range opts {
		stop = stop || opts[i].operands
	}
	bad := func(parts ...string) ([]string, int, bool) {
		c.Usage(parts...)
		return nil, usageStatus, false
	}
	complain := func(err error) ([]string, int, bool) {
		switch e := err.(type) {
		case UsageError:
			return bad(string(e))
		case ChoiceError:
			return nil, c.Usage(string(e)), false
		}
		c.Warn(err.Error())
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
			o, builtin, err := findLong(opts, name, a[2:])
			switch {
			case err != "":
				return bad(err)
			case builtin != "" && hasValue:
				return bad("option '--", builtin, "' doesn't allow an argument")
			case builtin == "help":
				c.ShowHelp()
				return nil, 0, false
			case builtin == "version":
				c.ShowVersion()
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
				return complain(err)
			}
		case len(a) > 1 && a[0] == '-':
			for rest := a[1:]; rest != ""; {
				r := rest[:1]
				rest = rest[1:]
				o := findShort(opts, r[0])
				if o == nil {
					return bad("invalid option -- '", r, "'")
				}
				value, given := "", false
				if o.arg == optionalArg && rest != "" || o.arg == needArg && rest != "" {
					value, given, rest = rest, true, ""
				} else if o.arg == needArg {
					if len(args) == 0 {
						return bad("option requires an argument -- '", r, "'")
					}
					value, given, args = args[0], true, args[1:]
				}
				if err := o.set(value, given); err != nil {
					return complain(err)
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

func findShort(opts []Opt, c byte) *Opt {
	for i := range opts {
		if opts[i].short == rune(c) && c != 0 {
			return &opts[i]
		}
	}
	return nil
}

// findLong finds a long option by its name or an unambiguous abbreviation.
// builtin is "help" or "version" for those two, which every command has. text
// is the option as it was given, for complaints.
func findLong(opts []Opt, name, text string) (o *Opt, builtin, complaint string) {
	var found []*Opt
	for i := range opts {
		o := &opts[i]
		if o.long == "" {
			continue
		}
		if o.long == name {
			return o, "", ""
		}
		if strings.HasPrefix(o.long, name) {
			found = append(found, o)
		}
	}
	help, version := strings.HasPrefix("help", name), strings.HasPrefix("version", name)
	switch {
	case name == "help" || help && !version && len(found) == 0:
		return nil, "help", ""
	case name == "version" || version && !help && len(found) == 0:
		return nil, "version", ""
	case len(found) == 0 && name != "":
		return nil, "", "unrecognized option '--" + text + "'"
	case len(found) == 1 && !help && !version:
		return found[0], "", ""
	}
	msg := "option '--" + text + "' is ambiguous; possibilities:"
	for _, o := range found {
		msg += " '--" + o.long + "'"
	}
	if help {
		msg += " '--help'"
	}
	if version {
		msg += " '--version'"
	}
	return nil, "", msg
}
