// Package expand holds the commands expand and unexpand.
package expand

import (
	"errors"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// tabs are tab stops.
type tabs struct {
	stops  []int
	every  int // after the stops: a multiple of it, or 0
	offset int // with +N, multiples counted from the last stop
}

// parse adds the stops of a list: "8", "4,8,12", "4,/8", "4,+2".
func (t *tabs) parse(list string) error {
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		mark := byte(0)
		digits := item
		if item[0] == '/' || item[0] == '+' {
			mark, digits = item[0], item[1:]
		}
		if bad := strings.TrimLeft(digits, "0123456789"); bad != "" {
			if bad[0] == '/' || bad[0] == '+' {
				return errors.New(applet.Curly(bad[:1]) + " specifier not at start of number: " + applet.Curly(bad))
			}
			return errors.New("tab size contains invalid character(s): " + applet.Curly(bad))
		}
		n, err := strconv.ParseInt(digits, 10, 32)
		if err != nil {
			return errors.New("tab stop is too large " + applet.Curly(digits))
		}
		if n == 0 {
			return errors.New("tab size cannot be 0")
		}
		if mark != 0 {
			t.every, t.offset = int(n), 0
			if mark == '+' && len(t.stops) > 0 {
				t.offset = t.stops[len(t.stops)-1]
			}
			continue
		}
		if len(t.stops) > 0 && int(n) <= t.stops[len(t.stops)-1] {
			return errors.New("tab sizes must be ascending")
		}
		t.stops = append(t.stops, int(n))
	}
	return nil
}

// finish makes a single stop the distance of all.
func (t *tabs) finish() {
	switch {
	case len(t.stops) == 0 && t.every == 0:
		t.every = 8
	case len(t.stops) == 1 && t.every == 0:
		t.every, t.stops = t.stops[0], nil
	}
}

// next returns the stop after column; ok is false behind the last one.
func (t *tabs) next(column int) (stop int, ok bool) {
	for _, s := range t.stops {
		if s > column {
			return s, true
		}
	}
	if t.every > 0 {
		return column + t.every - (column-t.offset)%t.every, true
	}
	return column + 1, false
}
