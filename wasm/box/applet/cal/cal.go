// Package cal is the commands cal and ncal, as Debian has them.
package cal

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

const help = `  -1              one month
  -3              the month before and after as well
  -A N, -B N      N months after, and before, as well
  -d YYYY-MM      that is the current month
  -j              days of the year
  -m MONTH        that month
  -y              the whole year
`

// Cal is the command cal.
var Cal = applet.Command{
	Name:     "cal",
	Synopsis: "[-1|-3] [-A N] [-B N] [-d YYYY-MM] [-j] [-m MONTH] [-y] [[MONTH] YEAR]",
	Summary:  "display a calendar",
	Help:     help,
	Run:      func(c *applet.Ctx) int { return run(c, false) },
}

// Ncal is the command ncal.
var Ncal = applet.Command{
	Name:     "ncal",
	Synopsis: "[-1|-3] [-A N] [-B N] [-bChjMSwy] [-d YYYY-MM] [-m MONTH] [[MONTH] YEAR]",
	Summary:  "display a calendar with weeks as columns",
	Help: help + `  -b, -C          as cal: weeks as rows
  -h              no highlighting, of which there is none
  -M, -S          weeks begin on Monday, on Sunday
  -w              numbers of weeks; not with -b or -C
`,
	Run: func(c *applet.Ctx) int { return run(c, true) },
}

// usage is the status of a wrong command line.
const usage = 64

const usageText = "Usage: cal [-13jy] [-A N] [-B N] [-d YYYY-MM] [-m MONTH] [[MONTH] YEAR]\n" +
	"       ncal [-13bChjMSwy] [-A N] [-B N] [-d YYYY-MM] [-m MONTH] [[MONTH] YEAR]\n"

type options struct {
	one, three, julian, wholeYear bool
	rows                          bool // weeks are rows
	first                         int  // day that weeks begin with: 0 is Sunday
	before, after                 int
	month, today                  string
	weekNumbers                   bool
}

func run(c *applet.Ctx, vertical bool) int {
	if len(c.Args) == 1 && (c.Args[0] == "--help" || c.Args[0] == "--version") {
		_, status, _ := c.Parse(usage)
		return status
	}
	o := options{rows: !vertical}
	count := func(p *int) func(string) error {
		return func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || n > 12*9999 {
				return errors.New("Argument to -A and -B must be positive: " + v)
			}
			*p = n
			return nil
		}
	}
	table := []applet.Opt{
		applet.Bool(&o.one, '1', ""), applet.Bool(&o.three, '3', ""),
		applet.Func(count(&o.after), 'A', ""), applet.Func(count(&o.before), 'B', ""),
		applet.String(&o.today, 'd', ""), applet.Bool(&o.julian, 'j', ""),
		applet.String(&o.month, 'm', ""), applet.Bool(&o.wholeYear, 'y', ""),
	}
	if vertical {
		table = append(table, applet.Bool(&o.rows, 'b', ""), applet.Bool(&o.rows, 'C', ""), applet.Do(func() {}, 'h', ""),
			applet.Do(func() { o.first = 1 }, 'M', ""), applet.Do(func() { o.first = 0 }, 'S', ""), applet.Bool(&o.weekNumbers, 'w', ""))
	}
	quiet := *c
	quiet.Stderr = firstLine{c.Stderr, new(bool)}
	args, status, ok := quiet.Parse(usage, table...)
	if !ok {
		io.WriteString(c.Stderr, usageText)
		return status
	}
	if len(args) > 2 || o.weekNumbers && o.rows {
		io.WriteString(c.Stderr, usageText)
		return usage
	}
	first, n, err := o.span(args)
	if err != nil {
		c.Warn(err.Error())
		return usage
	}
	c.Out().WriteString(o.print(first, n))
	return 0
}

// firstLine passes one line on: what follows a complaint is cal's own usage.
type firstLine struct {
	io.Writer
	done *bool
}

func (w firstLine) Write(p []byte) (int, error) {
	if !*w.done {
		*w.done = true
		return w.Writer.Write(p)
	}
	return len(p), nil
}

// span returns the first month to print, counted from January of year 0, and
// how many.
func (o *options) span(args []string) (first, n int, err error) {
	now := time.Now()
	year, month := now.Year(), int(now.Month())-1
	if o.today != "" {
		y, m, ok := strings.Cut(o.today, "-")
		if year, err = parseYear(y); err != nil {
			return 0, 0, err
		}
		if month, err = parseMonth(m); err != nil || !ok {
			return 0, 0, errors.New("invalid date " + o.today + ": it must be yyyy-mm")
		}
	}
	hasMonth := false
	if len(args) == 2 {
		o.month, args = args[0], args[1:]
	}
	if o.month != "" {
		if month, err = parseMonth(o.month); err != nil {
			return 0, 0, err
		}
		hasMonth = true
	}
	if len(args) == 1 {
		if year, err = parseYear(args[0]); err != nil {
			return 0, 0, err
		}
		o.wholeYear = o.wholeYear || !hasMonth
	}
	if o.wholeYear && !hasMonth {
		switch {
		case o.three:
			return 0, 0, errors.New("-3 together with a given year but no given month is not supported.")
		case o.one:
			return 0, 0, errors.New("-1 together with a given year but no given month is not supported.")
		}
	}
	if o.three {
		o.before, o.after = 1, 1
	}
	first, n = year*12+month, 1
	if o.wholeYear {
		first, n = year*12, 12
	}
	return first - o.before, n + o.before + o.after, nil
}

func parseYear(s string) (int, error) {
	if strings.Trim(s, "0123456789") != "" {
		return 0, errors.New("not a valid year " + s)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 9999 {
		return 0, errors.New("year `" + s + "' not in range 1..9999")
	}
	return n, nil
}

func parseMonth(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && n >= 1 && n <= 12 {
		return n - 1, nil
	}
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); len(s) >= 3 && len(s) <= len(name) && strings.EqualFold(name[:len(s)], s) {
			return int(m) - 1, nil
		}
	}
	return 0, errors.New(s + " is neither a month number (1..12) nor a name")
}
