package bc

import "math/big"

// The functions of -l. Each works with more digits than asked for and cuts
// its result, as bc does with everything.

const guard = 12 // digits that rounding in between may spoil

// A fixed computes with numbers of prec digits after the point.
type fixed struct {
	prec int
	one  *big.Int
}

func newFixed(prec int) fixed { return fixed{prec, pow10(prec)} }

func (f fixed) mul(a, b *big.Int) *big.Int {
	v := new(big.Int).Mul(a, b)
	return v.Quo(v, f.one)
}

func (f fixed) div(a, b *big.Int) *big.Int {
	v := new(big.Int).Mul(a, f.one)
	return v.Quo(v, b)
}

func (f fixed) sqrt(a *big.Int) *big.Int {
	v := new(big.Int).Mul(a, f.one)
	return v.Sqrt(v)
}

// exp is e^x.
func exp(x num, scale int) num {
	if x.v.Sign() < 0 {
		return numOne.div(exp(x.neg(), scale+guard), scale)
	}
	// e^x has so many digits before the point, which the squarings below need too.
	whole := int(x.int64()/2 + 1)
	f := newFixed(scale + guard + whole)
	v := new(big.Int).Set(x.rescale(f.prec).v)
	halved := 0
	for v.CmpAbs(f.one) > 0 {
		v.Rsh(v, 1)
		halved++
	}
	sum, term := new(big.Int).Set(f.one), new(big.Int).Set(f.one)
	for i := int64(1); term.Sign() != 0; i++ {
		term = f.mul(term, v)
		term.Quo(term, big.NewInt(i))
		sum.Add(sum, term)
	}
	for ; halved > 0; halved-- {
		sum = f.mul(sum, sum)
	}
	return num{sum, f.prec}.rescale(scale)
}

// log is the natural logarithm of x, which is positive.
func log(x num, scale int) num {
	f := newFixed(scale + guard + x.digits())
	v := x.rescale(f.prec).v
	two := new(big.Int).Lsh(f.one, 1)
	half := new(big.Int).Rsh(f.one, 1)
	roots := uint(1)
	for v.Cmp(two) >= 0 || v.Cmp(half) <= 0 {
		v = f.sqrt(v)
		roots++
	}
	// ln v = 2 artanh((v-1)/(v+1))
	z := f.div(new(big.Int).Sub(v, f.one), new(big.Int).Add(v, f.one))
	square, term, sum := f.mul(z, z), new(big.Int).Set(z), new(big.Int).Set(z)
	for i := int64(3); term.Sign() != 0; i += 2 {
		term = f.mul(term, square)
		sum.Add(sum, new(big.Int).Quo(term, big.NewInt(i)))
	}
	return num{sum.Lsh(sum, roots), f.prec}.rescale(scale)
}

// arctan is the angle whose tangent is x.
func (f fixed) arctan(x *big.Int) *big.Int {
	small := new(big.Int).Quo(f.one, big.NewInt(5))
	halved := uint(0)
	for x.CmpAbs(small) > 0 {
		root := f.sqrt(new(big.Int).Add(f.one, f.mul(x, x)))
		x = f.div(x, root.Add(root, f.one))
		halved++
	}
	square, term, sum := f.mul(x, x), new(big.Int).Set(x), new(big.Int).Set(x)
	for i := int64(3); term.Sign() != 0; i += 2 {
		term = f.mul(term, square)
		term.Neg(term)
		sum.Add(sum, new(big.Int).Quo(term, big.NewInt(i)))
	}
	return sum.Lsh(sum, halved)
}

func arctan(x num, scale int) num {
	f := newFixed(scale + guard)
	return num{f.arctan(x.rescale(f.prec).v), f.prec}.rescale(scale)
}

// sin is the sine of x; cos(x) is sin(x + half a turn / 2).
func sin(x num, scale int, quarter bool) num {
	f := newFixed(scale + guard + x.digits())
	quarterTurn := f.arctan(f.one)
	quarterTurn.Lsh(quarterTurn, 1)
	v := new(big.Int).Set(x.rescale(f.prec).v)
	if quarter {
		v.Add(v, quarterTurn)
	}
	half := new(big.Int).Lsh(quarterTurn, 1)
	turns, rest := new(big.Int).QuoRem(v, half, new(big.Int))
	square, term, sum := f.mul(rest, rest), new(big.Int).Set(rest), new(big.Int).Set(rest)
	for i := int64(2); term.Sign() != 0; i += 2 {
		term = f.mul(term, square)
		term.Quo(term, big.NewInt(-i*(i+1)))
		sum.Add(sum, term)
	}
	if turns.Bit(0) == 1 {
		sum.Neg(sum)
	}
	return num{sum, f.prec}.rescale(scale)
}

// bessel is the Bessel function of integer order n of x.
func bessel(n int64, x num, scale int) num {
	flip := false
	if n < 0 {
		n = -n
		flip = n%2 == 1
	}
	f := newFixed(scale + guard + 2*x.digits() + int(min(x.rescale(0).digits2(), 1000)))
	half := new(big.Int).Quo(x.rescale(f.prec).v, big.NewInt(2))
	term := new(big.Int).Set(f.one)
	for i := int64(1); i <= n && term.Sign() != 0; i++ {
		term = f.mul(term, half)
		term.Quo(term, big.NewInt(i))
	}
	square, sum := f.mul(half, half), new(big.Int).Set(term)
	for i := int64(1); term.Sign() != 0; i++ {
		term = f.mul(term, square)
		term.Quo(term, big.NewInt(-i*(n+i)))
		sum.Add(sum, term)
	}
	if flip {
		sum.Neg(sum)
	}
	return num{sum, f.prec}.rescale(scale)
}

// digits2 is the size of a whole number itself, for series whose terms grow
// with it before they shrink.
func (a num) digits2() int64 { return max(a.int64(), -a.int64()) }
