// Package basename holds the commands basename and dirname.
package basename

import (
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Basename is the command basename.
var Basename = applet.Command{
	Name:     "basename",
	Synopsis: "NAME [SUFFIX] | OPTION... NAME...",
	Summary:  "print NAME with any leading directory components removed",
	Help: `  -a, --multiple       support multiple arguments and treat each as a NAME
  -s, --suffix=SUFFIX  remove a trailing SUFFIX; implies -a
  -z, --zero           end each output line with NUL, not newline`,
	Run: basename,
}

// Dirname is the command dirname.
var Dirname = applet.Command{
	Name:     "dirname",
	Synopsis: "[OPTION] NAME...",
	Summary:  "print each NAME with its last component removed",
	Help:     `  -z, --zero  end each output line with NUL, not newline`,
	Run:      dirname,
}

func basename(c *applet.Ctx) int {
	var multiple, zero bool
	suffix := ""
	args, status, ok := c.Parse(1,
		applet.StopAtOperand(),
		applet.Bool(&multiple, 'a', "multiple"),
		applet.Func(func(v string) error { suffix, multiple = v, true; return nil }, 's', "suffix"),
		applet.Bool(&zero, 'z', "zero"),
	)
	if !ok {
		return status
	}
	switch {
	case len(args) == 0:
		return c.Usage("missing operand")
	case !multiple && len(args) > 2:
		return c.ExtraOperand(args[2])
	case !multiple && len(args) == 2:
		suffix, args = args[1], args[:1]
	}
	return lines(c, args, zero, func(name string) string {
		name = applet.Base(name)
		if name != suffix && name != "/" {
			name = strings.TrimSuffix(name, suffix)
		}
		return name
	})
}

func dirname(c *applet.Ctx) int {
	zero := false
	args, status, ok := c.Parse(1, applet.StopAtOperand(), applet.Bool(&zero, 'z', "zero"))
	if !ok {
		return status
	}
	if len(args) == 0 {
		return c.Usage("missing operand")
	}
	return lines(c, args, zero, applet.Dir)
}

func lines(c *applet.Ctx, args []string, zero bool, f func(string) string) int {
	end := byte('\n')
	if zero {
		end = 0
	}
	var out []byte
	for _, a := range args {
		out = append(append(out, f(a)...), end)
	}
	c.Stdout.Write(out)
	return 0
}
