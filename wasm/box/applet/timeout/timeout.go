// Package timeout is the command timeout.
package timeout

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is timeout.
var Command = applet.Command{
	Name:     "timeout",
	Synopsis: "[OPTION] DURATION COMMAND [ARG]...",
	Summary:  "start COMMAND, and kill it if still running after DURATION",
	Help: `      --preserve-status  exit with the same status as COMMAND, even when the
                           command times out
      --foreground       (accepted, no effect)
  -k, --kill-after=DURATION  also send a KILL signal if COMMAND is still
                           running this long after the initial signal
  -s, --signal=SIGNAL    the signal to be sent on timeout
  -v, --verbose          diagnose to stderr any signal sent upon timeout`,
	Run: run,
}

// Statuses of timeout itself.
const (
	timedOut = 124
	failed   = 125
)

func run(c *applet.Ctx) int {
	var preserve, foreground, verbose bool
	var killAfter time.Duration
	signal := 15
	args, status, ok := c.Parse(failed,
		applet.StopAtOperand(),
		applet.Bool(&preserve, 0, "preserve-status"),
		applet.Bool(&foreground, 0, "foreground"),
		applet.Func(func(v string) error {
			d, ok := applet.ParseDuration(v)
			if !ok {
				return applet.UsageError("invalid time interval " + applet.Curly(v))
			}
			killAfter = d
			return nil
		}, 'k', "kill-after"),
		applet.Func(func(v string) error {
			n, ok := applet.Signal(v)
			if signal = n; !ok {
				return applet.UsageError(applet.Curly(v) + ": invalid signal")
			}
			return nil
		}, 's', "signal"),
		applet.Bool(&verbose, 'v', "verbose"),
	)
	if !ok {
		return status
	}
	if len(args) < 2 {
		c.Usage()
		return failed
	}
	limit, valid := applet.ParseDuration(args[0])
	if !valid {
		c.Usage("invalid time interval ", applet.Curly(args[0]))
		return failed
	}
	child := applet.Child{Args: args[1:], Stdin: os.Stdin}
	pid, status := c.StartChild(child, "failed to run command "+applet.Curly(args[1]))
	if pid == 0 {
		return status
	}
	say := func(sig int) {
		if verbose {
			c.Warn("sending signal ", applet.SignalName(sig), " to command ", applet.Curly(args[1]))
		}
	}
	_, status, err := c.Procs.Wait(pid, int64(limit))
	if errors.Is(err, syscall.ETIMEDOUT) {
		say(signal)
		c.Procs.Kill(pid, signal)
		_, status, err = c.Procs.Wait(pid, int64(killAfter))
		if errors.Is(err, syscall.ETIMEDOUT) {
			signal = 9
			say(signal)
			c.Procs.Kill(pid, signal)
			_, status, err = c.Procs.Wait(pid, 0)
		}
		if err == nil && !preserve && signal != 9 {
			return timedOut
		}
		if err == nil && signal == 9 {
			return 128 + 9
		}
	}
	if err != nil {
		c.Warn("error waiting for command: ", applet.Reason(err))
		return failed
	}
	return status
}
