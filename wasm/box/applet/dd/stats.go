package dd

import (
	"math"
	"strconv"
	"time"

	"github.com/donax-sh/donax/cformat"
)

func (d *job) elapsed() time.Duration { return time.Since(d.began) }

// transfer is the line of statistics: how much, how long, how fast.
func transfer(n int64, took time.Duration) string {
	text := strconv.FormatInt(n, 10) + " byte"
	if n != 1 {
		text += "s"
	}
	if n >= 1000 {
		text += " (" + amount(float64(n), 1000)
		if n >= 1024 {
			text += ", " + amount(float64(n), 1024)
		}
		text += ")"
	}
	seconds := took.Seconds()
	rate := "Infinity B"
	if seconds > 0 {
		rate = speed(float64(n) / seconds)
	}
	g := cformat.Spec{Prec: -1, Verb: 'g'}
	return string(g.Float([]byte(text+" copied, "), seconds)) + " s, " + rate + "/s"
}

const units = "KMGTPEZY"

// unit names the power of a base that an amount is of.
func unit(power int, base float64) string {
	switch {
	case power == 0:
		return " B"
	case base == 1024:
		return " " + units[power-1:power] + "iB"
	case power == 1:
		return " kB"
	}
	return " " + units[power-1:power] + "B"
}

// amount writes a whole number of bytes: 1.2 MB, 12 MB.
func amount(n, base float64) string {
	power := 0
	for n >= base && power < len(units) {
		n /= base
		power++
	}
	digits := 0
	if power > 0 && math.RoundToEven(n*10) < 100 {
		digits = 1
	} else if math.RoundToEven(n) >= base {
		n, digits = n/base, 1
		power++
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + unit(power, base)
}

// speed writes a number of bytes that need not be whole: three digits.
func speed(n float64) string {
	power := 0
	for n >= 1000 && power < len(units) {
		n /= 1000
		power++
	}
	s := strconv.FormatFloat(n, 'f', 1, 64)
	if len(s) > 4 {
		s = strconv.FormatFloat(n, 'f', 0, 64)
	}
	if n == 0 {
		power = 1 // as GNU dd prints it
	}
	return s + unit(power, 1000)
}
