package nice

import (
	"errors"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Setsid is the command setsid. There are no sessions of processes: the
// command runs as any other, and ends with the line at the latest.
var Setsid = applet.Command{
	Name:     "setsid",
	Synopsis: "[OPTION]... COMMAND [ARG]...",
	Summary:  "run COMMAND; there are no sessions to detach it from",
	Help: `  -c, --ctty           no effect
  -f, --fork           end with status 0 whatever COMMAND's is, unless -w
  -w, --wait           end with COMMAND's status`,
	Run: setsid,
}

// Stdbuf is the command stdbuf. How a command buffers is its own business
// here: the modes are checked and then without effect.
var Stdbuf = applet.Command{
	Name:     "stdbuf",
	Synopsis: "OPTION... COMMAND [ARG]...",
	Summary:  "run COMMAND; the modes of buffering have no effect",
	Help: `  -i, --input=MODE     of standard input: 0 or a size
  -o, --output=MODE    of standard output: L, 0 or a size
  -e, --error=MODE     of standard error: L, 0 or a size`,
	Run: stdbuf,
}

func setsid(c *applet.Ctx) int {
	var tty, fork, wait bool
	args, status, ok := c.Parse(1, applet.StopAtOperand(),
		applet.Bool(&tty, 'c', "ctty"), applet.Bool(&fork, 'f', "fork"), applet.Bool(&wait, 'w', "wait"))
	if !ok {
		return status
	}
	if len(args) == 0 {
		return c.Usage("no command specified")
	}
	pid, status := c.StartChild(applet.Child{Args: args, Stdin: os.Stdin}, "failed to execute "+args[0])
	if pid == 0 {
		return status
	}
	_, status, err := c.Procs.Wait(pid, 0)
	switch {
	case err != nil:
		c.Warn(args[0], ": ", applet.Reason(err))
		return 1
	case fork && !wait:
		return 0
	}
	return status
}

func stdbuf(c *applet.Ctx) int {
	given := false
	mode := func(input bool) func(string) error {
		return func(v string) error {
			given = true
			if v == "L" {
				if input {
					return applet.UsageError("line buffering stdin is meaningless")
				}
				return nil
			}
			if _, err := applet.ParseSize(v, "EGkKMPTYZ"); err != nil {
				why := "invalid mode " + applet.Curly(v)
				if err == applet.ErrOverflow {
					why += ": " + err.Error()
				}
				return errors.New(why)
			}
			return nil
		}
	}
	args, status, ok := c.Parse(125, applet.StopAtOperand(),
		applet.Func(mode(true), 'i', "input"), applet.Func(mode(false), 'o', "output"), applet.Func(mode(false), 'e', "error"))
	if !ok {
		return status
	}
	why := ""
	switch {
	case len(args) == 0:
		why = "missing operand"
	case !given:
		why = "you must specify a buffering mode option"
	}
	if why != "" {
		c.Usage(why)
		return 125
	}
	pid, status := c.StartChild(applet.Child{Args: args, Stdin: os.Stdin}, "failed to run command "+applet.Curly(args[0]))
	if pid == 0 {
		return status
	}
	_, status, err := c.Procs.Wait(pid, 0)
	if err != nil {
		c.Warn(args[0], ": ", applet.Reason(err))
		return 125
	}
	return status
}
