// Package which is the command which.
package which

import (
	"io"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is which.
var Command = applet.Command{
	Name:     "which",
	Synopsis: "[-a] NAME...",
	Summary:  "locate a command in PATH",
	Help:     `  -a             print all matching pathnames of each argument`,
	Run:      run,
}

func run(c *applet.Ctx) int {
	all := false
	names, status, ok := c.Parse(2, applet.StopAtOperand(), applet.Bool(&all, 'a', ""), applet.Bool(&all, 0, "all"))
	if !ok {
		return status
	}
	ok = len(names) > 0
	for _, name := range names {
		found := false
		for _, path := range candidates(name) {
			if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
				continue
			}
			found = true
			io.WriteString(c.Stdout, path+"\n")
			if !all {
				break
			}
		}
		ok = ok && found
	}
	return applet.Status(ok)
}

func candidates(name string) []string {
	if strings.Contains(name, "/") {
		return []string{name}
	}
	var out []string
	for _, dir := range strings.Split(os.Getenv("PATH"), ":") {
		if dir == "" {
			dir = "."
		}
		out = append(out, strings.TrimSuffix(dir, "/")+"/"+name)
	}
	return out
}
