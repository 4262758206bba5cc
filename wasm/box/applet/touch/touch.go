// Package touch is the command touch.
package touch

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

// Command is touch.
var Command = applet.Command{
	Name:     "touch",
	Synopsis: "[OPTION]... FILE...",
	Summary:  "update the access and modification times of each FILE to the current time",
	Help: `  -a                     change only the access time
  -c, --no-create        do not create any files
  -d, --date=STRING      parse STRING and use it instead of current time
  -f                     (ignored)
  -m                     change only the modification time
  -r, --reference=FILE   use this file's times instead of current time
  -t STAMP               use [[CC]YY]MMDDhhmm[.ss] instead of current time
      --time=WORD        access, atime, use: like -a; modify, mtime: like -m`,
	Run: run,
}

func run(c *applet.Ctx) int {
	var accessOnly, modifyOnly, noCreate, ignored bool
	date, reference, stamp := "", "", ""
	hasDate := false
	names, status, ok := c.Parse(1,
		applet.Bool(&accessOnly, 'a', ""),
		applet.Bool(&noCreate, 'c', "no-create"),
		applet.Func(func(v string) error { date, hasDate = v, true; return nil }, 'd', "date"),
		applet.Bool(&ignored, 'f', ""),
		applet.Bool(&modifyOnly, 'm', ""),
		applet.String(&reference, 'r', "reference"),
		applet.String(&stamp, 't', ""),
		applet.Func(func(v string) error {
			i, err := applet.Choose("--time", v, []string{"atime", "access", "use"}, []string{"mtime", "modify"})
			accessOnly, modifyOnly = accessOnly || i == 0, modifyOnly || i == 1
			return err
		}, 0, "time"),
	)
	if !ok {
		return status
	}
	if !accessOnly && !modifyOnly {
		accessOnly, modifyOnly = true, true
	}
	if stamp != "" && (hasDate || reference != "") {
		return c.Usage("cannot specify times from more than one source")
	}
	now := time.Now()
	atime, mtime := now, now
	if reference != "" {
		fi, err := os.Stat(reference)
		if err != nil {
			c.Warn("failed to get attributes of ", applet.Quote(reference), ": ", applet.Reason(err))
			return 1
		}
		atime, mtime = applet.Stat(fi).Atime, fi.ModTime()
	}
	if hasDate {
		var err1, err2 error
		atime, err1 = gnudate.Parse(date, atime.In(time.Local))
		mtime, err2 = gnudate.Parse(date, mtime.In(time.Local))
		if err1 != nil || err2 != nil {
			c.Warn("invalid date format ", applet.Curly(date))
			return 1
		}
	}
	if stamp != "" {
		t, ok := parseStamp(stamp, now)
		if !ok {
			c.Warn("invalid date format ", applet.Curly(stamp))
			return 1
		}
		atime, mtime = t, t
	}
	if len(names) == 0 {
		return c.Usage("missing file operand")
	}
	if !accessOnly {
		atime = time.Time{}
	}
	if !modifyOnly {
		mtime = time.Time{}
	}
	ok = true
	for _, name := range names {
		if name == "-" {
			continue // the times of standard output, which is no file
		}
		if err := touch(name, noCreate, atime, mtime); err != nil {
			c.Warn(err.Error())
			ok = false
		}
	}
	return applet.Status(ok)
}

func touch(name string, noCreate bool, atime, mtime time.Time) error {
	fi, err := os.Stat(name)
	if err != nil && errors.Is(err, fs.ErrNotExist) {
		if noCreate {
			return nil
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			if strings.HasSuffix(name, "/") {
				return errors.New("setting times of " + applet.Quote(name) + ": " + applet.Reason(syscall.ENOENT))
			}
			return errors.New("cannot touch " + applet.Quote(name) + ": " + applet.Reason(err))
		}
		f.Close()
		fi, err = os.Stat(name)
		if err != nil {
			return errors.New("cannot touch " + applet.Quote(name) + ": " + applet.Reason(err))
		}
	} else if err != nil {
		return errors.New("cannot touch " + applet.Quote(name) + ": " + applet.Reason(err))
	}
	if atime.IsZero() {
		atime = applet.Stat(fi).Atime
	}
	if mtime.IsZero() {
		mtime = fi.ModTime()
	}
	if err := os.Chtimes(name, atime, mtime); err != nil {
		return errors.New("setting times of " + applet.Quote(name) + ": " + applet.Reason(err))
	}
	return nil
}

// parseStamp reads [[CC]YY]MMDDhhmm[.ss].
func parseStamp(s string, now time.Time) (time.Time, bool) {
	digits, secs, dot := strings.Cut(s, ".")
	if dot && len(secs) != 2 || strings.Trim(digits+secs, "0123456789") != "" {
		return now, false
	}
	year := now.Year()
	num := func(s string) int { n, _ := strconv.Atoi(s); return n }
	switch len(digits) {
	case 8:
	case 10:
		year = 1900 + num(digits[:2])
		if num(digits[:2]) < 69 {
			year += 100
		}
		digits = digits[2:]
	case 12:
		year = num(digits[:4])
		digits = digits[4:]
	default:
		return now, false
	}
	month, day, hour, minute := num(digits[:2]), num(digits[2:4]), num(digits[4:6]), num(digits[6:])
	t := time.Date(year, time.Month(month), day, hour, minute, num(secs), 0, time.Local)
	same := t.Month() == time.Month(month) && t.Day() == day && t.Hour() == hour && t.Minute() == minute
	return t, same || num(secs) == 60
}
