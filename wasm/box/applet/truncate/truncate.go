// Package truncate is the command truncate.
package truncate

import (
	"errors"
	"io/fs"
	"math"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is truncate.
var Command = applet.Command{
	Name:     "truncate",
	Synopsis: "OPTION... FILE...",
	Summary:  "shrink or extend the size of each FILE to the specified size",
	Help: `  -c, --no-create        do not create any files
  -r, --reference=RFILE  base size on RFILE
  -s, --size=SIZE        set or adjust the file size by SIZE bytes; SIZE may
                           begin with + - < > / %`,
	Run: run,
}

func run(c *applet.Ctx) int {
	noCreate := false
	reference, hasReference, hasSize := "", false, false
	var op byte
	var size int64
	names, status, ok := c.Parse(1,
		applet.Bool(&noCreate, 'c', "no-create"),
		applet.Func(func(v string) error { reference, hasReference = v, true; return nil }, 'r', "reference"),
		applet.Func(func(v string) (err error) {
			hasSize = true
			op, size, err = parse(v)
			return err
		}, 's', "size"),
	)
	switch {
	case !ok:
		return status
	case !hasSize && !hasReference:
		return c.Usage("you must specify either ", applet.Curly("--size"), " or ", applet.Curly("--reference"))
	case hasSize && hasReference && op == 0:
		return c.Usage("you must specify a relative ", applet.Curly("--size"), " with ", applet.Curly("--reference"))
	case len(names) == 0:
		return c.Usage("missing file operand")
	}
	var base int64 = -1
	if hasReference {
		fi, err := os.Stat(reference)
		if err != nil {
			c.Warn("cannot stat ", applet.Quote(reference), ": ", applet.Reason(err))
			return 1
		}
		base = fi.Size()
	}
	ok = true
	for _, name := range names {
		flag := os.O_WRONLY | os.O_CREATE
		if noCreate {
			flag = os.O_WRONLY
		}
		f, err := os.OpenFile(name, flag, 0o666)
		if err != nil {
			if noCreate && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			c.Warn("cannot open ", applet.Quote(name), " for writing: ", applet.Reason(err))
			ok = false
			continue
		}
		from := base
		if from < 0 {
			if fi, err := f.Stat(); err == nil {
				from = fi.Size()
			}
		}
		if err := f.Truncate(adjust(from, op, size, hasSize)); err != nil {
			c.Warn("failed to truncate ", applet.Quote(name), " at ", string(applet.AppendNum(nil, adjust(from, op, size, hasSize), 0)), " bytes: ", applet.Reason(err))
			ok = false
		}
		f.Close()
	}
	return applet.Status(ok)
}

func parse(v string) (op byte, size int64, err error) {
	digits := v
	for len(digits) > 0 && (digits[0] == ' ' || digits[0] == '\t') {
		digits = digits[1:]
	}
	if len(digits) > 0 {
		switch digits[0] {
		case '+', '-', '<', '>', '/', '%':
			op = digits[0]
			digits = digits[1:]
		}
	}
	size, err = applet.ParseSize(digits, "KMGTPEkmg")
	switch {
	case err != nil:
		return op, 0, applet.Complain("Invalid number", v, err)
	case size == 0 && (op == '/' || op == '%'):
		return op, 0, errors.New("division by zero")
	}
	return op, size, nil
}

func adjust(from int64, op byte, size int64, hasSize bool) int64 {
	if !hasSize {
		return from
	}
	switch op {
	case '+':
		if size > math.MaxInt64-from {
			return math.MaxInt64
		}
		return from + size
	case '-':
		return max(0, from-size)
	case '<':
		return min(from, size)
	case '>':
		return max(from, size)
	case '/':
		return from / size * size
	case '%':
		return (from + size - 1) / size * size
	}
	return size
}
