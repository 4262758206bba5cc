// Package date is date, as GNU coreutils has it. The zone is UTC unless TZ
// says otherwise; the clock cannot be set.
package date

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

// Command is date.
var Command = &applet.Command{
	Name:     "date",
	Synopsis: "[OPTION]... [+FORMAT]",
	Summary:  "print the date and time",
	Help: `  -d, --date=STRING       print the time that STRING describes, not now
      --debug             refused
  -f, --file=DATEFILE     as --date for each line of DATEFILE
  -I[FMT], --iso-8601[=FMT]  ISO 8601; FMT is date (default), hours, minutes, seconds or ns
  -R, --rfc-email         RFC 5322: Mon, 14 Aug 2006 02:34:56 -0600
      --rfc-3339=FMT      RFC 3339; FMT is date, seconds or ns
  -r, --reference=FILE    the time of the last change of FILE
  -s, --set=STRING        refused: the clock of the sandbox cannot be set
  -u, --utc, --universal  UTC
`,
	Run: run,
}

const rfcEmail = "%a, %d %b %Y %H:%M:%S %z"

func run(c *applet.Ctx) int {
	var given, file, ref, format string
	var haveDate, haveFile, haveRef, utc bool
	var refused, bad string
	setFormat := func(f string) error {
		if format != "" && format != f {
			bad = "multiple output formats specified"
		}
		format = f
		return nil
	}
	iso := map[string]string{"date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z", "seconds": "%Y-%m-%dT%H:%M:%S%:z", "ns": "%Y-%m-%dT%H:%M:%S,%N%:z"}
	rfc := map[string]string{"date": "%Y-%m-%d", "seconds": "%Y-%m-%d %H:%M:%S%:z", "ns": "%Y-%m-%d %H:%M:%S.%N%:z"}
	pick := func(m map[string]string, opt, v string) error {
		found := ""
		for _, name := range []string{"hours", "minutes", "date", "seconds", "ns"} {
			if f, ok := m[name]; ok && v != "" && strings.HasPrefix(name, v) {
				found = f
			}
		}
		if found == "" {
			return errors.New("invalid argument ‘" + v + "’ for ‘" + opt + "’")
		}
		return setFormat(found)
	}
	operands, status, ok := c.Parse(1,
		applet.Func(func(v string) error { given, haveDate = v, true; return nil }, 'd', "date"),
		applet.Func(func(v string) error { file, haveFile = v, true; return nil }, 'f', "file"),
		applet.Func(func(v string) error { ref, haveRef = v, true; return nil }, 'r', "reference"),
		applet.Optional(func(v string, has bool) error {
			if !has {
				v = "date"
			}
			return pick(iso, "--iso-8601", v)
		}, 'I', "iso-8601"),
		applet.Func(func(v string) error { return pick(rfc, "--rfc-3339", v) }, 0, "rfc-3339"),
		applet.Do(func() { setFormat(rfcEmail) }, 'R', "rfc-email"),
		applet.Do(func() { setFormat(rfcEmail) }, 0, "rfc-822"),
		applet.Do(func() { setFormat(rfcEmail) }, 0, "rfc-2822"),
		applet.Bool(&utc, 'u', "utc"),
		applet.Bool(&utc, 0, "universal"),
		applet.Func(func(string) error { refused = "cannot set date: Operation not permitted"; return nil }, 's', "set"),
		applet.Do(func() { refused = "--debug is not supported" }, 0, "debug"),
		applet.Do(func() { format = "%s.%N" }, 0, "resolution"),
	)
	if !ok {
		return status
	}
	if bad == "" {
		bad = refused
	}
	if bad != "" {
		c.Warn(bad)
		return 1
	}
	if sources := btoi(haveDate) + btoi(haveFile) + btoi(haveRef); sources > 1 {
		return c.Usage("the options to specify dates for printing are mutually exclusive")
	}
	if len(operands) > 0 {
		if f, ok := strings.CutPrefix(operands[0], "+"); ok {
			if format != "" {
				c.Warn("multiple output formats specified")
				return 1
			}
			format = f
			if format == "" {
				format = "\x00" // an empty format prints an empty line
			}
			operands = operands[1:]
		} else if !haveDate && !haveFile && !haveRef {
			c.Warn("cannot set date: Operation not permitted")
			return 1
		} else {
			c.Warn("the argument ", curly(operands[0]), " lacks a leading '+';\nwhen using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'")
			io.WriteString(c.Stderr, "Try 'date --help' for more information.\n")
			return 1
		}
	}
	if len(operands) > 0 {
		return c.Usage("extra operand ", curly(operands[0]))
	}
	loc := time.UTC
	if !utc {
		if l, err := gnudate.Location(os.Getenv("TZ")); err == nil {
			loc = l
		}
	}
	if format == "" {
		format = "%a %b %e %H:%M:%S %Z %Y"
	}
	if format == "\x00" {
		format = ""
	}
	now := time.Now().In(loc)
	show := func(t time.Time) { io.WriteString(c.Stdout, gnudate.Format(format, t)+"\n") }
	one := func(s string) bool {
		t, err := gnudate.Parse(s, now)
		if err != nil {
			c.Flush()
			c.Warn("invalid date ", curly(s))
			return false
		}
		show(t)
		return true
	}
	switch {
	case haveDate:
		if !one(given) {
			return 1
		}
	case haveRef:
		fi, err := os.Stat(ref)
		if err != nil {
			c.Warn(ref, ": ", applet.Reason(err))
			return 1
		}
		show(fi.ModTime().In(loc))
	case haveFile:
		return lines(c, file, one)
	default:
		show(now)
	}
	return 0
}

func lines(c *applet.Ctx, name string, one func(string) bool) int {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(c.Stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		c.Warn(name, ": ", applet.Reason(err))
		return 1
	}
	status := 0
	for _, l := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if !one(l) {
			status = 1
		}
	}
	return status
}

func curly(s string) string { return "‘" + s + "’" }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
