package sort

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"strings"

	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// compare compares two lines by all keys and, if so wanted, as a whole.
func (s *sorter) compare(a, b *line) int { return s.compareFrom(a, b, 0) }

func (s *sorter) compareFrom(a, b *line, first int) int {
	for i := first; i < len(s.keys); i++ {
		k := &s.keys[i]
		if r := k.compare(s.keyText(a, i), s.keyText(b, i)); r != 0 {
			if k.reverse {
				return -r
			}
			return r
		}
	}
	if len(s.keys) > 0 && (s.stable || s.unique) {
		return 0
	}
	r := bytes.Compare(s.text[a.start:a.end], s.text[b.start:b.end])
	if s.reverse {
		return -r
	}
	return r
}

func (s *sorter) keyText(l *line, i int) []byte {
	if i == 0 {
		return s.text[l.key:l.keyEnd]
	}
	text := s.text[l.start:l.end]
	a, b := s.keyOf(&s.keys[i], text)
	return text[a:b]
}

func (k *key) compare(a, b []byte) int {
	switch k.kind {
	case byNumber:
		return compareNumbers(a, b)
	case byGeneral:
		return compareGeneral(a, b)
	case byHuman:
		if r := cmp.Compare(unitOrder(a), unitOrder(b)); r != 0 {
			return r
		}
		return compareNumbers(a, b)
	case byMonth:
		return cmp.Compare(month(a), month(b))
	case byVersion:
		return applet.CompareVersions(string(k.plain(a)), string(k.plain(b)))
	case byRandom:
		if r := cmp.Compare(maphash.Bytes(seed, a), maphash.Bytes(seed, b)); r != 0 {
			return r
		}
	}
	if !k.dict && !k.print && !k.fold {
		return bytes.Compare(a, b)
	}
	i, j := 0, 0
	for {
		for i < len(a) && k.ignores(a[i]) {
			i++
		}
		for j < len(b) && k.ignores(b[j]) {
			j++
		}
		if i == len(a) || j == len(b) {
			return cmp.Compare(len(a)-i, len(b)-j)
		}
		if x, y := k.folded(a[i]), k.folded(b[j]); x != y {
			return cmp.Compare(x, y)
		}
		i++
		j++
	}
}

// seed makes -R another order in every run.
var seed = maphash.MakeSeed()

// plain returns text as -d, -f and -i change it.
func (k *key) plain(text []byte) []byte {
	if !k.dict && !k.print && !k.fold {
		return text
	}
	var out []byte
	for _, c := range text {
		if !k.ignores(c) {
			out = append(out, k.folded(c))
		}
	}
	return out
}

func (k *key) ignores(c byte) bool {
	switch {
	case k.dict:
		return !isBlank(c) && (c < '0' || c > '9') && (c|32 < 'a' || c|32 > 'z')
	case k.print:
		return c < ' ' || c >= 127
	}
	return false
}

func (k *key) folded(c byte) byte {
	if k.fold && c >= 'a' && c <= 'z' {
		return c - 32
	}
	return c
}

// number is a decimal number as it stands in text, without leading zeros.
type number struct {
	negative      bool
	digits, after []byte // before and after the point
}

func parseNumber(t []byte) (n number) {
	for len(t) > 0 && isBlank(t[0]) {
		t = t[1:]
	}
	if len(t) > 0 && t[0] == '-' {
		n.negative = true
		t = t[1:]
	}
	i := 0
	for i < len(t) && t[i] == '0' {
		i++
	}
	start := i
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	n.digits = t[start:i]
	if i < len(t) && t[i] == '.' {
		t = t[i+1:]
		i = 0
		for i < len(t) && t[i] >= '0' && t[i] <= '9' {
			i++
		}
		n.after = bytes.TrimRight(t[:i], "0")
	}
	if len(n.digits) == 0 && len(n.after) == 0 {
		n.negative = false
	}
	return n
}

func compareNumbers(a, b []byte) int {
	x, y := parseNumber(a), parseNumber(b)
	if x.negative != y.negative {
		if x.negative {
			return -1
		}
		return 1
	}
	r := cmp.Compare(len(x.digits), len(y.digits))
	if r == 0 {
		r = bytes.Compare(x.digits, y.digits)
	}
	if r == 0 {
		r = bytes.Compare(x.after, y.after)
	}
	if x.negative {
		return -r
	}
	return r
}

// unitOrder returns the rank of a number's unit, negative for a negative one.
func unitOrder(t []byte) int {
	for len(t) > 0 && isBlank(t[0]) {
		t = t[1:]
	}
	sign := 1
	if len(t) > 0 && t[0] == '-' {
		sign = -1
		t = t[1:]
	}
	nonzero, i := false, 0
	digits := func() {
		for i < len(t) && t[i] >= '0' && t[i] <= '9' {
			nonzero = nonzero || t[i] != '0'
			i++
		}
	}
	digits()
	if i < len(t) && t[i] == '.' {
		i++
		digits()
	}
	if !nonzero || i == len(t) {
		return 0
	}
	if t[i] == 'k' {
		return sign
	}
	return sign * (strings.IndexByte("KMGTPEZY", t[i]) + 1)
}

// compareGeneral orders what is no number before NaN before all numbers.
func compareGeneral(a, b []byte) int {
	x, xok := general(a)
	y, yok := general(b)
	if !xok || !yok {
		switch {
		case xok == yok:
			return 0
		case xok:
			return 1
		}
		return -1
	}
	return cmp.Compare(x, y) // which puts NaN first, too
}

// general reads the number at the start of t.
func general(t []byte) (float64, bool) {
	f, n := cformat.ParseFloat(string(t))
	return f, n > 0
}

// month returns 1 to 12, or 0 for what is no month's name.
func month(t []byte) int {
	for len(t) > 0 && isBlank(t[0]) {
		t = t[1:]
	}
	if len(t) < 3 {
		return 0
	}
	i := strings.Index("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", strings.ToUpper(string(t[:3])))
	if i < 0 || i%4 != 0 {
		return 0
	}
	return i/4 + 1
}
