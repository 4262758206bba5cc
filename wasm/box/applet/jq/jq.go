// Package jq is jq, close to version 1.6 and with what 1.7 mended and added.
// Modules (-L, import, include) are not supported.
package jq

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/jqlang"
)

// Command is jq.
var Command = &applet.Command{
	Name:     "jq",
	Synopsis: "[OPTION]... FILTER [FILE]...",
	Summary:  "transform JSON with a filter",
	Help: `  -c, --compact-output    one line for each result
  -r, --raw-output        strings as they are, not as JSON
  -j, --join-output       as -r, without newlines
      --raw-output0       as -r, with a 0 byte after each
  -a, --ascii-output      escape what is not ASCII
  -C, --color-output      colours; -M, --monochrome-output: none
  -S, --sort-keys         print the keys of objects in order
      --tab, --indent N   how to indent
  -n, --null-input        run once with null for input
  -s, --slurp             run once with all inputs in an array
  -R, --raw-input         the input is lines of text
      --stream            the input is a stream of paths and leaves
      --seq               the RS character marks texts
      --unbuffered        flush after each result
  -e, --exit-status       status 1 when the last result was false or null, 4 when there was none
  -f, --from-file FILE    the filter is in FILE
      --arg A V           $A is the string V
      --argjson A JSON    $A is JSON
      --slurpfile A FILE  $A is an array of the values in FILE
      --rawfile A FILE    $A is the text of FILE
      --args, --jsonargs  the rest are $ARGS.positional
`,
	Run: run,
}

// options are those of jq and yq.
type options struct {
	raw, join, zero, nullIn, slurp, rawIn, stream, seq, flush, exitStatus bool
	style                                                                 jqlang.Style
	compact                                                               bool
	fromFile                                                              string
	haveFile                                                              bool
	named                                                                 *jqlang.Object
	positional                                                            []any
	filter                                                                string
	haveFilter                                                            bool
	files                                                                 []string
}

const (
	statusUsage   = 2
	statusCompile = 3
	statusError   = 5
)

type usageError string

// optionLike tells whether a may be an option; -1 is a program.
func optionLike(a string) bool {
	return len(a) > 1 && a[0] == '-' && (a[1] == '-' || a[1] == '0' || 'a' <= a[1]|0x20 && a[1]|0x20 <= 'z')
}

func (u usageError) Error() string { return string(u) }

func run(c *applet.Ctx) int {
	if len(c.Args) == 1 && (c.Args[0] == "--version" || c.Args[0] == "-V") {
		io.WriteString(c.Stdout, "jq-1.6\n") // scripts compare it
		return 0
	}
	o := &options{style: jqlang.Style{Indent: 2}, named: jqlang.NewObject(4)}
	help, err := o.parse(c.Args)
	if err != nil {
		var u usageError
		if !errors.As(err, &u) {
			c.Warn("error: ", err.Error())
			return statusUsage
		}
		c.Warn(err.Error())
		io.WriteString(c.Stderr, "Use jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://stedolan.github.io/jq\n")
		return statusUsage
	}
	if help {
		io.WriteString(c.Stdout, "Usage: jq "+c.Cmd.Synopsis+"\nTransform JSON with a filter.\n\n"+c.Cmd.Help)
		return 0
	}
	if o.haveFile {
		data, err := os.ReadFile(o.fromFile)
		if err != nil {
			c.Warn("error: Could not open ", o.fromFile, ": ", applet.Reason(err))
			return statusUsage
		}
		if o.haveFilter { // what was taken for the filter is a file
			o.files = append([]string{o.filter}, o.files...)
		}
		o.filter, o.haveFilter = string(data), true
	}
	if !o.haveFilter {
		io.WriteString(c.Stderr, "Usage: jq "+c.Cmd.Synopsis+"\nTry 'jq --help' for more information.\n")
		return statusUsage
	}
	args := jqlang.NewObject(2)
	args.Add("positional", o.list())
	args.Add("named", o.named)
	globals := map[string]any{"ARGS": args, "__prog_args": o.list()}
	for i := range o.named.Len() {
		globals[o.named.Key(i)] = o.named.Val(i)
	}
	prog, err := jqlang.Compile(o.filter, globals)
	if err != nil {
		c.Warn("error: ", err.Error(), "\n"+o.filter+"\njq: 1 compile error")
		return statusCompile
	}
	r := &runner{c: c, o: o, in: &inputs{c: c, o: o, files: o.files}}
	r.interp = &jqlang.Interp{Inputs: r.in.next, Input: r.in.where, Stderr: c.Stderr, Env: os.Environ()}
	return r.all(prog)
}

func (o *options) list() []any {
	if o.positional == nil {
		return []any{}
	}
	return o.positional
}

