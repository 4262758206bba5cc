// Package html2md is the command html2md: it makes Markdown of a page, for
// who wants to read it and not its markup.
package html2md

import (
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

// Command is html2md.
var Command = applet.Command{
	Name:     "html2md",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "write HTML as Markdown",
	Help: `  -b, --base=URL      what relative links count from
  -L, --no-links      texts of links without their targets
  -I, --no-images     no images`,
	Run: run,
}

// maxPage bounds a page, which is held in memory.
const maxPage = 32 << 20

func run(c *applet.Ctx) int {
	var o options
	files, status, ok := c.Parse(1, applet.String(&o.base, 'b', "base"), applet.Bool(&o.noLinks, 'L', "no-links"), applet.Bool(&o.noImages, 'I', "no-images"))
	if !ok {
		return status
	}
	if o.base != "" {
		if _, err := weburl.Parse(o.base); err != nil {
			c.Warn("invalid base ", applet.Curly(o.base), ": ", err.Error())
			return 1
		}
	}
	return applet.Status(c.Files(files, func(name string, r io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(r, maxPage+1))
		if err != nil {
			return err
		}
		if len(text) > maxPage {
			c.Warn(applet.Name(name), ": only the first 32 MiB are read")
			text = text[:maxPage]
			ok = false
		}
		_, err = c.Stdout.Write(convert(string(text), o))
		return err
	}) && ok)
}
