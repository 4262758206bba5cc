package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// readOpts is what the flags of read say.
type readOpts struct {
	raw     bool
	delim   byte
	max     int // characters; -1: none
	exact   bool
	array   string
	names   []string
	timeout time.Duration // 0: none
}

func (sh *interpShell) readOptions(hc interp.HandlerContext, args []string) (o readOpts, err error) {
	o = readOpts{delim: '\n', max: -1}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		f := args[0]
		args = args[1:]
		if f == "--" {
			break
		}
		for i := 1; i < len(f); i++ {
			switch c := f[i]; c {
			case 'r':
				o.raw = true
				continue
			case 's', 'e': // without a terminal nothing is echoed or edited
				continue
			case 'd', 'n', 'N', 't', 'u', 'a', 'p':
				value := f[i+1:]
				if value == "" {
					if len(args) == 0 {
						return o, sh.fail(hc, 2, "read: -%c: option requires an argument", c)
					}
					value, args = args[0], args[1:]
				}
				if err := sh.readOption(hc, &o, c, value); err != nil {
					return o, err
				}
			default:
				return o, sh.fail(hc, 2, "read: -%c: invalid option", c)
			}
			break
		}
	}
	o.names = args
	for _, n := range append(args[:len(args):len(args)], o.array) {
		if n != "" && !validName(n) {
			return o, sh.fail(hc, 1, "read: `%s': not a valid identifier", n)
		}
	}
	return o, nil
}

func (sh *interpShell) readOption(hc interp.HandlerContext, o *readOpts, c byte, value string) error {
	switch c {
	case 'd':
		o.delim = 0
		if value != "" {
			o.delim = value[0]
		}
	case 'n', 'N':
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return sh.fail(hc, 1, "read: %s: invalid number", value)
		}
		o.max, o.exact = n, c == 'N'
	case 't':
		d, err := strconv.ParseFloat(value, 64)
		if err != nil || d < 0 {
			return sh.fail(hc, 1, "read: %s: invalid timeout specification", value)
		}
		if d == 0 {
			return sh.fail(hc, 2, "read: -t 0: not supported yet")
		}
		o.timeout = time.Duration(min(d, 1e9) * float64(time.Second))
	case 'u':
		if value != "0" {
			return sh.fail(hc, 1, "read: %s: invalid file descriptor: Bad file descriptor", value)
		}
	case 'a':
		o.array = value
	case 'p': // a prompt is for terminals only
	}
	return nil
}

// ownRead is read as bash has it, on stdin.
func (sh *interpShell) ownRead(ctx context.Context, hc interp.HandlerContext, args []string) error {
	o, err := sh.readOptions(hc, args)
	if err != nil {
		return err
	}
	sh.in.pump(hc.Stdin)
	line, err := sh.readLine(ctx, hc, o)
	var status int
	switch {
	case sh.h.cause() != nil:
		return sh.h.cause()
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		status = 142
	case err != nil:
		status = 1
	}
	if err := sh.eval(ctx, hc, assignments(line, o, ifs(hc))); err != nil {
		return err
	}
	return exitStatus(status)
}

func ifs(hc interp.HandlerContext) string {
	if v := hc.Env.Get("IFS"); v.IsSet() {
		return v.String()
	}
	return " \t\n"
}

// A readByte is a byte of a line that read has read.
type readByte struct {
	c       byte
	escaped bool // by a backslash: no separator
}

// readLine takes bytes one by one: what follows the line belongs to others.
func (sh *interpShell) readLine(ctx context.Context, hc interp.HandlerContext, o readOpts) (line []readByte, err error) {
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	f, ok := hc.Stdin.(*os.File)
	if !ok || f == nil {
		return nil, io.EOF
	}
	end := newPipeEnd(ctx, f)
	defer end.close()
	var b [1]byte
	escaped := false
	for chars := 0; o.max < 0 || chars < o.max; {
		if _, err := end.Read(b[:]); err != nil {
			return line, err
		}
		c := b[0]
		switch {
		case escaped:
			escaped = false
			if c == '\n' {
				continue // a line that goes on
			}
			line = append(line, readByte{c, true})
		case c == o.delim && !o.exact:
			return line, nil
		case c == '\\' && !o.raw:
			escaped = true
			continue
		case c == 0: // variables hold none
			continue
		default:
			line = append(line, readByte{c, false})
		}
		if int64(len(line)) > sh.h.limits.Memory/8 {
			return nil, sh.h.stop(&LimitError{What: "a line of " + bytesText(sh.h.limits.Memory/8)})
		}
		if c&0xc0 != 0x80 || o.max < 0 {
			chars++
		}
	}
	return line, nil
}

// assignments is the text that sets what was read.
func assignments(line []readByte, o readOpts, ifs string) string {
	var b strings.Builder
	set := func(name, value string) { b.WriteString(name + "=" + dollarQuote(value) + "\n") }
	names := o.names
	switch {
	case o.array != "":
		b.WriteString(o.array + "=(")
		for _, f := range splitFields(line, ifs, -1) {
			b.WriteString(dollarQuote(f) + " ")
		}
		b.WriteString(")\n")
	case len(names) == 0:
		set("REPLY", plain(line))
	case o.exact:
		set(names[0], plain(line))
		names = names[1:]
		line = nil
		fallthrough
	default:
		fields := splitFields(line, ifs, len(names))
		for i, n := range names {
			v := ""
			if i < len(fields) {
				v = fields[i]
			}
			set(n, v)
		}
	}
	return b.String()
}

func plain(line []readByte) string {
	b := make([]byte, len(line))
	for i, x := range line {
		b[i] = x.c
	}
	return string(b)
}

// splitFields splits a line at IFS into at most n fields, the last of which
// takes the rest; n < 0 means all.
func splitFields(line []readByte, ifs string, n int) []string {
	is := func(x readByte, space bool) bool {
		return !x.escaped && strings.IndexByte(ifs, x.c) >= 0 && (!space || strings.IndexByte(" \t\n", x.c) >= 0)
	}
	skip := func() {
		for len(line) > 0 && is(line[0], true) {
			line = line[1:]
		}
	}
	// field takes one field and the separator after it.
	field := func() string {
		i := 0
		for i < len(line) && !is(line[i], false) {
			i++
		}
		f := plain(line[:i])
		line = line[i:]
		skip()
		if len(line) > 0 && is(line[0], false) {
			line = line[1:]
			skip()
		}
		return f
	}
	skip()
	var fields []string
	for len(line) > 0 && (n < 0 || len(fields) < n-1) {
		fields = append(fields, field())
	}
	if n < 0 || len(line) == 0 {
		return fields
	}
	// The rest is one field: as such if that is all there is, else with the
	// separators inside it.
	rest := line
	if f := field(); len(line) == 0 {
		return append(fields, f)
	}
	for len(rest) > 0 && is(rest[len(rest)-1], true) {
		rest = rest[:len(rest)-1]
	}
	return append(fields, plain(rest))
}
