// Package tac is the command tac.
package tac

import (
	"bytes"
	"errors"
	"io"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is tac.
var Command = applet.Command{
	Name:     "tac",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "write each FILE to standard output, last line first",
	Help: `  -b, --before             attach the separator before instead of after
  -s, --separator=STRING   use STRING as the separator instead of newline`,
	Run: run,
}

func run(c *applet.Ctx) int {
	before := false
	sep := "\n"
	files, status, ok := c.Parse(1,
		applet.Bool(&before, 'b', "before"),
		applet.String(&sep, 's', "separator"),
	)
	if !ok {
		return status
	}
	if sep == "" {
		sep = "\x00"
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			c.Warn("failed to open ", applet.Quote(name), " for reading: ", applet.Reason(err))
			ok = false
			continue
		}
		text, err := io.ReadAll(r)
		r.Close()
		if errors.Is(err, syscall.EISDIR) {
			err = syscall.EINVAL
		}
		if err != nil {
			c.Warn(applet.Name(name), ": read error: ", applet.Reason(err))
			ok = false
			continue
		}
		reverse(c, text, []byte(sep), before)
	}
	return applet.Status(ok)
}

// reverse writes the records of text from the last one on.
func reverse(c *applet.Ctx, text, sep []byte, before bool) {
	w := c.Out()
	end := len(text)
	if before {
		for end > 0 {
			i := bytes.LastIndex(text[:end], sep)
			if i < 0 {
				break
			}
			w.Write(text[i:end])
			end = i
		}
		w.Write(text[:end])
		return
	}
	for end > 0 {
		// The separator at the very end belongs to the record before it.
		look := end
		if bytes.HasSuffix(text[:end], sep) {
			look = end - len(sep)
		}
		i := bytes.LastIndex(text[:look], sep)
		start := 0
		if i >= 0 {
			start = i + len(sep)
		}
		if _, err := w.Write(text[start:end]); err != nil {
			return
		}
		end = start
	}
}
