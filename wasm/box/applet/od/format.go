package od

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// format is one type of fields.
type format struct {
	kind  byte // a c d f o u x
	size  int  // bytes of a field
	field int  // columns of a field without what separates it
	pad   int  // columns of a line that are left for separation
	text  bool // followed by the printable characters
}

// digits holds the columns of fields of 1, 2, 4 and 8 bytes.
var digits = map[byte][4]int{'d': {4, 6, 11, 20}, 'o': {3, 6, 11, 22}, 'u': {3, 5, 10, 20}, 'x': {2, 4, 8, 16}}

// add adds the formats of a type string.
func (d *dumper) add(spec string) error {
	rest := spec
	for first := true; rest != "" || first; first = false {
		if rest == "" {
			return errors.New("invalid type string " + applet.Curly(spec))
		}
		f := format{kind: rest[0], size: 1, field: 3}
		rest = rest[1:]
		switch f.kind {
		case 'a', 'c':
		case 'd', 'o', 'u', 'x':
			size, after, err := sizeOf(rest, "CSIL", []int{1, 2, 4, 8}, 4)
			if err != nil || size != 1 && size != 2 && size != 4 && size != 8 {
				return invalid(spec, size, "integral", err)
			}
			f.size, rest = size, after
			f.field = digits[f.kind][log2(size)]
		case 'f':
			size, after, err := sizeOf(rest, "FDL", []int{4, 8, 16}, 8)
			if err != nil || size != 4 && size != 8 {
				return invalid(spec, size, "floating-point", err)
			}
			f.size, rest = size, after
			f.field = map[int]int{4: 15, 8: 24}[size]
		default:
			return errors.New("invalid character " + applet.Quote(string(rune(f.kind))) + " in type string " + applet.Curly(spec))
		}
		if strings.HasPrefix(rest, "z") {
			f.text = true
			rest = rest[1:]
		}
		d.formats = append(d.formats, f)
	}
	return nil
}

func invalid(spec string, size int, what string, err error) error {
	if err != nil {
		return errors.New("invalid type string " + applet.Curly(spec))
	}
	return errors.New("invalid type string " + applet.Curly(spec) + ";\nthis system doesn't provide a " + strconv.Itoa(size) + "-byte " + what + " type")
}

func log2(n int) int {
	i := 0
	for n > 1 {
		n >>= 1
		i++
	}
	return i
}

func sizeOf(s, letters string, sizes []int, standard int) (size int, rest string, err error) {
	if s != "" {
		if i := strings.IndexByte(letters, s[0]); i >= 0 {
			return sizes[i], s[1:], nil
		}
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return standard, s, nil
	}
	size, err = strconv.Atoi(s[:n])
	return size, s[n:], err
}

// line appends the fields of a block, an unfinished last one filled with
// zeros.
func (d *dumper) line(f *format, block []byte) {
	fields := d.width / f.size
	used := (len(block) + f.size - 1) / f.size
	left := f.pad
	for i := fields; i > fields-used; i-- {
		next := f.pad * (i - 1) / fields
		start := (fields - i) * f.size
		var raw [8]byte
		copy(raw[:f.size], block[start:min(len(block), start+f.size)])
		d.out = applet.AppendPad(d.out, d.value(f, raw[:f.size]), left-next+f.field)
		left = next
	}
	if !f.text {
		return
	}
	blank := (fields - used) * f.field
	blank += f.pad * (fields - used) / fields
	d.out = append(d.out, strings.Repeat(" ", blank)...)
	d.out = append(d.out, "  >"...)
	for _, c := range block {
		if c < ' ' || c >= 127 {
			c = '.'
		}
		d.out = append(d.out, c)
	}
	d.out = append(d.out, '<')
}

// names are those of the characters for the type a.
var names = strings.Fields("nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp")

func (d *dumper) value(f *format, raw []byte) string {
	c := raw[0]
	switch f.kind {
	case 'a':
		switch c &= 0x7f; {
		case int(c) < len(names):
			return names[c]
		case c == 127:
			return "del"
		}
		return string(rune(c))
	case 'c':
		if i := strings.IndexByte("\x00\a\b\f\n\r\t\v", c); i >= 0 {
			return `\` + "0abfnrtv"[i:i+1]
		}
		if c >= ' ' && c < 127 {
			return string(rune(c))
		}
		return zeros(strconv.FormatUint(uint64(c), 8), 3)
	}
	n := uint64(0)
	for i := range raw {
		if d.big {
			n = n<<8 | uint64(raw[i])
		} else {
			n |= uint64(raw[i]) << (8 * i)
		}
	}
	switch f.kind {
	case 'd':
		shift := 64 - 8*f.size
		return strconv.FormatInt(int64(n<<shift)>>shift, 10)
	case 'u':
		return strconv.FormatUint(n, 10)
	case 'o':
		return zeros(strconv.FormatUint(n, 8), f.field)
	case 'x':
		return zeros(strconv.FormatUint(n, 16), f.field)
	}
	v := math.Float64frombits(n)
	bits := 64
	if f.size == 4 {
		v, bits = float64(math.Float32frombits(uint32(n))), 32
	}
	return shortest(v, bits)
}

// shortest writes a float with as few digits as tell it from its neighbours.
func shortest(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		if math.Signbit(v) {
			return "-nan"
		}
		return "nan"
	case math.IsInf(v, 0):
		if v < 0 {
			return "-inf"
		}
		return "inf"
	}
	e := strconv.FormatFloat(v, 'e', -1, bits)
	i := strings.IndexByte(e, 'e')
	mantissa := strings.Replace(strings.TrimPrefix(e[:i], "-"), ".", "", 1)
	exp, _ := strconv.Atoi(e[i+1:])
	// As %g with just enough precision, which is at least 6 or 15.
	prec := max(len(mantissa), map[int]int{32: 6, 64: 15}[bits])
	if exp < -4 || exp >= prec {
		return e
	}
	return strconv.FormatFloat(v, 'f', -1, bits)
}

func zeros(s string, width int) string {
	return strings.Repeat("0", max(0, width-len(s))) + s
}
