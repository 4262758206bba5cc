// Package tr is the command tr.
package tr

import (
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is tr.
var Command = applet.Command{
	Name:     "tr",
	Synopsis: "[OPTION]... STRING1 [STRING2]",
	Summary:  "translate, squeeze, and/or delete characters from standard input",
	Help: `  -c, -C, --complement    use the complement of STRING1
  -d, --delete            delete characters in STRING1, do not translate
  -s, --squeeze-repeats   replace each sequence of a repeated character
                            that is listed in the last specified STRING,
                            with a single occurrence of that character
  -t, --truncate-set1     first truncate STRING1 to length of STRING2`,
	Run: run,
}

// plan is what is done to each byte, in this order.
type plan struct {
	drop     [256]bool
	to       [256]byte
	squeeze  [256]bool
	deletes  bool
	maps     bool
	squeezes bool
	last     int // the last byte written, -1 at the start
}

func run(c *applet.Ctx) int {
	var complement, del, squeeze, truncate bool
	args, status, ok := c.Parse(1,
		applet.StopAtOperand(),
		applet.Bool(&complement, 'c', "complement"),
		applet.Bool(&complement, 'C', ""),
		applet.Bool(&del, 'd', "delete"),
		applet.Bool(&squeeze, 's', "squeeze-repeats"),
		applet.Bool(&truncate, 't', "truncate-set1"),
	)
	if !ok {
		return status
	}
	least, most := 1, 2
	if del == squeeze {
		least = 2
	}
	if del && !squeeze {
		most = 1
	}
	switch {
	case len(args) == 0:
		return c.Usage("missing operand")
	case len(args) < least:
		c.Warn("missing operand after ", applet.Curly(args[0]))
		if squeeze {
			io.WriteString(c.Stderr, "Two strings must be given when both deleting and squeezing repeats.\n")
		} else {
			io.WriteString(c.Stderr, "Two strings must be given when translating.\n")
		}
		return c.Usage()
	case len(args) > most:
		c.Warn("extra operand ", applet.Curly(args[most]))
		if len(args) == 2 {
			io.WriteString(c.Stderr, "Only one string may be given when deleting without squeezing repeats.\n")
		}
		return c.Usage()
	}
	translate := !del && len(args) == 2
	var sets [2]set
	for i, a := range args {
		var err error
		if sets[i], err = parse(c, a); err != nil {
			c.Warn(err.Error())
			return 1
		}
	}
	p := plan{last: -1, deletes: del, maps: translate, squeezes: squeeze}
	if err := p.build(sets, len(args), complement, truncate); err != nil {
		c.Warn(err.Error())
		return 1
	}
	buf := make([]byte, applet.BufSize)
	for {
		n, err := c.Stdin.Read(buf)
		if _, werr := c.Stdout.Write(p.apply(buf[:n])); werr != nil {
			return 1
		}
		if err == io.EOF {
			return 0
		}
		if err != nil {
			c.Warn("read error: ", applet.Reason(err))
			return 1
		}
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// apply changes text in place and returns what is left of it.
func (p *plan) apply(text []byte) []byte {
	if p.deletes {
		k := 0
		for _, b := range text {
			text[k] = b
			k += bit(!p.drop[b])
		}
		text = text[:k]
	}
	if p.maps {
		for i, b := range text {
			text[i] = p.to[b]
		}
	}
	if p.squeezes {
		k, last := 0, p.last
		for _, b := range text {
			if int(b) == last && p.squeeze[b] {
				continue
			}
			last = int(b)
			text[k] = b
			k++
		}
		text, p.last = text[:k], last
	}
	return text
}
