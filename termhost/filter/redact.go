// Package filter changes what a command writes before anybody sees it: it
// takes out what a policy wants hidden ([Redactor]) and the sequences that
// would steer a terminal ([Screen], [Visible]). Both work on endless streams in
// bounded memory, whatever the pieces in which the bytes come.
package filter

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/donax-sh/donax/policy"
)

// Window is how many bytes a Redactor holds back at most while it cannot tell
// yet whether they belong to a match. What exceeds it is hidden: a text is
// shown too little rather than too much.
const Window = 64 << 10

// A Redactor is a writer that replaces what matches a policy's redactions and
// passes on the rest. All matches of all patterns are found, also those that
// overlap, as long as they can become, whatever terminal sequences are mixed
// in; each stretch of bytes that they cover becomes one replacement, that of
// the match that starts first. Bytes that need not be text are passed on as
// they are.
//
// It holds back only bytes that may yet turn out to belong to a match, and at
// most [Window] of them. It is safe for concurrent use.
type Redactor struct {
	mu    sync.Mutex
	w     io.Writer
	rules []*rule
	first [256]bool // bytes with which a match can start

	pend []byte // written and neither passed on nor hidden
	base int64  // offset of pend[0]; offsets count from the first byte written
	at   int64  // offset up to which the machines have read
	done int64  // end of the last stretch that was replaced

	all     *lane // reads everything
	visible *lane // reads what a terminal would show, from the first sequence on; nil while that is the same
	spans   []span
	scan    scanner
	err     error
}

// rule is one compiled redaction.
type rule struct {
	prog, until *program // until may be nil
	text        []byte
}

// span is a stretch of the stream that must not be seen.
type span struct {
	from, to int64
	text     []byte
}

// NewRedactor returns a Redactor on w. The error is that of
// [policy.Redaction.Check].
func NewRedactor(w io.Writer, list []policy.Redaction) (*Redactor, error) {
	r := &Redactor{w: w}
	for _, p := range list {
		if err := p.Check(); err != nil {
			return nil, err
		}
		one := &rule{text: []byte(p.Replace)}
		if p.Replace == "" {
			one.text = []byte("[" + p.Name + "]")
		}
		var err error
		if one.prog, err = compile(p.Pattern); err == nil && p.Until != "" {
			one.until, err = compile(p.Until)
		}
		if err != nil {
			return nil, fmt.Errorf("redaction %q: %w", p.Name, err)
		}
		for c, can := range one.prog.first {
			r.first[c] = r.first[c] || can
		}
		r.rules = append(r.rules, one)
	}
	r.all = newLane(r.rules)
	return r, nil
}

// Write takes all of p. The error is that of the writer below, at this write
// or an earlier one.
func (r *Redactor) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rest := p; len(rest) > 0; { // in pieces, so that a large write needs no second copy of itself
		n := min(len(rest), Window/2)
		r.pend = append(r.pend, rest[:n]...)
		rest = rest[n:]
		r.read(false)
		r.release(false)
	}
	if r.err != nil {
		return 0, r.err
	}
	return len(p), nil
}

// Flush passes on what was held back: nothing more will be written.
func (r *Redactor) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read(true)
	r.release(true)
	return r.err
}

// read lets the machines read what is pending.
func (r *Redactor) read(final bool) {
	b := r.pend[r.at-r.base:]
	for len(b) > 0 {
		if r.visible == nil && r.all.idle() {
			if n := r.skip(b); n > 0 {
				last, _ := utf8.DecodeLastRune(b[:n])
				r.all.prev = last
				r.at += int64(n)
				r.all.end = r.at
				b = b[n:]
				continue
			}
		}
		if !final && !utf8.FullRune(b) {
			break // the rest of the character comes with the next write
		}
		c, n := utf8.DecodeRune(b)
		r.step(c, n)
		b = b[n:]
	}
	for _, l := range r.lanes() {
		l.settle(r, final)
	}
}

// skip counts bytes at the start of b with which no match and no terminal
// sequence can start. Nothing is under way then.
func (r *Redactor) skip(b []byte) int {
	for i, c := range b {
		if r.first[c] || c < 0x20 && invisible[c] || c >= 0x7f && (c == 0x7f || c == 0xc2) { // U+0080 to U+009F start with C2
			return i
		}
	}
	return len(b)
}

// step reads one character.
func (r *Redactor) step(c rune, n int) {
	shown := r.scan.shows(c)
	if !shown && r.visible == nil {
		r.visible = r.all.clone()
	}
	r.all.step(r, c, r.at, n)
	if r.visible != nil && shown {
		r.visible.step(r, c, r.at, n)
	}
	r.at += int64(n)
	if r.visible != nil && r.scan.state == ground && r.all.idle() && r.visible.idle() {
		r.visible = nil
	}
}

func (r *Redactor) lanes() []*lane {
	if r.visible == nil {
		return []*lane{r.all}
	}
	return []*lane{r.all, r.visible}
}

// cover hides a stretch. Stretches that overlap become one.
func (r *Redactor) cover(from, to int64, text []byte) {
	if to <= from || to <= r.base {
		return
	}
	s := span{from, to, text}
	i := len(r.spans)
	for i > 0 && r.spans[i-1].to > from { // nearly always the last one, if any
		i--
	}
	j := i
	for ; j < len(r.spans) && r.spans[j].from < to; j++ {
		if o := r.spans[j]; o.from <= s.from {
			s.from, s.text = o.from, o.text
		}
		s.to = max(s.to, r.spans[j].to)
	}
	r.spans = slices.Replace(r.spans, i, j, s)
}

// release passes on what is decided.
func (r *Redactor) release(final bool) {
	hold, text := int64(math.MaxInt64), []byte(nil)
	if !final {
		hold = r.at
		for _, l := range r.lanes() {
			if from, t := l.oldest(); from < hold {
				hold, text = from, t
			}
		}
		if len(r.pend) > Window && text != nil { // too long to wait for
			r.cover(hold, r.at, text)
		}
	}
	p, end := r.base, r.base+int64(len(r.pend))
	for p < end {
		for len(r.spans) > 0 && r.spans[0].to <= p {
			r.spans = r.spans[1:]
		}
		limit := min(hold, end)
		if len(r.spans) > 0 {
			if s := r.spans[0]; s.from <= p {
				if s.from >= r.done { // otherwise it goes on with what was replaced before
					if s.from > hold {
						break // one that started earlier may yet cover it
					}
					r.put(s.text)
				}
				p = s.to
				r.done = p
				continue
			}
			limit = min(limit, r.spans[0].from)
		}
		if limit <= p {
			break
		}
		r.put(r.pend[p-r.base : limit-r.base])
		p = limit
	}
	if p > r.base {
		r.pend = append(r.pend[:0], r.pend[p-r.base:]...)
		r.base = p
	}
}

func (r *Redactor) put(b []byte) {
	if r.err == nil {
		_, r.err = r.w.Write(b)
	}
}
