package shell

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

func builtinRead(sh *shell, c call) int {
	r := lineInput{sh: sh, ctx: sh.ctx, raw: c.has('r'), delim: '\n', max: -1}
	fd, timeout := 0, -1.0
	for _, o := range c.opts {
		n, num := atoi(o.arg)
		switch o.letter {
		case 'd':
			r.delim = (o.arg + "\x00")[0]
		case 'n', 'N':
			if !num || n < 0 {
				return c.fail("%s: invalid number", o.arg)
			}
			r.max, r.exact = int(min(n, 1<<30)), o.letter == 'N'
		case 't':
			var err error
			if timeout, err = strconv.ParseFloat(o.arg, 64); err != nil || timeout < 0 {
				return c.fail("%s: invalid timeout specification", o.arg)
			}
		case 'u':
			if !num || n < 0 {
				return c.fail("%s: invalid file descriptor specification", o.arg)
			}
			fd = int(n)
		}
		// The prompt of -p is shown only on terminals, which the sandbox has none of.
	}
	names := c.rest
	for _, n := range names {
		if !validRef(n) {
			return c.fail("`%s': not a valid identifier", n)
		}
	}
	array, toArray := c.arg('a')
	if toArray && !isName(array) {
		return c.fail("`%s': not a valid identifier", array)
	}
	if r.f = sh.fd(fd); r.f == nil || !r.f.readable() {
		return c.fail("%d: invalid file descriptor: Bad file descriptor", fd)
	}
	if timeout == 0 {
		return int(b2i(!r.f.ready()))
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		r.ctx, cancel = context.WithTimeoutCause(sh.ctx, time.Duration(min(timeout, 1e9)*float64(time.Second)), errReadTimeout)
		defer cancel()
	}
	st := r.read()
	var words []string
	switch {
	case toArray:
		var els []element
		for _, w := range sh.splitRead(r.text, r.esc, -1) {
			els = append(els, element{val: w})
		}
		sh.assignArray(array, els, false)
		return st
	case len(names) == 0:
		names = []string{"REPLY"}
		fallthrough
	case r.exact:
		words = []string{string(r.text)}
	default:
		words = sh.splitRead(r.text, r.esc, len(names))
	}
	for i, n := range names {
		w := ""
		if i < len(words) {
			w = words[i]
		}
		sh.readAssign(n, w)
	}
	return st
}

func (sh *shell) readAssign(n, val string) {
	name, sub, _ := sh.parseRef(n)
	sh.checkWritable(sh.resolved(name))
	sh.assignTo(name, sub, val, false)
}

var errReadTimeout = textError("read timed out")

// A lineInput reads one line for read. esc[i] marks text[i] as escaped.
type lineInput struct {
	sh    *shell
	f     *File
	ctx   context.Context
	raw   bool
	delim byte
	max   int
	exact bool
	text  []byte
	esc   []bool
}

func (r *lineInput) read() int {
	if r.max == 0 {
		return 0
	}
	if r.raw && r.max < 0 {
		b, err := r.f.readUntil(r.ctx, nil, r.delim, int(r.sh.run.lim.Expansion))
		r.sh.wholeLine(b, r.delim, err)
		if n := len(b); err == nil && n > 0 {
			b = b[:n-1]
		}
		r.text = dropNUL(b)
		return r.ended(err)
	}
	chars := 0
	for n := 0; ; n++ {
		if n&1023 == 1023 {
			r.sh.tick()
			if int64(n) > r.sh.run.lim.Expansion {
				throw(&LimitError{What: "line of " + size(r.sh.run.lim.Expansion)})
			}
		}
		b, err := r.f.readUntil(r.ctx, nil, r.delim, 1)
		if len(b) == 0 {
			return r.ended(err)
		}
		c := b[0]
		if c == '\\' && !r.raw {
			b, err = r.f.readUntil(r.ctx, nil, r.delim, 1)
			if len(b) == 0 {
				return r.ended(err)
			}
			if b[0] == '\n' {
				continue
			}
			r.add(b[0], true)
		} else {
			if c == r.delim && !r.exact {
				return 0
			}
			if c == 0 {
				continue
			}
			r.add(c, false)
		}
		if r.max > 0 && r.text[len(r.text)-1]&0xC0 != 0xC0 {
			last := r.text[len(r.text)-1]
			if last < 0x80 || completeRune(r.text) {
				if chars++; chars == r.max {
					return 0
				}
			}
		}
	}
}

// wholeLine refuses a line that reached the limit before its end.
func (sh *shell) wholeLine(b []byte, delim byte, err error) {
	if n := len(b); err == nil && n > 0 && b[n-1] != delim {
		throw(&LimitError{What: "line of " + size(sh.run.lim.Expansion)})
	}
}

// completeRune tells whether b ends with a whole character.
func completeRune(b []byte) bool {
	for i := 1; i <= 4 && i <= len(b); i++ {
		c := b[len(b)-i]
		if c&0xC0 == 0x80 {
			continue
		}
		n := 1
		switch {
		case c >= 0xF0:
			n = 4
		case c >= 0xE0:
			n = 3
		case c >= 0xC0:
			n = 2
		}
		return i >= n
	}
	return true
}

func (r *lineInput) add(c byte, esc bool) {
	r.text = append(r.text, c)
	if !r.raw {
		r.esc = append(r.esc, esc)
	}
}

// ended is the status after the input ended or failed.
func (r *lineInput) ended(err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, io.EOF) {
		return 1
	}
	if errors.Is(err, errReadTimeout) || context.Cause(r.ctx) == errReadTimeout {
		return 142
	}
	if isFatal(err) || r.sh.ctx.Err() != nil {
		r.sh.tick()
		throw(err)
	}
	r.sh.errorf("read: read error: %s", errText(err))
	return 1
}

func dropNUL(b []byte) []byte {
	out := b[:0]
	for _, c := range b {
		if c != 0 {
			out = append(out, c)
		}
	}
	return out
}

// splitRead cuts a line at IFS into at most n words; the last one takes the
// rest. n < 0 means no bound.
func (sh *shell) splitRead(b []byte, esc []bool, n int) []string {
	ifs := sh.ifs()
	is := func(i int) bool {
		return (esc == nil || !esc[i]) && strings.IndexByte(ifs, b[i]) >= 0
	}
	white := func(i int) bool { return is(i) && ifsWhite(b[i]) }
	i, end := 0, len(b)
	for i < end && white(i) {
		i++
	}
	for end > i && white(end-1) {
		end--
	}
	var out []string
	for i < end {
		if n > 0 && len(out) == n-1 {
			// The rest; one separator at its end goes when it is the only one.
			rest := b[i:end]
			k := i
			for k < end && !is(k) {
				k++
			}
			if k < end && !ifsWhite(b[k]) {
				m := k + 1
				for m < end && white(m) {
					m++
				}
				if m == end {
					rest = b[i:k]
				}
			} else if k < end {
				m := k
				for m < end && white(m) {
					m++
				}
				if m < end && is(m) {
					q := m + 1
					for q < end && white(q) {
						q++
					}
					if q == end {
						rest = b[i:k]
					}
				}
			}
			return append(out, string(rest))
		}
		k := i
		for k < end && !is(k) {
			k++
		}
		out = append(out, string(b[i:k]))
		for k < end && white(k) {
			k++
		}
		if k < end && is(k) && !ifsWhite(b[k]) {
			k++
			for k < end && white(k) {
				k++
			}
		}
		i = k
	}
	return out
}
