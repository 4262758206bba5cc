package applet

import (
	"math"
	"strconv"
	"time"
)

// ParseDuration reads a time as sleep and timeout take it: a decimal number of
// seconds, or of what a suffix s, m, h or d says. Times beyond what a
// time.Duration holds become its greatest.
func ParseDuration(s string) (time.Duration, bool) {
	unit := float64(time.Second)
	num := s
	if num != "" {
		switch num[len(num)-1] {
		case 's':
			num = num[:len(num)-1]
		case 'm':
			num, unit = num[:len(num)-1], float64(time.Minute)
		case 'h':
			num, unit = num[:len(num)-1], float64(time.Hour)
		case 'd':
			num, unit = num[:len(num)-1], float64(24*time.Hour)
		}
	}
	f, err := strconv.ParseFloat(num, 64)
	if err != nil && !math.IsInf(f, 1) || math.IsNaN(f) || f < 0 {
		return 0, false
	}
	for i := range len(num) { // Go's numbers may have underscores
		if num[i] == '_' {
			return 0, false
		}
	}
	ns := math.Ceil(f * unit)
	if ns >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return time.Duration(ns), true
}
