package bc

import (
	"math/big"
	"strconv"
	"strings"
)

// A num is a decimal number: v / 10^scale. Its v is never changed.
type num struct {
	v     *big.Int
	scale int
}

var (
	bigOne  = big.NewInt(1)
	bigTen  = big.NewInt(10)
	numZero = num{new(big.Int), 0}
	numOne  = num{bigOne, 0}
)

func fromInt(n int64) num { return num{big.NewInt(n), 0} }

func fromBool(b bool) num {
	if b {
		return numOne
	}
	return numZero
}

// pow10 returns 10^n.
func pow10(n int) *big.Int { return new(big.Int).Exp(bigTen, big.NewInt(int64(n)), nil) }

// rescale returns a with scale digits after the point, cut off, not rounded.
func (a num) rescale(scale int) num {
	switch d := scale - a.scale; {
	case d > 0:
		return num{new(big.Int).Mul(a.v, pow10(d)), scale}
	case d < 0:
		return num{new(big.Int).Quo(a.v, pow10(-d)), scale}
	}
	return a
}

func (a num) isZero() bool { return a.v.Sign() == 0 }

func (a num) neg() num { return num{new(big.Int).Neg(a.v), a.scale} }

func align(a, b num) (num, num) {
	s := max(a.scale, b.scale)
	return a.rescale(s), b.rescale(s)
}

func (a num) add(b num) num {
	a, b = align(a, b)
	return num{new(big.Int).Add(a.v, b.v), a.scale}
}

func (a num) sub(b num) num { return a.add(b.neg()) }

func (a num) cmp(b num) int {
	a, b = align(a, b)
	return a.v.Cmp(b.v)
}

// mul multiplies; of the exact product's digits so many stay as the longer
// operand has, or scale.
func (a num) mul(b num, scale int) num {
	exact := num{new(big.Int).Mul(a.v, b.v), a.scale + b.scale}
	return exact.rescale(min(exact.scale, max(scale, a.scale, b.scale)))
}

// div divides by b, which is not zero.
func (a num) div(b num, scale int) num {
	v := new(big.Int).Mul(a.v, pow10(max(0, scale+b.scale-a.scale)))
	v.Quo(v, b.v)
	if cut := a.scale - b.scale - scale; cut > 0 {
		v.Quo(v, pow10(cut))
	}
	return num{v, scale}
}

// mod is a-(a/b)*b with a quotient of scale digits; b is not zero.
func (a num) mod(b num, scale int) num {
	rest := max(a.scale, b.scale+scale)
	q := a.div(b, scale)
	return a.sub(q.mul(b, rest)).rescale(rest)
}

// pow raises a to an integer; the caller has bounded e.
func (a num) pow(e int64, scale int) (num, bool) {
	n := e
	if n < 0 {
		n = -n
	}
	exact := num{new(big.Int).Exp(a.v, big.NewInt(n), nil), a.scale * int(n)}
	if e < 0 {
		if exact.isZero() {
			return num{}, false
		}
		return numOne.div(exact, scale), true
	}
	return exact.rescale(min(exact.scale, max(scale, a.scale))), true
}

// sqrt returns the root of a, which is not negative.
func (a num) sqrt(scale int) num {
	scale = max(scale, a.scale)
	return num{new(big.Int).Sqrt(a.rescale(2 * scale).v), scale}
}

// digits is what length() counts: those of the number, without zeros before
// the first of them left of the point.
func (a num) digits() int {
	n := len(new(big.Int).Abs(a.v).String())
	if a.isZero() {
		n = 1
	}
	return max(n, a.scale)
}

// int64 returns the integer part, cut at the ends of its range.
func (a num) int64() int64 {
	v := a.rescale(0).v
	if v.IsInt64() {
		return v.Int64()
	}
	if v.Sign() < 0 {
		return -1 << 63
	}
	return 1<<63 - 1
}

// parseNum reads a number as it stands in a program. A digit too great for
// the base counts as the greatest one, except in a number of one digit.
func parseNum(text string, base int) num {
	whole, frac, _ := strings.Cut(text, ".")
	if base == 10 && !strings.ContainsAny(text, "ABCDEF") {
		v, _ := new(big.Int).SetString("0"+whole+frac, 10)
		return num{v, len(frac)}
	}
	clip := len(whole)+len(frac) > 1
	value := func(digits string) *big.Int {
		v, b := new(big.Int), big.NewInt(int64(base))
		for i := 0; i < len(digits); i++ {
			d := int64(digits[i] - '0')
			if digits[i] >= 'A' {
				d = int64(digits[i]-'A') + 10
			}
			if clip && d >= int64(base) {
				d = int64(base) - 1
			}
			v.Mul(v, b).Add(v, big.NewInt(d))
		}
		return v
	}
	n := num{value(whole), 0}
	if frac == "" {
		return n
	}
	if base == 10 {
		return n.add(num{value(frac), len(frac)})
	}
	parts := num{new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(len(frac))), nil), 0}
	return n.add(num{value(frac), 0}.div(parts, len(frac)))
}

// format writes a as bc prints it in a base of at least 2.
func (a num) format(base int) string {
	if a.isZero() {
		return "0"
	}
	var b strings.Builder
	if a.v.Sign() < 0 {
		b.WriteByte('-')
	}
	abs := num{new(big.Int).Abs(a.v), a.scale}
	whole := abs.rescale(0)
	frac := abs.sub(whole)
	if base == 10 {
		if !whole.isZero() {
			b.WriteString(whole.v.String())
		}
		if a.scale > 0 {
			digits := frac.v.String()
			b.WriteString("." + strings.Repeat("0", a.scale-len(digits)) + digits)
		}
		return b.String()
	}
	width := len(strconv.Itoa(base - 1))
	digit := func(d int64, space bool) string {
		if base <= 16 {
			return string("0123456789ABCDEF"[d])
		}
		s := strconv.FormatInt(d, 10)
		s = strings.Repeat("0", width-len(s)) + s
		if space {
			s = " " + s
		}
		return s
	}
	b.WriteString(wholeDigits(whole.v, base, digit))
	if a.scale == 0 {
		return b.String()
	}
	b.WriteByte('.')
	bigBase := big.NewInt(int64(base))
	limit := pow10(a.scale)
	for reach, first := big.NewInt(1), true; reach.Cmp(limit) < 0; reach.Mul(reach, bigBase) {
		frac = num{new(big.Int).Mul(frac.v, bigBase), frac.scale}
		d := frac.rescale(0)
		frac = frac.sub(d)
		b.WriteString(digit(d.v.Int64(), !first))
		first = false
	}
	return b.String()
}

// wholeDigits writes the digits of v in a base.
func wholeDigits(v *big.Int, base int, digit func(d int64, space bool) string) string {
	if base <= 16 {
		if v.Sign() == 0 {
			return ""
		}
		return strings.ToUpper(v.Text(base))
	}
	var digits []int64
	rest, d, b := new(big.Int).Set(v), new(big.Int), big.NewInt(int64(base))
	for rest.Sign() > 0 {
		rest.QuoRem(rest, b, d)
		digits = append(digits, d.Int64())
	}
	var s strings.Builder
	for i := len(digits) - 1; i >= 0; i-- {
		s.WriteString(digit(digits[i], true))
	}
	return s.String()
}
