// Package echo is the command echo.
package echo

import (
	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is echo.
var Command = applet.Command{
	Name:     "echo",
	Synopsis: "[SHORT-OPTION]... [STRING]...",
	Summary:  "display a line of text",
	Help: `  -n             do not output the trailing newline
  -e             enable interpretation of backslash escapes
  -E             disable interpretation of backslash escapes (default)`,
	Run: run,
}

func run(c *applet.Ctx) int {
	args := c.Args
	if len(args) == 1 {
		switch args[0] {
		case "--help":
			c.ShowHelp()
			return 0
		case "--version":
			c.ShowVersion()
			return 0
		}
	}
	newline, escapes := true, false
	for ; len(args) > 0 && isOption(args[0]); args = args[1:] {
		for _, o := range args[0][1:] {
			switch o {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
	}
	var out []byte
	for i, a := range args {
		if i > 0 {
			out = append(out, ' ')
		}
		if !escapes {
			out = append(out, a...)
			continue
		}
		var stop bool
		if out, stop = cformat.Text(out, a, true); stop {
			newline = false
			break
		}
	}
	if newline {
		out = append(out, '\n')
	}
	c.Stdout.Write(out)
	return 0
}

// isOption tells an argument that is a dash and nothing but option letters.
func isOption(a string) bool {
	if len(a) < 2 || a[0] != '-' {
		return false
	}
	for _, o := range a[1:] {
		if o != 'n' && o != 'e' && o != 'E' {
			return false
		}
	}
	return true
}
