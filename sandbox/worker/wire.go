package worker

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// An encoder builds a frame: the room for the head comes first, so that one
// write sends it.
type encoder struct{ b []byte }

func newEncoder(size int) *encoder {
	return &encoder{b: make([]byte, headSize, headSize+size)}
}

func (e *encoder) byte(v byte)        { e.b = append(e.b, v) }
func (e *encoder) int(v int64)        { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) uint(v uint64)      { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) bytes(p []byte)     { e.uint(uint64(len(p))); e.b = append(e.b, p...) }
func (e *encoder) string(s string)    { e.uint(uint64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) strings(s []string) { list(e, s, e.string) }

func (e *encoder) bool(v bool) {
	if v {
		e.byte(1)
	} else {
		e.byte(0)
	}
}

// time keeps the zero time.
func (e *encoder) time(t time.Time) {
	e.bool(!t.IsZero())
	if !t.IsZero() {
		e.int(t.Unix())
		e.int(int64(t.Nanosecond()))
	}
}

func list[T any](e *encoder, s []T, put func(T)) {
	e.uint(uint64(len(s)))
	for _, v := range s {
		put(v)
	}
}

// A decoder takes a body apart. Its first error stays, and everything read
// after it is zero: callers look once, with end. Bytes and strings are copies
// or share the body, which belongs to the decoder.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errProtocol, what)
	}
	d.b = nil
}

// end returns the first error; bytes that are left over are one.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail("more than expected")
	}
	return d.err
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("a short message")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bool() bool {
	v := d.byte()
	if v > 1 {
		d.fail("neither true nor false")
	}
	return v == 1
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail("a number")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("a number")
		return 0
	}
	d.b = d.b[n:]
	return v
}

// small reads a number from 0 to most.
func (d *decoder) small(most int) int {
	v := d.uint()
	if v > uint64(most) {
		d.fail("a number out of its range")
		return 0
	}
	return int(v)
}

func (d *decoder) int32() int {
	v := d.int()
	if v > math.MaxInt32 || v < math.MinInt32 {
		d.fail("a number out of its range")
		return 0
	}
	return int(v)
}

func (d *decoder) bytes() []byte {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail("a length beyond the message")
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) strings() []string { return many(d, 1, d.string) }

func (d *decoder) time() time.Time {
	if !d.bool() {
		return time.Time{}
	}
	sec, nsec := d.int(), d.int()
	if nsec < 0 || nsec > 999_999_999 {
		d.fail("a time")
		return time.Time{}
	}
	return time.Unix(sec, nsec)
}

// many reads a list whose members take at least least bytes each, so that a
// count alone can claim no memory. The list is never nil.
func many[T any](d *decoder, least int, get func() T) []T {
	n := d.uint()
	if n > uint64(len(d.b)/least) {
		d.fail("a count beyond the message")
		return []T{}
	}
	s := make([]T, 0, n)
	for range n {
		if s = append(s, get()); d.err != nil {
			return []T{}
		}
	}
	return s
}
