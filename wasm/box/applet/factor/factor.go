// Package factor is the command factor.
package factor

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is factor.
var Command = applet.Command{
	Name:     "factor",
	Synopsis: "[NUMBER]...",
	Summary:  "print the prime factors of each specified integer NUMBER",
	Run:      run,
}

func run(c *applet.Ctx) int {
	args, status, ok := c.Bare()
	if !ok {
		return status
	}
	if len(args) > 0 {
		for _, a := range args {
			ok = one(c, a) && ok
		}
		return applet.Status(ok)
	}
	lines := applet.NewLines(c.Stdin, '\n')
	for {
		line, more := lines.Next()
		if !more {
			return applet.Status(ok)
		}
		for _, word := range strings.Fields(string(line)) {
			ok = one(c, word) && ok
		}
	}
}

func one(c *applet.Ctx, s string) bool {
	digits := strings.TrimPrefix(strings.TrimLeft(s, " "), "+")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		c.Flush()
		if digits != "" && strings.Trim(digits, "0123456789") == "" {
			c.Warn(applet.Curly(s), " is too large")
		} else {
			c.Warn(applet.Curly(s), " is not a valid positive integer")
		}
		return false
	}
	out := append(strconv.AppendUint(nil, n, 10), ':')
	for _, f := range factors(n) {
		out = strconv.AppendUint(append(out, ' '), f, 10)
	}
	c.Stdout.Write(append(out, '\n'))
	return true
}

// factors returns the prime factors of n in order.
func factors(n uint64) (out []uint64) {
	if n < 2 {
		return nil
	}
	for _, p := range []uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37} {
		for n%p == 0 {
			out = append(out, p)
			n /= p
		}
	}
	out = split(out, n)
	slices.Sort(out)
	return out
}

func split(out []uint64, n uint64) []uint64 {
	switch {
	case n == 1:
		return out
	case prime(n):
		return append(out, n)
	}
	d := rho(n)
	return split(split(out, d), n/d)
}

func mulmod(a, b, m uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	_, r := bits.Div64(hi%m, lo, m)
	return r
}

// prime is the test of Miller and Rabin, certain for 64 bits with these bases.
func prime(n uint64) bool {
	d, s := n-1, 0
	for d%2 == 0 {
		d /= 2
		s++
	}
	for _, a := range []uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37} {
		if a%n == 0 {
			continue
		}
		x, base, e := uint64(1), a%n, d
		for ; e > 0; e >>= 1 {
			if e&1 == 1 {
				x = mulmod(x, base, n)
			}
			base = mulmod(base, base, n)
		}
		if x == 1 || x == n-1 {
			continue
		}
		composite := true
		for range s - 1 {
			if x = mulmod(x, x, n); x == n-1 {
				composite = false
				break
			}
		}
		if composite {
			return false
		}
	}
	return true
}

// rho finds a factor of a composite n, by Pollard and Brent.
func rho(n uint64) uint64 {
	for c := uint64(1); ; c++ {
		step := func(x uint64) uint64 {
			x = mulmod(x, x, n)
			if x >= n-c {
				return x - (n - c)
			}
			return x + c
		}
		x, y, ys := uint64(2), uint64(2), uint64(2)
		d, q := uint64(1), uint64(1)
		for r := 1; d == 1; r *= 2 {
			x = y
			for range r {
				y = step(y)
			}
			for k := 0; k < r && d == 1; k += 128 {
				ys = y
				for range min(128, r-k) {
					y = step(y)
					q = mulmod(q, diff(x, y), n)
				}
				d = gcd(q, n)
			}
		}
		if d == n {
			for d = 1; d == 1; {
				ys = step(ys)
				d = gcd(diff(x, ys), n)
			}
		}
		if d != n {
			return d
		}
	}
}

func diff(a, b uint64) uint64 {
	if a > b {
		return a - b
	}
	return b - a
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
