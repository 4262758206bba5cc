// Package watch is the command watch. There is no screen to redraw: each
// round is printed after the one before.
package watch

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is watch.
var Command = applet.Command{
	Name:     "watch",
	Synopsis: "[OPTION]... COMMAND [ARG]...",
	Summary:  "run COMMAND again and again, printing what it prints",
	Help: `  -b, --beep            no effect
  -c, --color           no effect: colours are passed on
  -d, --differences[=permanent]  no effect: there is no screen to mark
  -e, --errexit         stop when COMMAND fails
  -g, --chgexit         stop when its output changes
  -n, --interval=SECS   seconds between rounds (default 2, at least 0.1)
  -p, --precise         count the interval from start to start
  -q, --equexit=ROUNDS  stop when the output stayed the same so often
  -t, --no-title        print no header
  -w, --no-wrap         no effect: lines are never wrapped
  -x, --exec            run COMMAND itself, not "sh -c"`,
	Run: run,
}

type options struct {
	failed, changed, precise, noTitle, direct bool
	interval                                  time.Duration
	same                                      int64
}

func run(c *applet.Ctx) int {
	o := options{interval: 2 * time.Second}
	none := func() {}
	args, status, ok := c.Parse(1, applet.StopAtOperand(),
		applet.Do(none, 'b', "beep"), applet.Do(none, 'c', "color"),
		applet.Optional(func(string, bool) error { return nil }, 'd', "differences"),
		applet.Bool(&o.failed, 'e', "errexit"), applet.Bool(&o.changed, 'g', "chgexit"),
		applet.Func(func(v string) error {
			f, err := strconv.ParseFloat(strings.Replace(v, ",", ".", 1), 64)
			if err != nil || !(f >= 0) {
				return applet.UsageError("failed to parse argument: '" + v + "'")
			}
			o.interval = time.Duration(min(max(f, 0.1), 1<<31) * float64(time.Second))
			return nil
		}, 'n', "interval"),
		applet.Bool(&o.precise, 'p', "precise"),
		applet.Func(func(v string) (err error) {
			if o.same, err = applet.ParseSize(v, ""); err != nil || o.same == 0 {
				return applet.UsageError("failed to parse argument: '" + v + "'")
			}
			return nil
		}, 'q', "equexit"),
		applet.Bool(&o.noTitle, 't', "no-title"), applet.Do(none, 'w', "no-wrap"), applet.Bool(&o.direct, 'x', "exec"),
	)
	if !ok {
		return status
	}
	if len(args) == 0 {
		return c.Usage()
	}
	return o.watch(c, args)
}

// watch runs the rounds until an option, or nobody reading, ends them.
func (o *options) watch(c *applet.Ctx, args []string) int {
	line := strings.Join(args, " ")
	if !o.direct {
		args = []string{"sh", "-c", line}
	}
	var before []byte
	same := int64(0)
	for round := 0; ; round++ {
		began := time.Now()
		out, status := capture(c, args)
		if !o.noTitle {
			seconds := strconv.FormatFloat(o.interval.Seconds(), 'f', 1, 64)
			c.Out().WriteString("Every " + seconds + "s: " + line + "\n\n")
		}
		c.Stdout.Write(out)
		if c.Flush() != nil {
			return 1
		}
		if same++; round == 0 || !bytes.Equal(out, before) {
			same = 0
		}
		switch {
		case status == 126 || status == 127:
			return status
		case o.failed && status != 0:
			return 8
		case o.changed && round > 0 && same == 0, o.same > 0 && same >= o.same:
			return 0
		}
		before = out
		pause := o.interval
		if o.precise {
			pause -= time.Since(began)
		}
		time.Sleep(pause)
	}
}

// capture runs a command once and returns all that it prints.
func capture(c *applet.Ctx, args []string) ([]byte, int) {
	f, err := os.CreateTemp("", "watch")
	if err != nil { // there may be no folder for such files
		f, err = os.CreateTemp(".", ".watch")
	}
	if err != nil {
		c.Warn(applet.Reason(err))
		return nil, 126
	}
	defer func() {
		f.Close()
		os.Remove(f.Name())
	}()
	status := c.Spawn(applet.Child{Args: args, Stdin: os.Stdin, Stdout: f, Stderr: f})
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		var out []byte
		if out, err = io.ReadAll(f); err == nil {
			return out, status
		}
	}
	c.Warn(applet.Reason(err))
	return nil, 126
}
