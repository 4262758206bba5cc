// Package cut is the command cut.
package cut

import (
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is cut.
var Command = applet.Command{
	Name:     "cut",
	Synopsis: "OPTION... [FILE]...",
	Summary:  "print selected parts of lines from each FILE to standard output",
	Help: `  -b, --bytes=LIST        select only these bytes
  -c, --characters=LIST   select only these characters (bytes)
  -d, --delimiter=DELIM   use DELIM instead of TAB for field delimiter
  -f, --fields=LIST       select only these fields; also print any line
                            that contains no delimiter, unless -s is given
  -n                      (ignored)
      --complement        complement the set of selected parts
  -s, --only-delimited    do not print lines not containing delimiters
      --output-delimiter=STRING  use STRING as the output delimiter
  -z, --zero-terminated   line delimiter is NUL, not newline`,
	Run: run,
}

type cutter struct {
	ranges     []span
	fields     bool
	delim      byte
	only       bool
	joint      []byte
	hasJoint   bool
	complement bool
	end        byte
}

func run(c *applet.Ctx) int {
	k := cutter{delim: '\t', end: '\n'}
	list, hasList, hasDelim, ignored := "", false, false, false
	choose := func(fields bool) func(string) error {
		return func(v string) error {
			if hasList {
				return applet.UsageError("only one list may be specified")
			}
			list, hasList, k.fields = v, true, fields
			return nil
		}
	}
	files, status, ok := c.Parse(1,
		applet.Func(choose(false), 'b', "bytes"),
		applet.Func(choose(false), 'c', "characters"),
		applet.Func(func(v string) error {
			if len(v) > 1 {
				return applet.UsageError("the delimiter must be a single character")
			}
			hasDelim, k.delim = true, 0
			if v != "" {
				k.delim = v[0]
			}
			return nil
		}, 'd', "delimiter"),
		applet.Func(choose(true), 'f', "fields"),
		applet.Bool(&ignored, 'n', ""),
		applet.Bool(&k.complement, 0, "complement"),
		applet.Bool(&k.only, 's', "only-delimited"),
		applet.Func(func(v string) error {
			k.joint, k.hasJoint = []byte(v), true
			if v == "" {
				k.joint = []byte{0}
			}
			return nil
		}, 0, "output-delimiter"),
		applet.Do(func() { k.end = 0 }, 'z', "zero-terminated"),
	)
	if !ok {
		return status
	}
	switch {
	case !hasList:
		return c.Usage("you must specify a list of bytes, characters, or fields")
	case !k.fields && hasDelim:
		return c.Usage("an input delimiter may be specified only when operating on fields")
	case !k.fields && k.only:
		return c.Usage("suppressing non-delimited lines makes sense\n\tonly when operating on fields")
	}
	var complaint string
	if k.ranges, complaint = parseList(list, k.fields, k.complement); complaint != "" {
		return c.Usage(complaint)
	}
	if k.fields && !k.hasJoint {
		k.joint = []byte{k.delim}
	}
	out := make([]byte, 0, applet.BufSize+4096)
	ok = c.Files(files, func(_ string, r io.Reader) error {
		if k.fields && k.delim == k.end {
			return k.lineFields(r, c.Stdout)
		}
		lines := applet.NewLines(r, k.end)
		for {
			line, more := lines.Next()
			if !more {
				return lines.Err()
			}
			if k.fields {
				out = k.cutFields(out, line)
			} else {
				out = append(k.cutBytes(out, line), k.end)
			}
			if len(out) >= applet.BufSize {
				if _, err := c.Stdout.Write(out); err != nil {
					return nil
				}
				out = out[:0]
			}
		}
	})
	c.Stdout.Write(out)
	return applet.Status(ok)
}
