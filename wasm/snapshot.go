package wasm

import (
	"bytes"
	"os"
	"time"
)

// snapshot is what a machine is after its initialisation. Pages that are all
// zero are not in it: copying them would cost memory for each machine.
//
// Where the system tells which pages were written to (see [Tracker]), machines
// show the snapshot instead of having a copy, and a reset copies what the
// machine has ever written to: a command writes to some 50 pages of 1,500.
type snapshot struct {
	size    int
	parts   []part // in order; what is between them is zero
	held    int    // bytes in parts
	globals []uint64

	tracker *Tracker // nil: each machine has a copy
	file    *os.File // what machines show
	mem     []byte   // file, where parts are
}

type part struct {
	at    int
	bytes []byte
}

// hostPage is the unit in which the system gives memory.
const hostPage = 4 << 10

var zeroPage [hostPage]byte

func isZero(page []byte) bool { return bytes.Equal(page, zeroPage[:len(page)]) }

func (mc *machine) snapshot() *snapshot {
	mem := mc.alloc.bytes()
	s := &snapshot{size: len(mem)}
	for at := 0; at < len(mem); {
		end := at
		for end < len(mem) && !isZero(mem[end:min(end+hostPage, len(mem))]) {
			end = min(end+hostPage, len(mem))
		}
		if end == at {
			at += hostPage
			continue
		}
		s.parts = append(s.parts, part{at, bytes.Clone(mem[at:end])})
		s.held += end - at
		at = end
	}
	for _, g := range mc.globals {
		s.globals = append(s.globals, g.Get())
	}
	return s
}

// restore makes mem what the snapshot has. What is zero is read rather than
// written: a page that nobody has written to needs no memory.
func (s *snapshot) restore(mem []byte) {
	at := 0
	for _, p := range append(s.parts[:len(s.parts):len(s.parts)], part{at: s.size}) {
		for at < p.at {
			if page := mem[at : at+hostPage]; !isZero(page) {
				clear(page)
			}
			at += hostPage
		}
		at += copy(mem[p.at:], p.bytes)
	}
}

// rewind does the same to memory that shows the snapshot, and returns how many
// bytes of that are the machine's own. It relies on nothing that the machine
// or this process remembers: the system says what was written to.
func (s *snapshot) rewind(mem []byte) (own int, ok bool) {
	parts := s.parts
	ok = written(s.tracker.pagemap, mem[:s.size], func(at int) {
		for len(parts) > 0 && parts[0].at+len(parts[0].bytes) <= at {
			parts = parts[1:]
		}
		page := mem[at : at+hostPage]
		if len(parts) > 0 && parts[0].at <= at {
			copy(page, parts[0].bytes[at-parts[0].at:])
		} else if !isZero(page) {
			clear(page)
		}
		own += hostPage
	})
	return own, ok
}

// show makes a space show the snapshot, whatever was in it before. Short gaps
// between the parts are shown, too: a mapping is dearer than a page.
func (s *snapshot) show(sp *space) bool {
	const gap = 16 * hostPage
	if s.tracker == nil || sp.reserved == nil || len(sp.b) < s.size || !unmapImage(sp.b[:s.size]) {
		return false
	}
	sp.mapped = s.size
	for i := 0; i < len(s.parts); {
		from, end := s.parts[i].at, 0
		for ; i < len(s.parts) && (end == 0 || s.parts[i].at-end < gap); i++ {
			end = s.parts[i].at + len(s.parts[i].bytes)
		}
		if !mapPrivate(s.file, int64(from), sp.b[from:end]) {
			unmapImage(sp.b[:s.size])
			return false
		}
	}
	return true
}

// share lets machines show the snapshot, beginning with the one that it was
// taken of, if that is possible here and cheaper than a copy.
func (s *snapshot) share(t *Tracker, mc *machine) {
	sp := mc.alloc.space
	if t == nil || sp == nil || sp.reserved == nil || s.size > maxShared {
		return
	}
	if s.file = t.file(); s.file == nil {
		return
	}
	if s.mem = mapShared(s.file, s.size); s.mem == nil {
		s.close()
		return
	}
	copied := least(func() bool { s.restore(sp.b[:s.size]); return true })
	parts := make([]part, len(s.parts))
	for i, p := range s.parts {
		parts[i] = part{p.at, s.mem[p.at : p.at+len(p.bytes)]}
		copy(parts[i].bytes, p.bytes)
	}
	s.tracker = t
	if seal(s.mem) && s.show(sp) && t.holds(s, sp.b[:s.size]) && least(func() bool { _, ok := s.rewind(sp.b[:s.size]); return ok }) < copied/2 {
		s.parts, mc.alloc.shown = parts, true
		return
	}
	s.tracker = nil
	unmapImage(sp.b[:s.size])
	sp.mapped = 0
	s.restore(sp.b[:s.size])
	s.close()
}

// close lets go of the file. Machines keep what they show.
func (s *snapshot) close() {
	if s.file != nil {
		s.file.Close()
		unmapShared(s.mem)
		s.file, s.mem = nil, nil
	}
}

// least is the shortest of several runs of f, or an hour when one fails.
func least(f func() bool) time.Duration {
	d := time.Hour
	for range 3 {
		start := time.Now()
		if !f() {
			return time.Hour
		}
		d = min(d, time.Since(start))
	}
	return d
}
