// Package numfmt is the command numfmt.
package numfmt

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is numfmt.
var Command = applet.Command{
	Name:     "numfmt",
	Synopsis: "[OPTION]... [NUMBER]...",
	Summary:  "reformat NUMBER(s), or the numbers from standard input if none are specified",
	Help: `  -d, --delimiter=X    use X instead of whitespace for field delimiter
      --field=FIELDS   replace the numbers in these input fields (default=1)
      --format=FORMAT  use printf style floating-point FORMAT
      --from=UNIT      auto-scale input numbers to UNITs; default is none
      --from-unit=N    specify the input unit size (instead of the default 1)
      --grouping       (accepted: the locale has no grouping)
      --header[=N]     print (without converting) the first N header lines
      --invalid=MODE   failure mode for invalid numbers: abort, fail, warn, ignore
      --padding=N      pad the output to N characters; negative N will left-align
      --round=METHOD   up, down, from-zero (default), towards-zero, nearest
      --suffix=SUFFIX  add SUFFIX to output numbers, and accept optional SUFFIX
      --to=UNIT        auto-scale output numbers to UNITs
      --to-unit=N      the output unit size (instead of the default 1)
  -z, --zero-terminated  line delimiter is NUL, not newline
UNIT is none, auto, si, iec or iec-i.`,
	Run: run,
}

// Scales.
const (
	none = iota
	auto
	si
	iec
	iecI
)

// badNumber is the status for numbers that cannot be converted.
const badNumber = 2

type converter struct {
	c                  *applet.Ctx
	from, to           int
	fromUnit, toUnit   float64
	delim              byte
	hasDelim           bool
	fields             [][2]int
	allFields          bool
	padding            int
	round              int
	suffix             string
	invalid            int
	before, after      string // of the format
	width, prec        int
	zeroPad, leftAlign bool
	end                byte
	status             int
}

func run(c *applet.Ctx) int {
	k := converter{c: c, fromUnit: 1, toUnit: 1, fields: [][2]int{{1, 1}}, prec: -1, round: 2, end: '\n'}
	header := int64(0)
	grouping := false
	unit := func(p *int, option string, groups ...[]string) func(string) error {
		return func(v string) (err error) {
			*p, err = applet.Choose(option, v, groups...)
			return err
		}
	}
	size := func(p *float64) func(string) error {
		return func(v string) error {
			n, err := unitSize(v)
			if err != nil {
				return err
			}
			*p = n
			return nil
		}
	}
	names := [][]string{{"none"}, {"auto"}, {"si"}, {"iec"}, {"iec-i"}}
	args, status, ok := c.Parse(1,
		applet.Func(func(v string) error {
			if len(v) > 1 {
				return errors.New("the delimiter must be a single character")
			}
			k.hasDelim, k.delim = true, (v + "\x00")[0]
			return nil
		}, 'd', "delimiter"),
		applet.Func(k.setFields, 0, "field"),
		applet.Func(k.setFormat, 0, "format"),
		applet.Func(unit(&k.from, "--from", names...), 0, "from"),
		applet.Func(size(&k.fromUnit), 0, "from-unit"),
		applet.Bool(&grouping, 0, "grouping"),
		applet.Optional(func(v string, given bool) error {
			header = 1
			if given {
				n, err := applet.ParseSize(v, "")
				if err != nil || n == 0 {
					return errors.New("invalid header value " + applet.Curly(v))
				}
				header = n
			}
			return nil
		}, 0, "header"),
		applet.Func(unit(&k.invalid, "--invalid", []string{"abort"}, []string{"fail"}, []string{"warn"}, []string{"ignore"}), 0, "invalid"),
		applet.Func(func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n == 0 {
				return errors.New("invalid padding value " + applet.Curly(v))
			}
			k.padding = n
			return nil
		}, 0, "padding"),
		applet.Func(unit(&k.round, "--round", []string{"up"}, []string{"down"}, []string{"from-zero"}, []string{"towards-zero"}, []string{"nearest"}), 0, "round"),
		applet.String(&k.suffix, 0, "suffix"),
		applet.Func(func(v string) (err error) {
			i, err := applet.Choose("--to", v, []string{"none"}, []string{"si"}, []string{"iec"}, []string{"iec-i"})
			k.to = []int{none, si, iec, iecI}[max(0, i)]
			return err
		}, 0, "to"),
		applet.Func(size(&k.toUnit), 0, "to-unit"),
		applet.Do(func() { k.end = 0 }, 'z', "zero-terminated"),
	)
	if !ok {
		return status
	}
	if len(args) > 0 {
		for _, a := range args {
			if !k.line([]byte(a), true) {
				break
			}
		}
		return k.status
	}
	lines := applet.NewLines(c.Stdin, k.end)
	for {
		line, more := lines.Next()
		if !more {
			return k.status
		}
		if header > 0 {
			header--
			c.Out().Write(line)
			if lines.Full() {
				c.Out().WriteByte(k.end)
			}
			continue
		}
		if !k.line(line, lines.Full()) {
			return k.status
		}
	}
}

