// Package tee is the command tee.
package tee

import (
	"io"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is tee.
var Command = applet.Command{
	Name:     "tee",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "copy standard input to each FILE, and also to standard output",
	Help: `  -a, --append              append to the given FILEs, do not overwrite
  -i, --ignore-interrupts   (ignored)
  -p                        operate in a more appropriate way with pipes
      --output-error[=MODE] warn, warn-nopipe, exit or exit-nopipe`,
	Run: run,
}

func run(c *applet.Ctx) int {
	var appending, ignored, keepOn, exit bool
	files, status, ok := c.Parse(1,
		applet.Bool(&appending, 'a', "append"),
		applet.Bool(&ignored, 'i', "ignore-interrupts"),
		applet.Bool(&keepOn, 'p', ""),
		applet.Optional(func(mode string, given bool) error {
			if !given {
				mode = "warn-nopipe"
			}
			i, err := applet.Choose("--output-error", mode,
				[]string{"warn"}, []string{"warn-nopipe"}, []string{"exit"}, []string{"exit-nopipe"})
			keepOn, exit = true, i >= 2
			return err
		}, 0, "output-error"),
	)
	if !ok {
		return status
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if appending {
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	type sink struct {
		name string
		w    io.Writer
	}
	var sinks []sink
	status = 0
	for _, name := range files {
		f, err := os.OpenFile(name, flag, 0o666)
		if err != nil {
			c.WarnName(name, err)
			status = 1
			if exit {
				return 1
			}
			continue
		}
		defer f.Close()
		sinks = append(sinks, sink{name, f})
	}
	buf := make([]byte, applet.BufSize)
	outOK := true
	for {
		n, err := c.Stdin.Read(buf)
		if n > 0 {
			if outOK {
				_, werr := c.Stdout.Write(buf[:n])
				if werr == nil {
					werr = c.Flush()
				}
				if werr != nil {
					outOK = false
					if !keepOn || exit {
						return 1 // the flush after Run says why
					}
				}
			}
			kept := sinks[:0]
			for _, s := range sinks {
				if _, werr := s.w.Write(buf[:n]); werr != nil {
					c.WarnName(s.name, werr)
					status = 1
					if exit {
						return 1
					}
					continue
				}
				kept = append(kept, s)
			}
			sinks = kept
			if !outOK && len(sinks) == 0 {
				return 1
			}
		}
		if err == io.EOF {
			return status
		}
		if err != nil {
			c.Warn("read error: ", applet.Reason(err))
			return 1
		}
	}
}
