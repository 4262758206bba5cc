// Package mkfifo is the command mkfifo, which says that there are no fifos.
package mkfifo

import "github.com/donax-sh/donax/wasm/box/applet"

// Command is mkfifo.
var Command = applet.Command{
	Name:     "mkfifo",
	Synopsis: "[OPTION]... NAME...",
	Summary:  "would create named pipes, of which the sandbox has none: it always fails",
	Help:     `  -m, --mode=MODE       the permissions`,
	Run:      run,
}

func run(c *applet.Ctx) int {
	mode := ""
	names, status, ok := c.Parse(1, applet.String(&mode, 'm', "mode"))
	if !ok {
		return status
	}
	if len(names) == 0 {
		return c.MissingOperand(nil)
	}
	for _, name := range names {
		c.Warn("cannot create fifo ", applet.Quote(name), ": Operation not supported: use a pipe, <(COMMAND) or a file")
	}
	return 1
}