func unitSize(v string) (float64, error) {
	n, err := applet.ParseSize(strings.TrimSuffix(v, "i"), "KMGTPEZY")
	digits := len(v) - len(strings.TrimLeft(v, "0123456789"))
	if tail := v[digits:]; err == nil && tail != "" && !strings.HasSuffix(tail, "i") {
		// K is 1000 here, and Ki 1024.
		n, err = applet.ParseSize(v+"B", "KMGTPEZY")
	}
	if err != nil || n == 0 {
		return 0, errors.New("invalid unit size: " + applet.Curly(v))
	}
	return float64(n), nil
}

func (k *converter) setFields(v string) error {
	k.fields = nil
	if v == "-" {
		k.allFields = true
		return nil
	}
	for _, item := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		a, b, dash := strings.Cut(item, "-")
		r := [2]int{1, math.MaxInt}
		var err error
		if a != "" {
			if r[0], err = strconv.Atoi(a); err != nil {
				return errors.New("invalid field value " + applet.Curly(a))
			}
		}
		if !dash {
			r[1] = r[0]
		} else if b != "" {
			if r[1], err = strconv.Atoi(b); err != nil {
				return errors.New("invalid field value " + applet.Curly(b))
			}
		}
		if r[0] == 0 {
			return errors.New("fields are numbered from 1\nTry 'numfmt --help' for more information.")
		}
		if r[1] < r[0] {
			return errors.New("invalid decreasing range\nTry 'numfmt --help' for more information.")
		}
		k.fields = append(k.fields, r)
	}
	return nil
}

// setFormat reads a format with one %f.
func (k *converter) setFormat(v string) error {
	bad := func(why string) error { return errors.New("format " + applet.Curly(v) + " " + why) }
	i := 0
	for ; i < len(v); i++ {
		if v[i] != '%' {
			k.before += v[i : i+1]
			continue
		}
		if strings.HasPrefix(v[i:], "%%") {
			k.before += "%"
			i++
			continue
		}
		break
	}
	if i == len(v) {
		return bad("has no % directive")
	}
	rest := v[i+1:]
	for rest != "" && strings.IndexByte("'0 -", rest[0]) >= 0 {
		switch rest[0] {
		case '0':
			k.zeroPad = true
		case '-':
			k.leftAlign = true
		}
		rest = rest[1:]
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	k.width, _ = strconv.Atoi(rest[:digits])
	rest = rest[digits:]
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		digits = len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		k.prec, _ = strconv.Atoi(rest[:digits])
		rest = rest[digits:]
	}
	switch {
	case rest == "":
		return bad("ends in %")
	case rest[0] != 'f':
		return errors.New("invalid format " + applet.Curly(v) + ", directive must be %[0]['][-][N][.][N]f")
	}
	for rest = rest[1:]; rest != ""; rest = rest[1:] {
		if rest[0] == '%' {
			if !strings.HasPrefix(rest, "%%") {
				return bad("has too many % directives")
			}
			rest = rest[1:]
		}
		k.after += rest[:1]
	}
	return nil
}

func (k *converter) wants(field int) bool {
	for _, r := range k.fields {
		if field >= r[0] && field <= r[1] {
			return true
		}
	}
	return k.allFields
}

// line converts one line, which is ended if it was; false ends the run.
func (k *converter) line(line []byte, ended bool) bool {
	var out []byte
	for field := 1; ; field++ {
		start := 0
		if !k.hasDelim {
			for start < len(line) && isBlank(line[start]) {
				start++
			}
		}
		end := start
		for end < len(line) && !(k.hasDelim && line[end] == k.delim || !k.hasDelim && isBlank(line[end])) {
			end++
		}
		if k.wants(field) {
			text := string(line[start:end])
			width := 0
			if !k.hasDelim && (start > 0 || field > 1) {
				width = end // keep the column where it was
			}
			conv, err := k.convert(text, width)
			if err != nil {
				if k.invalid != 3 {
					k.c.Flush()
					k.c.Warn(err.Error())
				}
				switch k.invalid {
				case 0:
					k.status = badNumber
					return false
				case 1:
					k.status = badNumber
				}
				out = append(out, line[:end]...)
			} else {
				out = append(out, conv...)
			}
		} else {
			out = append(out, line[:end]...)
		}
		line = line[end:]
		if len(line) == 0 {
			break
		}
		if k.hasDelim {
			out = append(out, k.delim)
		} else {
			out = append(out, ' ')
		}
		line = line[1:]
	}
	if ended {
		out = append(out, k.end)
	}
	_, err := k.c.Stdout.Write(out)
	return err == nil
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

func pad(s string, width int) string {
	switch {
	case width > 0:
		return strings.Repeat(" ", max(0, width-len(s))) + s
	case width < 0:
		return s + strings.Repeat(" ", max(0, -width-len(s)))
	}
	return s
}
