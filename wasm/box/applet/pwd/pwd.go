// Package pwd is the command pwd.
package pwd

import (
	"io"
	"os"
	"path"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is pwd.
var Command = applet.Command{
	Name:     "pwd",
	Synopsis: "[OPTION]...",
	Summary:  "print the full filename of the current working directory",
	Help: `  -L, --logical    use PWD from environment, even if it contains symlinks
  -P, --physical   avoid all symlinks (default)`,
	Run: run,
}

func run(c *applet.Ctx) int {
	logical := false
	args, status, ok := c.Parse(1,
		applet.Do(func() { logical = true }, 'L', "logical"),
		applet.Do(func() { logical = false }, 'P', "physical"),
	)
	if !ok {
		return status
	}
	if len(args) > 0 {
		c.Warn("ignoring non-option arguments")
	}
	if dir := os.Getenv("PWD"); logical && strings.HasPrefix(dir, "/") && path.Clean(dir) == dir {
		here, err1 := os.Stat(".")
		there, err2 := os.Stat(dir)
		if err1 == nil && err2 == nil && os.SameFile(here, there) {
			io.WriteString(c.Stdout, dir+"\n")
			return 0
		}
	}
	dir, err := os.Getwd()
	if err == nil {
		dir, err = applet.Resolve(dir, applet.MustExist)
	}
	if err != nil {
		c.Warn(applet.Reason(err))
		return 1
	}
	io.WriteString(c.Stdout, dir+"\n")
	return 0
}
