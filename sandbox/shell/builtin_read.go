package shell

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

func builtinRead(sh *shell, args []string) int {
	var (
		raw, toArray, exact bool
		array               string
		delim               = byte('\n')
		max                 = -1
		fd                  = 0
		timeout             = time.Duration(-1)
	)
	o := newGetopt(args, "ersa:d:i:n:N:p:t:u:")
	for o.next() {
		switch o.opt {
		case 'r':
			raw = true
		case 'e', 's', 'i':
		case 'a':
			array, toArray = o.arg, true
		case 'd':
			delim = 0
			if o.arg != "" {
				delim = o.arg[0]
			}
		case 'n', 'N':
			n, ok := atoi(o.arg)
			if !ok || n < 0 {
				return sh.builtinError("read", "%s: invalid number", o.arg)
			}
			max, exact = int(min(n, 1<<30)), o.opt == 'N'
		case 'p':
			// The prompt is shown only on terminals, which the sandbox has none of.
		case 't':
			f, err := strconv.ParseFloat(o.arg, 64)
			if err != nil || f < 0 {
				return sh.builtinError("read", "%s: invalid timeout specification", o.arg)
			}
			timeout = time.Duration(min(f, 1e9) * float64(time.Second))
		case 'u':
			n, ok := atoi(o.arg)
			if !ok || n < 0 {
				return sh.builtinError("read", "%s: invalid file descriptor specification", o.arg)
			}
			fd = int(n)
		default:
			return sh.usage(o, "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]")
		}
	}
	names := o.rest()
	for _, n := range names {
		if !validRef(n) {
			sh.errorf("read: `%s': not a valid identifier", n)
			return 1
		}
	}
	if toArray && !isName(array) {
		return sh.builtinError("read", "`%s': not a valid identifier", array)
	}
	f := sh.fd(fd)
	if f == nil || !f.readable() {
		return sh.builtinError("read", "%d: invalid file descriptor: Bad file descriptor", fd)
	}
	if timeout == 0 {
		return int(b2i(!f.ready()))
	}
	ctx := sh.ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(sh.ctx, timeout, errReadTimeout)
		defer cancel()
	}
	r := lineInput{sh: sh, f: f, ctx: ctx, raw: raw, delim: delim, max: max, exact: exact}
	st := r.read()
	if toArray {
		var els []element
		for _, w := range sh.splitRead(r.text, r.esc, -1) {
			els = append(els, element{val: w})
		}
		sh.assignArray(array, els, false)
		return st
	}
	if exact {
		names = append(names, "REPLY")
		sh.readAssign(names[0], string(r.text))
		for _, n := range names[1:max2(1, len(names)-1)] {
			sh.readAssign(n, "")
		}
		return st
	}
	if len(names) == 0 {
		sh.readAssign("REPLY", string(r.text))
		return st
	}
	words := sh.splitRead(r.text, r.esc, len(names))
	for i, n := range names {
		w := ""
		if i < len(words) {
			w = words[i]
		}
		sh.readAssign(n, w)
	}
	return st
}

func max2(a, b int) int {
	if a > b {
		return a
	}
	return b
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
		if n := len(b); err == nil && n > 0 && b[n-1] == r.delim {
			b = b[:n-1]
		} else if err == nil && n >= int(r.sh.run.lim.Expansion) {
			throw(&LimitError{What: "line of " + size(r.sh.run.lim.Expansion)})
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

func builtinMapfile(sh *shell, args []string) int {
	name, delim, strip := "MAPFILE", byte('\n'), false
	count, skip, origin, every := int64(0), int64(0), int64(-1), int64(5000)
	fd, callback := 0, ""
	num := func(s string) (int64, bool) {
		n, ok := atoi(s)
		if !ok || n < 0 {
			sh.errorf("%s: %s: invalid number", args[0], s)
			return 0, false
		}
		return n, true
	}
	o := newGetopt(args, "d:n:O:s:tu:C:c:")
	for o.next() {
		ok := true
		switch o.opt {
		case 'd':
			delim = 0
			if o.arg != "" {
				delim = o.arg[0]
			}
		case 'n':
			count, ok = num(o.arg)
		case 'O':
			origin, ok = num(o.arg)
		case 's':
			skip, ok = num(o.arg)
		case 't':
			strip = true
		case 'u':
			var n int64
			n, ok = num(o.arg)
			fd = int(n)
		case 'C':
			callback = o.arg
		case 'c':
			every, ok = num(o.arg)
			every = max(every, 1)
		default:
			return sh.usage(o, args[0]+" [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]")
		}
		if !ok {
			return 1
		}
	}
	if r := o.rest(); len(r) > 0 {
		name = r[0]
		if !isName(name) {
			return sh.builtinError(args[0], "`%s': not a valid identifier", name)
		}
	}
	f := sh.fd(fd)
	if f == nil || !f.readable() {
		return sh.builtinError(args[0], "%d: invalid file descriptor: Bad file descriptor", fd)
	}
	name = sh.resolved(name)
	if sh.lookup(name).has(attrAssoc) {
		return sh.builtinError(args[0], "%s: not an indexed array", name)
	}
	sh.checkWritable(name)
	if origin < 0 {
		sh.assignArray(name, nil, false)
		origin = 0
	}
	idx := origin
	for n := int64(0); count == 0 || n < count+skip; n++ {
		sh.tick()
		b, err := f.readUntil(sh.ctx, nil, delim, int(sh.run.lim.Expansion))
		if len(b) == 0 {
			if err != nil && !errors.Is(err, io.EOF) && isFatal(err) {
				throw(err)
			}
			break
		}
		if n < skip {
			continue
		}
		if strip && b[len(b)-1] == delim {
			b = b[:len(b)-1]
		}
		s, _, _ := strings.Cut(string(b), "\x00") // as bash does here
		if callback != "" && (idx-origin+1)%every == 0 {
			src := sh.newSource("", callback+" "+itoa64(idx)+" "+shellQuote(s))
			src.command = true
			sh.runText(src, "mapfile")
			if sh.flow != flowNone {
				return sh.status
			}
		}
		sh.setIndex(name, idx, s, false)
		idx++
	}
	return 0
}
