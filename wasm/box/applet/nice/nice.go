// Package nice holds the commands that start another in changed
// circumstances, which here are the same: nice, nohup, setsid and stdbuf.
package nice

import (
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Nice is the command nice. There are no priorities in the sandbox: the
// adjustment is read and then without effect.
var Nice = applet.Command{
	Name:     "nice",
	Synopsis: "[OPTION] [COMMAND [ARG]...]",
	Summary:  "run COMMAND with an adjusted niceness",
	Help:     `  -n, --adjustment=N   add integer N to the niceness (default 10)`,
	Run:      nice,
}

// Nohup is the command nohup. There is no terminal to hang up.
var Nohup = applet.Command{
	Name:     "nohup",
	Synopsis: "COMMAND [ARG]...",
	Summary:  "run COMMAND, ignoring hangup signals",
	Run:      nohup,
}

func nice(c *applet.Ctx) int {
	adjustment := ""
	// The old form is -N or --N.
	if len(c.Args) > 0 {
		a := c.Args[0]
		if n := strings.TrimLeft(a, "-+"); len(a) > 1 && a[0] == '-' && n != "" && n[0] >= '0' && n[0] <= '9' {
			c.Args = append([]string{"-n", a[1:]}, c.Args[1:]...)
		}
	}
	args, status, ok := c.Parse(125, applet.StopAtOperand(), applet.String(&adjustment, 'n', "adjustment"))
	if !ok {
		return status
	}
	if adjustment != "" {
		if _, err := strconv.Atoi(adjustment); err != nil {
			c.Warn("invalid adjustment ", applet.Curly(adjustment))
			return 125
		}
		if len(args) == 0 {
			c.Usage("a command must be given with an adjustment")
			return 125
		}
	}
	if len(args) == 0 {
		c.Out().WriteString("0\n")
		return 0
	}
	return c.Spawn(applet.Child{Args: args, Stdin: os.Stdin})
}

func nohup(c *applet.Ctx) int {
	args, status, ok := c.Parse(125, applet.StopAtOperand())
	if !ok {
		return status
	}
	if len(args) == 0 {
		c.Usage("missing operand")
		return 125
	}
	pid, status := c.StartChild(applet.Child{Args: args, Stdin: os.Stdin}, "failed to run command "+applet.Quote(args[0]))
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
