// Package nl is the command nl.
package nl

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// Command is nl.
var Command = applet.Command{
	Name:     "nl",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "write each FILE to standard output, with line numbers added",
	Help: `  -b, --body-numbering=STYLE      use STYLE for numbering body lines
  -d, --section-delimiter=CC      use CC for logical page delimiters
  -f, --footer-numbering=STYLE    use STYLE for numbering footer lines
  -h, --header-numbering=STYLE    use STYLE for numbering header lines
  -i, --line-increment=NUMBER     line number increment at each line
  -l, --join-blank-lines=NUMBER   group of NUMBER empty lines counted as one
  -n, --number-format=FORMAT      insert line numbers according to FORMAT
  -p, --no-renumber               do not reset line numbers for each section
  -s, --number-separator=STRING   add STRING after (possible) line number
  -v, --starting-line-number=NUMBER  first line number for each section
  -w, --number-width=NUMBER       use NUMBER columns for line numbers
STYLE is a (all lines), t (nonempty lines), n (none) or pBRE (lines that match
the basic regular expression).
FORMAT is ln (left justified), rn (right justified) or rz (with zeros).`,
	Run: run,
}

type numberer struct {
	styles      [3]byte // of header, body, footer: a, t, n or p
	match       [3]*posixre.Regexp
	section     int
	delim       string
	step, start int64
	next        int64
	join, blank int64
	format, sep string
	keep        bool
	width       int
	out         []byte
}

func run(c *applet.Ctx) int {
	n := numberer{styles: [3]byte{'n', 't', 'n'}, section: 1, delim: `\:`, step: 1, start: 1, join: 1, format: "rn", sep: "\t", width: 6}
	style := func(i int, what string) func(string) error {
		return func(v string) error {
			if pattern, ok := strings.CutPrefix(v, "p"); ok {
				re, err := posixre.Compile([]string{pattern}, posixre.Options{Dialect: posixre.GrepBasic})
				n.styles[i], n.match[i] = 'p', re
				return err
			}
			if v != "a" && v != "t" && v != "n" {
				return errors.New("invalid " + what + " numbering style: " + applet.Curly(v) + "\nTry 'nl --help' for more information.")
			}
			n.styles[i] = v[0]
			return nil
		}
	}
	num := func(p *int64, what string, least int64) func(string) error {
		return func(v string) error {
			d, err := strconv.ParseInt(v, 10, 64)
			if err == nil && d < least {
				return applet.Complain("invalid "+what, v, applet.ErrRange)
			}
			if err != nil {
				return applet.Complain("invalid "+what, v, err)
			}
			*p = d
			return nil
		}
	}
	width := int64(6)
	files, status, ok := c.Parse(1,
		applet.Func(style(1, "body"), 'b', "body-numbering"),
		applet.Func(func(v string) error {
			if len(v) == 1 {
				v += ":"
			}
			n.delim = v
			return nil
		}, 'd', "section-delimiter"),
		applet.Func(style(2, "footer"), 'f', "footer-numbering"),
		applet.Func(style(0, "header"), 'h', "header-numbering"),
		applet.Func(num(&n.step, "line number increment", -1<<62), 'i', "line-increment"),
		applet.Func(num(&n.join, "line number of blank lines", 1), 'l', "join-blank-lines"),
		applet.Func(func(v string) error {
			if v != "ln" && v != "rn" && v != "rz" {
				return errors.New("invalid line numbering format: " + applet.Curly(v) + "\nTry 'nl --help' for more information.")
			}
			n.format = v
			return nil
		}, 'n', "number-format"),
		applet.Bool(&n.keep, 'p', "no-renumber"),
		applet.String(&n.sep, 's', "number-separator"),
		applet.Func(num(&n.start, "starting line number", -1<<62), 'v', "starting-line-number"),
		applet.Func(num(&width, "line number field width", 1), 'w', "number-width"),
	)
	if !ok {
		return status
	}
	n.width = int(min(width, 1<<20))
	n.next = n.start
	ok = c.Files(files, func(_ string, r io.Reader) error {
		lines := applet.NewLines(r, '\n')
		for {
			line, more := lines.Next()
			if !more {
				return lines.Err()
			}
			n.line(line)
			if len(n.out) >= applet.BufSize {
				if _, err := c.Stdout.Write(n.out); err != nil {
					return nil
				}
				n.out = n.out[:0]
			}
		}
	})
	c.Stdout.Write(n.out)
	return applet.Status(ok)
}

func (n *numberer) line(line []byte) {
	if section := n.sectionOf(line); section >= 0 {
		n.section = section
		if !n.keep {
			n.next = n.start
		}
		n.blank = 0
		n.out = append(n.out, '\n')
		return
	}
	numbered := false
	switch n.styles[n.section] {
	case 'a':
		if len(line) > 0 || n.join == 1 {
			numbered = true
			n.blank = 0
		} else if n.blank++; n.blank == n.join {
			numbered = true
			n.blank = 0
		}
	case 't':
		numbered = len(line) > 0
	case 'p':
		numbered, _ = n.match[n.section].Match(line)
	}
	if numbered {
		num := strconv.FormatInt(n.next, 10)
		fill := n.width - len(num)
		switch n.format {
		case "ln":
			n.out = append(n.out, num...)
			n.out = append(n.out, strings.Repeat(" ", max(0, fill))...)
		case "rz":
			if num[0] == '-' {
				n.out = append(n.out, '-')
				num = num[1:]
			}
			n.out = append(n.out, strings.Repeat("0", max(0, fill))...)
			n.out = append(n.out, num...)
		default:
			n.out = applet.AppendPad(n.out, num, n.width)
		}
		n.out = append(n.out, n.sep...)
		n.next += n.step
	} else {
		n.out = append(n.out, strings.Repeat(" ", n.width+len(n.sep))...)
	}
	n.out = append(append(n.out, line...), '\n')
}

// sectionOf tells which section a line begins, -1 for none.
func (n *numberer) sectionOf(line []byte) int {
	if n.delim == "" {
		return -1
	}
	switch string(line) {
	case n.delim:
		return 2
	case n.delim + n.delim:
		return 1
	case n.delim + n.delim + n.delim:
		return 0
	}
	return -1
}
