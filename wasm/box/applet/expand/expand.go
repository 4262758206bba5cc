package expand

import (
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Expand is the command expand.
var Expand = applet.Command{
	Name:     "expand",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "convert tabs in each FILE to spaces, writing to standard output",
	Help: `  -i, --initial       do not convert tabs after non blanks
  -t, --tabs=N        have tabs N characters apart, not 8
  -t, --tabs=LIST     use comma separated list of tab positions`,
	Run: expand,
}

// Unexpand is the command unexpand.
var Unexpand = applet.Command{
	Name:     "unexpand",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "convert blanks in each FILE to tabs, writing to standard output",
	Help: `  -a, --all           convert all blanks, instead of just initial blanks
      --first-only    convert only leading sequences of blanks (overrides -a)
  -t, --tabs=N        have tabs N characters apart instead of 8 (enables -a)
  -t, --tabs=LIST     use comma separated list of tab positions`,
	Run: unexpand,
}

// oldForm turns -4 and -4,8 into -t 4,8.
func oldForm(args []string) []string {
	out := append([]string{}, args...)
	for i, a := range out {
		if a == "--" {
			break
		}
		if len(a) > 1 && a[0] == '-' && a[1] >= '0' && a[1] <= '9' {
			out[i] = "-t" + a[1:]
		}
	}
	return out
}

func eachLine(c *applet.Ctx, files []string, f func(out, line []byte) []byte) int {
	var out []byte
	ok := c.Files(files, func(_ string, r io.Reader) error {
		lines := applet.NewLines(r, '\n')
		for {
			line, more := lines.Next()
			if !more {
				return lines.Err()
			}
			if out = f(out, line); lines.Full() {
				out = append(out, '\n')
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

func expand(c *applet.Ctx) int {
	var t tabs
	initial := false
	c.Args = oldForm(c.Args)
	files, status, ok := c.Parse(1,
		applet.Bool(&initial, 'i', "initial"),
		applet.Func(t.parse, 't', "tabs"),
	)
	if !ok {
		return status
	}
	t.finish()
	return eachLine(c, files, func(out, line []byte) []byte {
		column := 0
		convert := true
		for _, b := range line {
			switch {
			case b == '\t' && convert:
				next, _ := t.next(column)
				for ; column < next; column++ {
					out = append(out, ' ')
				}
				continue
			case b == '\b':
				column = max(0, column-1)
			case b == '\t':
				column, _ = t.next(column)
			default:
				column++
			}
			if initial && b != ' ' && b != '\t' {
				convert = false
			}
			out = append(out, b)
		}
		return out
	})
}

func unexpand(c *applet.Ctx) int {
	var t tabs
	all, first := false, false
	c.Args = oldForm(c.Args)
	files, status, ok := c.Parse(1,
		applet.Bool(&all, 'a', "all"),
		applet.Bool(&first, 0, "first-only"),
		applet.Func(func(v string) error { all = true; return t.parse(v) }, 't', "tabs"),
	)
	if !ok {
		return status
	}
	t.finish()
	all = all && !first
	return eachLine(c, files, func(out, line []byte) []byte { return t.compress(out, line, all) })
}

// compress appends line with blanks that end at tab stops as tabs. Blanks are
// held back until it is known what they become; a single one that ends at a
// stop stays a blank unless more follow.
func (t *tabs) compress(out, line []byte, all bool) []byte {
	column := 0
	var held []byte
	lone := false // the first of held ends at a stop
	after := true // the byte before was a blank, or this is the line's start
	release := func() {
		if len(held) > 1 && lone {
			held[0] = '\t'
		}
		out = append(out, held...)
		held, lone = held[:0], false
	}
	for i, b := range line {
		blank := b == ' ' || b == '\t'
		stop, ok := column, true
		if blank {
			stop, ok = t.next(column)
		}
		switch {
		case blank && !ok:
			// Behind the last stop nothing changes any more.
			release()
			return append(out, line[i:]...)
		case b == '\t' || b == ' ' && after && column+1 == stop:
			if b == '\t' {
				column = stop
			} else {
				column++
			}
			if len(held) > 0 {
				held[0] = '\t'
			}
			if lone {
				held = held[:1]
			} else {
				held = held[:0]
			}
			b = '\t'
		case b == ' ':
			column++
			lone = lone || column == stop
			held = append(held, b)
			after = true
			continue
		case b == '\b':
			column = max(0, column-1)
		default:
			column++
		}
		release()
		out = append(out, b)
		after = blank
		if !blank && !all {
			return append(out, line[i+1:]...)
		}
	}
	release()
	return out
}
