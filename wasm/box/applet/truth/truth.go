// Package truth holds the commands true and false.
package truth

import "github.com/donax-sh/donax/wasm/box/applet"

// True is the command true.
var True = applet.Command{
	Name:     "true",
	Synopsis: "[ignored command line arguments]",
	Summary:  "exit with a status code indicating success",
	Run:      func(c *applet.Ctx) int { show(c); return 0 },
}

// False is the command false.
var False = applet.Command{
	Name:     "false",
	Synopsis: "[ignored command line arguments]",
	Summary:  "exit with a status code indicating failure",
	Run:      func(c *applet.Ctx) int { show(c); return 1 },
}

func show(c *applet.Ctx) {
	if len(c.Args) != 1 {
		return
	}
	switch c.Args[0] {
	case "--help":
		c.ShowHelp()
	case "--version":
		c.ShowVersion()
	}
}
