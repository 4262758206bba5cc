package numfmt

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

const letters = "KMGTPEZY"

// parse reads a number with a suffix as --from allows it. prec is the number
// of digits after the point.
func (k *converter) parse(text string) (v float64, prec int, err error) {
	if k.suffix != "" {
		text = strings.TrimSuffix(text, k.suffix)
	}
	s := strings.TrimLeft(text, " \t")
	digits := s
	if strings.HasPrefix(digits, "-") {
		digits = digits[1:]
	}
	n := len(digits) - len(strings.TrimLeft(digits, "0123456789"))
	rest := digits[n:]
	whole := digits[:n]
	frac := ""
	if strings.HasPrefix(rest, ".") {
		m := len(rest) - 1 - len(strings.TrimLeft(rest[1:], "0123456789"))
		frac, rest = rest[1:1+m], rest[1+m:]
		if frac == "" {
			return 0, 0, errors.New("invalid number: " + applet.Curly(text))
		}
	}
	if whole == "" && frac == "" {
		return 0, 0, errors.New("invalid number: " + applet.Curly(text))
	}
	v, _ = strconv.ParseFloat("0"+whole+"."+frac+"0", 64)
	if s != digits {
		v = -v
	}
	prec = len(frac)
	if rest == "" {
		return v, prec, nil
	}
	power := strings.IndexByte(letters, rest[0]) + 1
	if power == 0 {
		return 0, 0, errors.New("invalid suffix in input: " + applet.Curly(text))
	}
	base := 1000.0
	tail := rest[1:]
	switch k.from {
	case none:
		return 0, 0, errors.New("rejecting suffix in input: " + applet.Curly(text) + " (consider using --from)")
	case auto:
		if strings.HasPrefix(tail, "i") {
			base, tail = 1024, tail[1:]
		}
	case iec:
		base = 1024
	case iecI:
		base = 1024
		if !strings.HasPrefix(tail, "i") {
			return 0, 0, errors.New("missing 'i' suffix in input: " + applet.Curly(text) + " (e.g Ki/Mi/Gi)")
		}
		tail = tail[1:]
	}
	if tail != "" {
		return 0, 0, errors.New("invalid suffix in input " + applet.Curly(text) + ": " + applet.Curly(tail))
	}
	return v * math.Pow(base, float64(power)), 0, nil
}

func (k *converter) rounded(v float64) float64 {
	switch k.round {
	case 0:
		return math.Ceil(v)
	case 1:
		return math.Floor(v)
	case 2:
		if v < 0 {
			return math.Floor(v)
		}
		return math.Ceil(v)
	case 3:
		return math.Trunc(v)
	}
	return math.Round(v)
}

// convert rewrites one number. column is how wide it is when nothing else says
// so, or 0.
func (k *converter) convert(text string, column int) (string, error) {
	v, prec, err := k.parse(text)
	if err != nil {
		return "", err
	}
	v = v * k.fromUnit / k.toUnit
	if k.fromUnit != 1 || k.toUnit != 1 {
		prec = 0
	}
	if k.prec >= 0 {
		prec = k.prec
	}
	var s string
	if k.to == none {
		if math.Abs(v) >= 1e18 {
			return "", errors.New("value too large to be printed: ‘" + strconv.FormatFloat(v, 'g', -1, 64) + "’ (consider using --to)")
		}
		scale := math.Pow10(prec)
		s = strconv.FormatFloat(k.rounded(v*scale)/scale, 'f', prec, 64)
	} else {
		s = k.scaled(v)
	}
	s += k.suffix
	// The format's width goes before that of --padding, whose side stays.
	width := k.padding
	switch {
	case k.width == 0:
	case k.leftAlign:
		width = -k.width
	case k.zeroPad:
		sign := ""
		if strings.HasPrefix(s, "-") {
			sign, s = "-", s[1:]
		}
		s = sign + strings.Repeat("0", max(0, k.width-len(s)-len(sign))) + s
	case width < 0:
		width = -k.width
	default:
		width = k.width
	}
	if width == 0 {
		width = column
	}
	return k.before + pad(s, width) + k.after, nil
}

// scaled writes v with a unit and at most three digits, or the format's
// number of them after the point.
func (k *converter) scaled(v float64) string {
	base := 1000.0
	if k.to != si {
		base = 1024
	}
	power := 0
	for math.Abs(v) >= base && power < len(letters) {
		v /= base
		power++
	}
	tenths := 0
	if k.prec >= 0 {
		tenths = k.prec
	} else if math.Abs(v) < 10 {
		tenths = 1
	}
	digits := tenths
	at := func() float64 {
		if k.prec >= 0 {
			tenths = min(3*power, k.prec)
		}
		scale := math.Pow10(tenths)
		// What a division left over in the last bits must not round up.
		x := v * scale
		if near := math.Round(x); math.Abs(x-near) < 1e-9*math.Max(1, math.Abs(x)) {
			return near / scale
		}
		return k.rounded(x) / scale
	}
	r := at()
	if math.Abs(r) >= base && power < len(letters) {
		v, r = r/base, r/base
		power++
		if k.prec < 0 && math.Abs(r) < 10 {
			tenths = 1
		}
		r = at()
	} else if tenths == 1 && k.prec < 0 && math.Abs(r) >= 10 {
		tenths = 0
		r = at()
	}
	if power == 0 && k.prec < 0 {
		tenths = 0
	}
	if k.prec >= 0 {
		tenths = digits
	}
	s := strconv.FormatFloat(r, 'f', tenths, 64)
	if power == 0 {
		return s
	}
	s += letters[power-1 : power]
	if k.to == iecI {
		s += "i"
	}
	return s
}
