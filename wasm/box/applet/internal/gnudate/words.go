package gnudate

import (
	"strings"
	"time"
	_ "time/tzdata" // the sandbox has no zone files: 450 KB that make TZ=Europe/Paris work
)

// Units by their place in parser.rel.
const (
	unitWeek      = 20
	unitFortnight = 21
)

func unit(w string) int {
	switch strings.TrimSuffix(w, "s") {
	case "year":
		return 0
	case "month":
		return 1
	case "day":
		return 2
	case "hour":
		return 3
	case "minute", "min":
		return 4
	case "second", "sec":
		return 5
	case "week":
		return unitWeek
	case "fortnight":
		return unitFortnight
	}
	return -1
}

func month(w string) int {
	if len(w) < 3 {
		return 0
	}
	if w == "sept" {
		return 9
	}
	for m := time.January; m <= time.December; m++ {
		if full := strings.ToLower(m.String()); w == full || w == full[:3] {
			return int(m)
		}
	}
	return 0
}

func weekday(w string) int {
	if len(w) < 3 {
		return -1
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if full := strings.ToLower(d.String()); w == full || w == full[:3] {
			return int(d)
		}
	}
	switch w {
	case "tues":
		return 2
	case "wednes":
		return 3
	case "thur", "thurs":
		return 4
	}
	return -1
}

func meridian(w string) int {
	switch w {
	case "am":
		return 0
	case "pm":
		return 1
	}
	return -1
}

// ordinals count units and weekdays: "next friday". "second" is a unit.
var ordinals = map[string]int{
	"last": -1, "this": 0, "next": 1, "first": 1, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6,
	"seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12,
}

const hour = 3600

// zones are the abbreviations that GNU date knows, and the military letters.
var zones = map[string]int{
	"utc": 0, "gmt": 0, "ut": 0, "wet": 0, "west": hour, "bst": hour, "art": -3 * hour, "brt": -3 * hour, "brst": -2 * hour,
	"nst": -12600, "ndt": -9000, "ast": -4 * hour, "adt": -3 * hour, "clt": -4 * hour, "clst": -3 * hour,
	"est": -5 * hour, "edt": -4 * hour, "cst": -6 * hour, "cdt": -5 * hour, "mst": -7 * hour, "mdt": -6 * hour,
	"pst": -8 * hour, "pdt": -7 * hour, "akst": -9 * hour, "akdt": -8 * hour, "hst": -10 * hour, "sst": -11 * hour,
	"wat": hour, "cet": hour, "cest": 2 * hour, "met": hour, "mez": hour, "mest": 2 * hour, "mesz": 2 * hour,
	"eet": 2 * hour, "eest": 3 * hour, "cat": 2 * hour, "sast": 2 * hour, "eat": 3 * hour, "msk": 3 * hour, "msd": 4 * hour,
	"ist": 19800, "sgt": 8 * hour, "kst": 9 * hour, "jst": 9 * hour, "gst": 10 * hour, "nzst": 12 * hour, "nzdt": 13 * hour,
	"a": hour, "b": 2 * hour, "c": 3 * hour, "d": 4 * hour, "e": 5 * hour, "f": 6 * hour, "g": 7 * hour, "h": 8 * hour,
	"i": 9 * hour, "k": 10 * hour, "l": 11 * hour, "m": 12 * hour, "n": -hour, "o": -2 * hour, "p": -3 * hour, "q": -4 * hour,
	"r": -5 * hour, "s": -6 * hour, "t": -7 * hour, "u": -8 * hour, "v": -9 * hour, "w": -10 * hour, "x": -11 * hour, "y": -12 * hour, "z": 0,
}

// Location returns the time zone that a value of TZ names; "" is UTC. Besides
// names like Europe/Paris it knows the POSIX form without daylight rules:
// EST5, <+03>-3.
func Location(tz string) (*time.Location, error) {
	tz = strings.TrimPrefix(tz, ":")
	if tz == "" || tz == "UTC" || tz == "UTC0" || tz == "GMT" {
		return time.UTC, nil
	}
	if loc, err := time.LoadLocation(tz); err == nil {
		return loc, nil
	}
	name, rest := "", tz
	if strings.HasPrefix(tz, "<") {
		var ok bool
		if name, rest, ok = strings.Cut(tz[1:], ">"); !ok {
			return nil, ErrInvalid
		}
	} else {
		i := 0
		for i < len(tz) && isLetter(tz[i]) {
			i++
		}
		name, rest = tz[:i], tz[i:]
	}
	sign := -1 // POSIX counts west of Greenwich
	switch {
	case strings.HasPrefix(rest, "-"):
		sign, rest = 1, rest[1:]
	case strings.HasPrefix(rest, "+"):
		rest = rest[1:]
	}
	off, n := 0, 0
	for i, part := range strings.Split(rest, ":") {
		if i > 2 || part == "" || len(part) > 2 || strings.Trim(part, "0123456789") != "" {
			return nil, ErrInvalid
		}
		v := 0
		for _, c := range part {
			v = v*10 + int(c-'0')
		}
		off += v * []int{3600, 60, 1}[i]
		n++
	}
	if len(name) < 3 || n == 0 {
		return nil, ErrInvalid
	}
	return time.FixedZone(name, sign*off), nil
}
