package hexdump

import (
	"errors"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/cformat"
)

// A unit is `COUNT/SIZE "TEXT"`: text that is printed so many times, each time
// for the next bytes.
type unit struct {
	times  int
	given  bool // the count was given
	pieces []piece
	size   int // bytes that all pieces take
}

// A piece is plain text, or one conversion.
type piece struct {
	text string // when kind is 0
	kind byte   // d, x, f, s, c; or of %_: a and A (address), C (%_c), p, u
	base int    // of d and x, and of addresses
	size int    // bytes that it takes
	spec cformat.Spec
}

// parseFormat reads the units of a format.
func parseFormat(format string) (units []unit, err error) {
	bad := errors.New("bad format {" + format + "}")
	rest := strings.TrimLeft(format, " \t\n")
	for rest != "" {
		u := unit{times: 1}
		size := 0
		n, after := cformat.Number(rest)
		if len(after) < len(rest) {
			u.times, u.given = n, true
			if rest = strings.TrimLeft(after, " \t"); rest == "" {
				return nil, bad
			}
		}
		if rest[0] == '/' {
			n, after := cformat.Number(rest[1:])
			if len(after) == len(rest)-1 {
				return nil, bad
			}
			size, rest = n, after
		}
		rest = strings.TrimLeft(rest, " \t\n")
		if rest == "" || rest[0] != '"' {
			return nil, bad
		}
		end := 1
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			return nil, bad
		}
		if err := u.parse(rest[1:end], size); err != nil {
			return nil, err
		}
		units = append(units, u)
		rest = strings.TrimLeft(rest[end+1:], " \t\n")
	}
	if len(units) == 0 {
		return nil, bad
	}
	return units, nil
}

// parse reads the text of a unit whose conversions take size bytes each; 0
// means as many as each usually does.
func (u *unit) parse(text string, size int) error {
	var b []byte // plain text so far
	flush := func() {
		if len(b) > 0 {
			u.pieces = append(u.pieces, piece{text: string(b)})
			b = nil
		}
	}
	conversions := 0
	for text != "" {
		if text[0] != '%' || strings.HasPrefix(text, "%%") {
			switch {
			case text[0] == '%':
				b, text = append(b, '%'), text[2:]
			case text[0] == '\\' && len(text) > 1:
				c := text[1]
				if i := strings.IndexByte("abfnrtv0", c); i >= 0 {
					c = "\a\b\f\n\r\t\v\x00"[i]
				}
				b, text = append(b, c), text[2:]
			default:
				b, text = append(b, text[0]), text[1:]
			}
			continue
		}
		flush()
		p := piece{spec: cformat.Spec{Prec: -1}}
		rest := p.spec.Flags(text[1:])
		p.spec.Width, rest = cformat.Number(rest)
		if strings.HasPrefix(rest, ".") {
			p.spec.Prec, rest = cformat.Number(rest[1:])
		}
		used, err := p.convert(rest, size)
		if err != nil {
			return err
		}
		text = rest[used:]
		if p.size > 0 {
			if conversions++; conversions > 1 && size > 0 {
				return errors.New("byte count with multiple conversion characters")
			}
		}
		u.size += p.size
		u.pieces = append(u.pieces, p)
	}
	flush()
	return nil
}

// convert reads a conversion after its flags, width and precision, and tells
// how long it is.
func (p *piece) convert(text string, size int) (used int, err error) {
	name := text[:min(1, len(text))]
	if strings.HasPrefix(text, "_") {
		name = text[:min(2, len(text))]
	}
	p.spec.Verb = 'd'
	sizes := ""
	switch name {
	case "d", "i":
		p.kind, p.base, sizes = 'd', 10, "4128"
	case "u", "o", "x", "X":
		p.kind, p.base, sizes = 'x', map[string]int{"u": 10, "o": 8, "x": 16, "X": 16}[name], "4128"
		p.spec.Verb = name[0]
	case "e", "E", "f", "F", "g", "G":
		p.kind, sizes = 'f', "84"
		p.spec.Verb = name[0]
	case "c":
		p.kind, sizes = 'c', "1"
	case "s":
		p.kind, p.size = 's', size
		if size == 0 {
			if p.size = p.spec.Prec; p.size < 0 {
				return 0, errors.New("%s requires a precision or a byte count")
			}
		}
		return 1, nil
	case "_c":
		p.kind, sizes = 'C', "1"
	case "_p":
		p.kind, sizes = 'p', "1"
	case "_u":
		p.kind, sizes = 'u', "1"
	case "_a", "_A":
		bases := map[string]int{"d": 10, "o": 8, "x": 16}
		if len(text) < 3 || bases[text[2:3]] == 0 {
			return 0, errors.New("bad conversion character %" + text[:min(3, len(text))])
		}
		p.kind, p.base = name[1], bases[text[2:3]]
		p.spec.Verb = map[int]byte{10: 'u', 8: 'o', 16: 'x'}[p.base]
		return 3, nil
	default:
		return 0, errors.New("bad conversion character %" + name)
	}
	p.size = size
	if size == 0 {
		p.size = int(sizes[0] - '0')
	} else if len(strconv.Itoa(size)) > 1 || !strings.Contains(sizes, strconv.Itoa(size)) {
		return 0, errors.New("bad byte count for conversion character " + name[len(name)-1:])
	}
	return len(name), nil
}
