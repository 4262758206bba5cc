package jq

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/jqlang"
)

// runner runs a program over the inputs and prints the results.
type runner struct {
	c      *applet.Ctx
	o      *options
	in     *inputs
	interp *jqlang.Interp
	buf    []byte
	last   any
	any    bool
	status int
}

var errOutput = errors.New("output")

func (r *runner) all(prog *jqlang.Program) int {
	if r.o.nullIn {
		if status, done := r.one(prog, nil); done {
			return status
		}
	} else {
		for {
			v, err := r.in.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				r.complain(err)
				break
			}
			if status, done := r.one(prog, v); done {
				return status
			}
		}
	}
	switch {
	case r.status != 0:
		return r.status
	case r.in.failed:
		return statusUsage
	case r.o.exitStatus && !r.any:
		return 4
	case r.o.exitStatus && (r.last == nil || r.last == false):
		return 1
	}
	return 0
}

// complain reports an error of the input: nothing after it can be read.
func (r *runner) complain(err error) {
	r.c.Flush()
	var se *jqlang.SyntaxError
	if errors.As(err, &se) {
		io.WriteString(r.c.Stderr, "parse error: "+se.Msg+"\n")
	} else {
		r.c.Warn("error: ", applet.Reason(err))
	}
	r.status = 2
}

// one runs the program over one input. done tells that the command is over.
func (r *runner) one(prog *jqlang.Program, v any) (status int, done bool) {
	err := r.interp.Run(prog, v, r.print)
	var halt *jqlang.Halt
	var ve *jqlang.ValueError
	var se *jqlang.SyntaxError
	switch {
	case err == nil:
		r.status = 0 // as in jq, the last input decides
	case errors.As(err, &halt):
		return r.halt(halt), true
	case errors.Is(err, errOutput):
		return 2, true
	case errors.As(err, &ve):
		r.c.Flush()
		at := "<unknown>"
		if name, line, ok := r.in.position(); ok {
			at = name + ":" + strconv.Itoa(line)
		}
		if s, ok := ve.Value.(string); ok {
			r.c.Warn("error (at ", at, "): ", s)
		} else {
			r.c.Warn("error (at ", at, ") (not a string): ", string(jqlang.Encode(nil, ve.Value, jqlang.Style{})))
		}
		r.status = statusError
	case errors.As(err, &se):
		r.complain(err)
		return r.status, true
	case jqlang.IsStop(err):
		r.c.Flush()
		r.c.Warn("error: break")
		r.status = statusError
	default:
		r.c.Flush()
		r.c.Warn("error: ", applet.Reason(err))
		return statusError, true
	}
	return 0, false
}

func (r *runner) halt(h *jqlang.Halt) int {
	if !h.Quiet {
		r.c.Flush()
		if s, ok := h.Value.(string); ok {
			io.WriteString(r.c.Stderr, s)
		} else if h.Value != nil {
			r.c.Stderr.Write(append(jqlang.Encode(nil, h.Value, jqlang.Style{}), '\n'))
		}
	}
	return h.Status & 255
}

func (r *runner) print(v any) error {
	r.last, r.any = v, true
	b := r.buf[:0]
	if r.o.seq {
		b = append(b, 0x1E)
	}
	if s, ok := v.(string); ok && r.o.raw && !(r.o.style.ASCII) {
		if r.o.zero && strings.IndexByte(s, 0) >= 0 {
			r.c.Warn("error (at <unknown>): Cannot dump a string containing NUL with --raw-output0 option")
			r.status = statusError
			return nil
		}
		b = append(b, s...)
	} else {
		b = jqlang.Encode(b, v, r.o.style)
	}
	switch {
	case r.o.zero:
		b = append(b, 0)
	case !r.o.join:
		b = append(b, '\n')
	}
	r.buf = b
	if _, err := r.c.Stdout.Write(b); err != nil {
		return errOutput
	}
	if r.o.flush {
		if err := r.c.Flush(); err != nil {
			if !errors.Is(err, syscall.EPIPE) {
				r.c.Warn("error: writing output failed: ", applet.Reason(err))
			}
			return errOutput
		}
	}
	return nil
}

// inputs reads the values of the files, one after the other.
type inputs struct {
	c      *applet.Ctx
	o      *options
	files  []string
	opened bool // a file, or standard input in place of any
	name   string
	f      *os.File
	dec    *jqlang.Decoder
	lines  *bufio.Reader
	line   int
	queue  []any // events of --stream
	slurp  bool  // done
	failed bool
}

// open moves on to the next file.
func (in *inputs) open() bool {
	var r io.Reader
	if in.f != nil {
		in.f.Close()
		in.f = nil
	}
	if len(in.files) == 0 {
		if in.opened {
			return false
		}
		r, in.name = in.c.Stdin, ""
	}
	for r == nil {
		if len(in.files) == 0 {
			return false
		}
		in.name = in.files[0]
		in.files = in.files[1:]
		in.opened = true
		f, err := os.Open(in.name)
		if err != nil {
			in.c.Flush()
			in.c.Warn("error: Could not open file ", in.name, ": ", applet.Reason(err))
			in.failed = true
			continue
		}
		in.f, r = f, f
	}
	in.opened = true
	if in.o.rawIn {
		if in.lines == nil {
			in.lines = bufio.NewReaderSize(r, 64<<10)
		} else {
			in.lines.Reset(r)
		}
	} else {
		in.dec = jqlang.NewDecoder(r, in.o.seq)
	}
	in.line = 0
	return true
}

func (in *inputs) next() (any, error) {
	if !in.o.slurp {
		return in.value()
	}
	if in.slurp {
		return nil, io.EOF
	}
	in.slurp = true
	if in.o.rawIn {
		var b strings.Builder
		for {
			if in.lines == nil && !in.open() {
				break
			}
			if _, err := io.Copy(&b, in.lines); err != nil {
				return nil, err
			}
			if !in.open() {
				break
			}
		}
		return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
	}
	list := []any{}
	for {
		v, err := in.value()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}

func (in *inputs) value() (any, error) {
	for {
		if len(in.queue) > 0 {
			v := in.queue[0]
			in.queue = in.queue[1:]
			return v, nil
		}
		if in.dec == nil && in.lines == nil && !in.open() {
			return nil, io.EOF
		}
		if in.o.rawIn {
			s, err := in.lines.ReadString('\n')
			if err == io.EOF && s == "" {
				if !in.open() {
					return nil, io.EOF
				}
				continue
			}
			if err != nil && err != io.EOF {
				return nil, err
			}
			in.line++
			return strings.ToValidUTF8(strings.TrimSuffix(s, "\n"), "\uFFFD"), nil
		}
		v, err := in.dec.Next()
		if err == io.EOF {
			line := in.dec.Line()
			if !in.open() {
				in.line = line
				return nil, io.EOF
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		in.line = in.dec.Line()
		if in.o.stream {
			in.queue = jqlang.Events(v)
			continue
		}
		return v, nil
	}
}

func (in *inputs) where() (string, int) { return in.name, in.line }

// position is what an error message says of the input; ok is false when none
// was read.
func (in *inputs) position() (string, int, bool) {
	if !in.opened {
		return "", 0, false
	}
	name := in.name
	if name == "" {
		name = "<stdin>"
	}
	return name, in.line, true
}
