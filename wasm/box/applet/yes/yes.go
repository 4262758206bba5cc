// Package yes is the command yes.
package yes

import (
	"errors"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is yes.
var Command = applet.Command{
	Name:     "yes",
	Synopsis: "[STRING]...",
	Summary:  "repeatedly output a line with all specified STRING(s), or 'y'",
	Run:      run,
}

func run(c *applet.Ctx) int {
	args, status, ok := c.Bare()
	if !ok {
		return status
	}
	line := "y\n"
	if len(args) > 0 {
		line = strings.Join(args, " ") + "\n"
	}
	// Whole lines in one piece, so that a write costs one call for thousands.
	chunk := []byte(strings.Repeat(line, max(1, applet.BufSize/len(line))))
	for {
		_, err := c.Stdout.Write(chunk)
		if err == nil {
			err = c.Flush()
		}
		if err != nil {
			if !errors.Is(err, syscall.EPIPE) {
				c.Warn("standard output: ", applet.Reason(err))
			}
			return 1
		}
	}
}
