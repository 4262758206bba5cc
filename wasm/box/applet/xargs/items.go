package xargs

import (
	"bufio"
	"errors"
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// maxItem bounds one item, whose length the input chooses.
const maxItem = 16 << 20

// items splits the input.
type items struct {
	c     *applet.Ctx
	in    *bufio.Reader
	delim int  // -1: blanks and newlines, with quotes
	whole bool // an item is a line, without leading blanks (-I)
	eof   string

	item    string
	lineEnd bool // the item was the last one of its line
	err     error
	warned  bool
	done    bool
}

func newItems(c *applet.Ctx, in io.Reader, delim int, whole bool, eof string) *items {
	return &items{c: c, in: bufio.NewReaderSize(in, applet.BufSize), delim: delim, whole: whole, eof: eof}
}

// next reads the next item.
func (it *items) next() bool {
	if it.done || it.err != nil {
		return false
	}
	var ok bool
	if it.delim >= 0 {
		ok = it.split()
	} else {
		ok = it.words()
	}
	if ok && it.eof != "" && it.delim < 0 && it.item == it.eof {
		it.done = true
		return false
	}
	return ok
}

// split reads up to the delimiter.
func (it *items) split() bool {
	var b []byte
	for {
		part, err := it.in.ReadSlice(byte(it.delim))
		if len(b)+len(part) > maxItem {
			return it.fail("argument line too long")
		}
		b = append(b, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return it.fail(applet.Reason(err))
		}
		it.done = err == io.EOF
		if it.done && len(b) == 0 {
			return false
		}
		if b[len(b)-1] == byte(it.delim) {
			b = b[:len(b)-1]
		}
		it.item, it.lineEnd = string(b), true
		return true
	}
}

func (it *items) fail(msg string) bool {
	it.err = errors.New(msg)
	return false
}

// words reads the next word, or with -I the next line that is not blank.
func (it *items) words() bool {
	var b []byte
	started, quoted := false, byte(0) // quoted: the quote that is open
	finish := func(end bool) bool {
		it.item, it.lineEnd = string(b), end
		return true
	}
	for {
		ch, err := it.in.ReadByte()
		if err != nil {
			if err != io.EOF {
				return it.fail(applet.Reason(err))
			}
			it.done = true
			if quoted != 0 {
				return it.unmatched(quoted)
			}
			return started && finish(true)
		}
		if len(b) > maxItem {
			return it.fail("argument line too long")
		}
		switch {
		case ch == 0:
			if !it.warned {
				it.warned = true
				it.c.Warn("WARNING: a NUL character occurred in the input.  It cannot be passed through in the argument list.  Did you mean to use the --null option?")
			}
			// What follows up to the next blank is lost, as in a C string.
			started = true
			for {
				next, err := it.in.Peek(1)
				if err != nil || next[0] == '\n' || next[0] == ' ' || next[0] == '\t' {
					break
				}
				it.in.ReadByte()
			}
		case quoted != 0:
			switch ch {
			case quoted:
				quoted = 0
			case '\n':
				return it.unmatched(quoted)
			default:
				b = append(b, ch)
			}
		case ch == '\'' || ch == '"':
			quoted, started = ch, true
		case ch == '\\':
			next, err := it.in.ReadByte()
			if err != nil {
				it.done = true
				return it.fail("backslash at EOF")
			}
			b, started = append(b, next), true
		case ch == '\n':
			if started {
				return finish(true)
			}
		case ch == ' ' || ch == '\t':
			switch {
			case !started:
			case it.whole:
				b = append(b, ch)
			default:
				return finish(it.endOfLine())
			}
		default:
			b, started = append(b, ch), true
		}
	}
}

func (it *items) unmatched(quote byte) bool {
	kind := "single"
	if quote == '"' {
		kind = "double"
	}
	return it.fail("unmatched " + kind + " quote; by default quotes are special to xargs unless you use the -0 option")
}

// endOfLine skips blanks and tells whether the line ends here. A blank right
// before the newline continues the line for -L, so the newline then goes
// unread as such.
func (it *items) endOfLine() bool {
	for {
		next, err := it.in.Peek(1)
		if err != nil {
			return true
		}
		switch next[0] {
		case ' ', '\t':
			it.in.ReadByte()
		case '\n':
			it.in.ReadByte()
			return false
		default:
			return false
		}
	}
}
