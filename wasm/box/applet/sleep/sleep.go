// Package sleep is the command sleep.
package sleep

import (
	"math"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is sleep.
var Command = applet.Command{
	Name:     "sleep",
	Synopsis: "NUMBER[SUFFIX]...",
	Summary:  "pause for NUMBER seconds; SUFFIX may be s, m, h or d",
	Run:      run,
}

func run(c *applet.Ctx) int {
	args, status, ok := c.Bare()
	if !ok {
		return status
	}
	if len(args) == 0 {
		return c.Usage("missing operand")
	}
	var sum time.Duration
	valid := true
	for _, a := range args {
		d, ok := applet.ParseDuration(a)
		if !ok {
			c.Warn("invalid time interval ", applet.Curly(a))
			valid = false
		}
		if sum += d; sum < 0 {
			sum = math.MaxInt64
		}
	}
	if !valid {
		return c.Usage()
	}
	if c.Linger != nil {
		c.Linger(sum)
		return 0
	}
	time.Sleep(sum)
	return 0
}