func (o *options) parse(args []string) (help bool, err error) {
	rest := byte(0) // after --args or --jsonargs
	onlyFiles := false
	positional := func(a string) error {
		switch {
		case !o.haveFilter && !o.haveFile:
			o.filter, o.haveFilter = a, true
		case rest == 's':
			o.positional = append(o.positional, a)
		case rest == 'j':
			v, err := jqlang.ParseJSON(a)
			if err != nil {
				return errors.New("Invalid JSON text passed to --jsonargs")
			}
			o.positional = append(o.positional, v)
		default:
			o.files = append(o.files, a)
		}
		return nil
	}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if onlyFiles || !optionLike(a) {
			if err := positional(a); err != nil {
				return false, err
			}
			continue
		}
		take := func(n int, what string) ([]string, error) {
			if len(args) < n {
				return nil, usageError(a + " takes " + what)
			}
			v := args[:n]
			args = args[n:]
			return v, nil
		}
		var v []string
		switch a {
		case "--":
			onlyFiles = true
			continue
		case "--arg", "--argjson", "--slurpfile", "--rawfile":
			what := map[string]string{"--arg": "two parameters (e.g. --arg varname value)", "--argjson": "two parameters (e.g. --argjson varname text)"}[a]
			if what == "" {
				what = "two parameters (e.g. " + a + " varname filename)"
			}
			if v, err = take(2, what); err != nil {
				return false, err
			}
			if err := o.name(a, v[0], v[1]); err != nil {
				return false, err
			}
			continue
		case "--indent":
			if v, err = take(1, "one parameter"); err != nil {
				return false, err
			}
			n, err := strconv.Atoi(v[0])
			if err != nil || n < 0 || n > 7 {
				return false, usageError("--indent takes a number between -1 and 7")
			}
			o.style.Indent, o.style.Tab = n, false
			continue
		case "--from-file":
			if v, err = take(1, "a parameter (e.g. -f filename)"); err != nil {
				return false, err
			}
			o.fromFile, o.haveFile = v[0], true
			continue
		case "--args":
			rest = 's'
			continue
		case "--jsonargs":
			rest = 'j'
			continue
		case "--help":
			return true, nil
		}
		if name, ok := strings.CutPrefix(a, "--"); ok {
			if !o.long(name) {
				return false, usageError("Unknown option: " + a)
			}
			continue
		}
		for _, s := range a[1:] {
			if s == 'h' {
				return true, nil
			}
			if s == 'f' {
				if v, err = take(1, "a parameter (e.g. -f filename)"); err != nil {
					return false, err
				}
				o.fromFile, o.haveFile = v[0], true
				continue
			}
			if !o.short(s) {
				return false, usageError("Unknown option: " + a)
			}
		}
	}
	if o.compact {
		o.style.Indent, o.style.Tab = 0, false
	}
	return false, nil
}

// name defines a variable; the first definition of a name stands.
func (o *options) name(opt, name, v string) error {
	var val any = v
	switch opt {
	case "--argjson":
		var err error
		if val, err = jqlang.ParseJSON(v); err != nil || strings.TrimSpace(v) == "" {
			return usageError("invalid JSON text passed to --argjson")
		}
	case "--rawfile", "--slurpfile":
		data, err := os.ReadFile(v)
		if err != nil {
			return errors.New("Bad JSON in " + opt + " " + name + " " + v + ": Could not open " + v + ": " + applet.Reason(err))
		}
		if opt == "--rawfile" {
			val = strings.ToValidUTF8(string(data), "\uFFFD")
			break
		}
		d := jqlang.NewDecoder(bytes.NewReader(data), false)
		list := []any{}
		for {
			x, err := d.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return errors.New("Bad JSON in " + opt + " " + name + " " + v + ": " + err.Error())
			}
			list = append(list, x)
		}
		val = list
	}
	if _, ok := o.named.Get(name); !ok {
		o.named.Add(name, val)
	}
	return nil
}

func (o *options) long(name string) bool {
	switch name {
	case "tab":
		o.style.Tab, o.style.Indent = true, 1
	case "stream":
		o.stream = true
	case "seq":
		o.seq = true
	case "unbuffered":
		o.flush = true
	case "raw-output0":
		o.raw, o.zero = true, true
	default:
		for short, long := range map[rune]string{'c': "compact-output", 'r': "raw-output", 'j': "join-output", 'a': "ascii-output", 'C': "color-output", 'M': "monochrome-output", 'S': "sort-keys", 'n': "null-input", 's': "slurp", 'R': "raw-input", 'e': "exit-status"} {
			if long == name {
				return o.short(short)
			}
		}
		return false
	}
	return true
}

func (o *options) short(s rune) bool {
	switch s {
	case 'c':
		o.compact = true
	case 'r':
		o.raw = true
	case 'j':
		o.raw, o.join = true, true
	case 'a':
		o.style.ASCII = true
	case 'C':
		o.style.Color = jqlang.NewColors(os.Getenv("JQ_COLORS"))
	case 'M':
		o.style.Color = nil
	case 'S':
		o.style.Sort = true
	case 'n':
		o.nullIn = true
	case 's':
		o.slurp = true
	case 'R':
		o.rawIn = true
	case 'e':
		o.exitStatus = true
	default:
		return false
	}
	return true
}
