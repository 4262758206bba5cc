// Package tail is the command tail.
package tail

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is tail.
var Command = applet.Command{
	Name:     "tail",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "print the last 10 lines of each FILE to standard output",
	Help: `  -c, --bytes=[+]NUM       output the last NUM bytes; or use -c +NUM to
                             output starting with byte NUM of each file
  -f, --follow[={name|descriptor}]
                           output appended data as the file grows
  -F                       same as --follow=name --retry
  -n, --lines=[+]NUM       output the last NUM lines, instead of the last 10;
                             or use -n +NUM to output starting with line NUM
  -q, --quiet, --silent    never output headers giving file names
      --retry              keep trying to open a file if it is inaccessible
  -s, --sleep-interval=N   with -f, sleep for approximately N seconds
                             (default 1.0) between iterations
  -v, --verbose            always output headers giving file names
  -z, --zero-terminated    line delimiter is NUL, not newline`,
	Run: run,
}

const units = "bkKmMGTPEZY"

// tailer is one run.
type tailer struct {
	c           *applet.Ctx
	count       int64
	bytes, plus bool // count bytes; from the count-th on
	follow      bool
	byName      bool // follow names, not open files
	retry       bool
	interval    time.Duration
	titles      bool
	titled      string // the last title written
	anyTitle    bool
	delim       byte
	followed    []*source
}

// errWrite ends the work: nobody reads, and the flush after Run says why.
var errWrite = errors.New("write error")

func run(c *applet.Ctx) int {
	t := tailer{c: c, count: 10, delim: '\n', interval: time.Second}
	quiet, verbose := false, false
	num := func(what string, isBytes bool) func(string) error {
		return func(v string) error {
			t.bytes = isBytes
			digits := v
			t.plus = strings.HasPrefix(v, "+")
			if t.plus || strings.HasPrefix(v, "-") {
				digits = v[1:]
			}
			n, err := applet.ParseSize(digits, units)
			if err != nil {
				return applet.Complain("invalid number of "+what, digits, err)
			}
			t.count = n
			return nil
		}
	}
	if err := t.obsolete(); err != nil {
		c.Warn(err.Error())
		return 1
	}
	opts := []applet.Opt{
		applet.Func(num("bytes", true), 'c', "bytes"),
		applet.Optional(func(v string, given bool) error {
			t.follow = true
			if given {
				i, err := applet.Choose("--follow", v, []string{"descriptor"}, []string{"name"})
				t.byName = i == 1
				return err
			}
			return nil
		}, 0, "follow"),
		applet.Do(func() { t.follow = true }, 'f', ""),
		applet.Do(func() { t.follow, t.byName, t.retry = true, true, true }, 'F', ""),
		applet.Func(num("lines", false), 'n', "lines"),
		applet.Do(func() { quiet, verbose = true, false }, 'q', "quiet"),
		applet.Do(func() { quiet, verbose = true, false }, 0, "silent"),
		applet.Bool(&t.retry, 0, "retry"),
		applet.Func(func(v string) error {
			d, ok := applet.ParseDuration(v)
			if !ok || strings.ContainsAny(v, "smhd") {
				return errors.New("invalid number of seconds: " + applet.Curly(v))
			}
			t.interval = max(d, time.Millisecond)
			return nil
		}, 's', "sleep-interval"),
		applet.Do(func() { quiet, verbose = false, true }, 'v', "verbose"),
		applet.Do(func() { t.delim = 0 }, 'z', "zero-terminated"),
	}
	for d := '0'; d <= '9'; d++ {
		opts = append(opts, applet.Optional(func(string, bool) error {
			return errors.New("option used in invalid context -- " + string(d))
		}, d, ""))
	}
	files, status, ok := c.Parse(1, opts...)
	if !ok {
		return status
	}
	if t.retry && !t.follow {
		c.Warn("warning: --retry ignored; --retry is useful only when following")
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	if t.count == 0 && !t.plus && !t.follow {
		return 0 // as GNU tail, which looks at no file then
	}
	t.titles = verbose || !quiet && len(files) > 1
	ok = true
	for _, name := range files {
		if err := t.file(name); err == errWrite {
			return 1
		} else if err != nil {
			ok = false
		}
	}
	if t.follow && len(t.followed) > 0 {
		if err := t.followAll(); err == errWrite {
			return 1
		} else if err != nil {
			c.Warn(err.Error())
			return 1
		}
	}
	return applet.Status(ok)
}

// obsolete takes the old forms -NUM[bcl][f] and +NUM from the front of the
// arguments, where nothing but one file follows.
func (t *tailer) obsolete() error {
	args := t.c.Args
	if len(args) == 0 || len(args) > 3 ||
		len(args) == 2 && len(args[1]) > 1 && args[1][0] == '-' && args[1] != "--" ||
		len(args) == 3 && args[1] != "--" {
		return nil
	}
	a := args[0]
	if len(a) < 2 || a[0] != '+' && a[0] != '-' {
		return nil
	}
	p := 1
	for p < len(a) && a[p] >= '0' && a[p] <= '9' {
		p++
	}
	digits := a[1:p]
	if digits == "" && a[0] == '-' {
		return nil
	}
	isBytes, unit := false, ""
	if p < len(a) {
		switch a[p] {
		case 'b':
			isBytes, unit = true, "b"
			p++
		case 'c':
			isBytes = true
			p++
		case 'l':
			p++
		}
	}
	follow := p < len(a) && a[p] == 'f'
	if follow {
		p++
	}
	if p != len(a) {
		return nil
	}
	if digits == "" {
		digits = "10"
	}
	n, err := applet.ParseSize(digits+unit, units)
	if err != nil && err != applet.ErrOverflow {
		return applet.Complain("invalid number", a, err)
	}
	t.count, t.bytes, t.plus, t.follow = n, isBytes, a[0] == '+', follow
	t.c.Args = args[1:]
	return nil
}

func (t *tailer) file(name string) error {
	r, err := t.c.Open(name)
	if err != nil {
		t.c.Warn("cannot open ", applet.Quote(name), " for reading: ", applet.Reason(err))
		if t.follow && t.retry && t.byName {
			t.followed = append(t.followed, &source{name: name, gone: true})
		}
		return err
	}
	t.titled = "" // each file has its own, also one that is named again
	t.title(name)
	err = t.last(r)
	if err != nil {
		if err != errWrite {
			t.c.Warn("error reading ", applet.Quote(name), ": ", applet.Reason(err))
		}
		r.Close()
		return err
	}
	if t.follow && name != "-" {
		t.followed = append(t.followed, &source{name: name, r: r})
		return nil
	}
	return r.Close()
}

func (t *tailer) title(name string) {
	if name == "-" {
		name = "standard input"
	}
	if !t.titles || t.anyTitle && t.titled == name {
		return
	}
	text := "==> " + name + " <==\n"
	if t.anyTitle {
		text = "\n" + text
	}
	t.anyTitle, t.titled = true, name
	io.WriteString(t.c.Stdout, text)
}
