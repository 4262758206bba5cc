// Package less holds the pagers less and more. There is no terminal in the
// sandbox, so that they print, as both do into a pipe.
package less

import (
	"io"
	"io/fs"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Less is the command less.
var Less = applet.Command{
	Name:     "less",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "print files; there is no terminal to page them on",
	Help: `  -FRSXNinMemgqrsw  accepted; they concern a terminal
  +COMMAND          accepted likewise`,
	Run: less,
}

// More is the command more.
var More = applet.Command{
	Name:     "more",
	Synopsis: "[OPTION]... FILE...",
	Summary:  "print files, each after its name",
	Help: `  -dflcpsu  accepted; they concern a terminal
  +COMMAND  accepted likewise`,
	Run: more,
}

// operands are the files on a command line whose options all concern a
// terminal.
func operands(c *applet.Ctx, letters string) (files []string, status int, ok bool) {
	on := false
	var opts []applet.Opt
	for _, l := range letters {
		opts = append(opts, applet.Bool(&on, l, ""))
	}
	list, status, ok := c.Parse(1, opts...)
	for _, f := range list {
		if len(f) == 0 || f[0] != '+' {
			files = append(files, f)
		}
	}
	return files, status, ok
}

func less(c *applet.Ctx) int {
	files, status, ok := operands(c, "FRSXNinMemgqrsw")
	if !ok {
		return status
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	return show(c, files, false)
}

func more(c *applet.Ctx) int {
	files, status, ok := operands(c, "dflcpsu")
	if !ok {
		return status
	}
	if len(files) == 0 {
		return show(c, []string{"-"}, false)
	}
	return show(c, files, true)
}

// show prints the files. A file that cannot be read is told of, by less where
// its text would stand, and changes no status: so both do.
func show(c *applet.Ctx, files []string, titles bool) int {
	for _, name := range files {
		f, err := c.Open(name)
		var info fs.FileInfo
		if err == nil && name != "-" {
			info, err = os.Stat(name)
		}
		switch {
		case err != nil && c.Cmd.Name == "more":
			c.Flush()
			io.WriteString(c.Stderr, "more: cannot open "+name+": "+applet.Reason(err)+"\n")
		case err != nil:
			io.WriteString(c.Stdout, name+": "+applet.Reason(err)+"\n")
		case info != nil && info.IsDir() && c.Cmd.Name == "more":
			io.WriteString(c.Stdout, "\n*** "+name+": directory ***\n\n")
		case info != nil && info.IsDir():
			io.WriteString(c.Stdout, name+" is a directory\n")
		default:
			if titles {
				io.WriteString(c.Stdout, "::::::::::::::\n"+name+"\n::::::::::::::\n")
			}
			if _, err := io.Copy(c.Out(), f); err != nil {
				c.WarnName(name, err)
			}
		}
		if f != nil {
			f.Close()
		}
	}
	return 0
}
