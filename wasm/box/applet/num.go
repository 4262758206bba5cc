package applet

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Errors of [ParseSize]. The texts of ErrOverflow and of ErrRange are what GNU
// commands put after a number too large, and after one too small for what it
// is, which their callers find.
var (
	ErrNumber   = errors.New("invalid number")
	ErrSuffix   = errors.New("invalid suffix")
	ErrRange    = errors.New("Numerical result out of range")
	ErrOverflow = errors.New("Value too large for defined data type")
)

// ParseSize reads a number, perhaps with a plus sign before and a unit among units behind it: K is 1024, KB
// 1000, KiB 1024 and so on through Y; b is 512, and k the same as K. A unit
// alone means one of it. The error is one of ErrNumber, ErrSuffix, ErrOverflow
// (n is then math.MaxInt64).
func ParseSize(s, units string) (n int64, err error) {
	if len(s) > 1 && s[0] == '+' && s[1] >= '0' && s[1] <= '9' {
		s = s[1:]
	}
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	unit := s[digits:]
	if digits == 0 {
		if unit == "" || !strings.Contains(units, unit[:1]) {
			return 0, ErrNumber
		}
		n = 1
	} else if n, err = strconv.ParseInt(s[:digits], 10, 64); err != nil {
		n, err = math.MaxInt64, ErrOverflow
	}
	if unit == "" {
		return n, err
	}
	if !strings.Contains(units, unit[:1]) {
		return n, ErrSuffix
	}
	base := int64(1024)
	switch rest := unit[1:]; {
	case rest == "":
	case rest == "B":
		base = 1000
	case rest == "iB":
	default:
		return n, ErrSuffix
	}
	power := strings.IndexByte("KMGTPEZY", unit[0]) + 1
	switch unit[0] {
	case 'k':
		power = 1
	case 'm':
		power = 2
	case 'b', 'c', 'w', 'B':
		if len(unit) > 1 {
			return n, ErrSuffix
		}
		f := map[byte]int64{'b': 512, 'c': 1, 'w': 2, 'B': 1024}[unit[0]]
		if n > math.MaxInt64/f {
			return math.MaxInt64, ErrOverflow
		}
		return n * f, err
	}
	for range power {
		if n > math.MaxInt64/base {
			return math.MaxInt64, ErrOverflow
		}
		n *= base
	}
	return n, err
}

// Complain makes the error of an option from one of [ParseSize]: what is
// "invalid number of lines".
func Complain(what, arg string, err error) error {
	if err == ErrOverflow || err == ErrRange {
		return errors.New(what + ": " + Curly(arg) + ": " + err.Error())
	}
	return errors.New(what + ": " + Curly(arg))
}

// Human writes a size in bytes with at most three digits and a unit, rounded
// up as ls -h and du -h do. base is 1024, or 1000 for --si.
func Human(n, base int64) string {
	units := "KMGTPE"
	if base == 1000 {
		units = "kMGTPE"
	}
	if n < base {
		return strconv.FormatInt(n, 10)
	}
	div, u := base, 0
	for n/div >= base && u < len(units)-1 {
		div *= base
		u++
	}
	whole, rest := n/div, n%div
	if whole < 10 {
		// One decimal, rounded up; rest*10 would overflow at exabytes.
		tenth := int64(0)
		if rest < math.MaxInt64/10 {
			tenth = ceilDiv(rest*10, div)
		} else {
			tenth = min(10, ceilDiv(rest, div/10))
		}
		if tenth == 10 {
			whole, tenth = whole+1, 0
		}
		if whole < 10 {
			return strconv.FormatInt(whole, 10) + "." + strconv.FormatInt(tenth, 10) + units[u:u+1]
		}
		return strconv.FormatInt(whole, 10) + units[u:u+1]
	}
	if rest > 0 {
		whole++
	}
	if whole == base && u < len(units)-1 {
		return "1.0" + units[u+1:u+2]
	}
	return strconv.FormatInt(whole, 10) + units[u:u+1]
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// AppendPad appends s right-aligned in width columns.
func AppendPad(b []byte, s string, width int) []byte {
	for range width - len(s) {
		b = append(b, ' ')
	}
	return append(b, s...)
}

// AppendNum appends n right-aligned in width columns.
func AppendNum(b []byte, n int64, width int) []byte {
	var tmp [20]byte
	d := strconv.AppendInt(tmp[:0], n, 10)
	for range width - len(d) {
		b = append(b, ' ')
	}
	return append(b, d...)
}
