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

// compress appends line with runs of blanks that reach tab stops as tabs.
func (t *tabs) compress(out, line []byte, all bool) []byte {
	column := 0
	convert := true
	for i := 0; i < len(line); {
		b := line[i]
		if !convert || b != ' ' && b != '\t' {
			switch b {
			case '\b':
				column = max(0, column-1)
			case '\t':
				column, _ = t.next(column)
			default:
				column++
			}
			if b != ' ' && b != '\t' {
				convert = convert && all
			}
			out = append(out, b)
			i++
			continue
		}
		// A run of blanks.
		start, from := i, column
		past := false
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') && !past {
			next, ok := t.next(column)
			if line[i] == '\t' {
				if !ok {
					past = true
					break
				}
				column = next
			} else {
				column++
				if !ok {
					past = true
				}
			}
			i++
		}
		if past {
			// Behind the last stop blanks stay as they are.
			for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
				column++
				i++
			}
		}
		out = t.blanks(out, line[start:i], from, column, past)
		if past {
			convert = false
		}
	}
	return out
}

// blanks appends the blanks run, which fills the columns from from to to.
func (t *tabs) blanks(out, run []byte, from, to int, past bool) []byte {
	if past {
		for _, b := range run {
			next, ok := t.next(from)
			if !ok || from >= to {
				out = append(out, b)
				continue
			}
			_ = next
			out = append(out, b)
			from++
		}
		return out
	}
	for {
		next, ok := t.next(from)
		if !ok || next > to {
			break
		}
		if next == from+1 && next == to && len(run) == 1 && run[0] == ' ' {
			break // a single blank before a stop stays a blank
		}
		if next-from == 1 && run[len(run)-1] == ' ' && next == to {
			// One column to go, and it was a blank: as GNU, a tab only when
			// more blanks led here.
			if len(run) == 1 {
				break
			}
		}
		out = append(out, '\t')
		from = next
	}
	for ; from < to; from++ {
		out = append(out, ' ')
	}
	return out
}
