package csplit

import (
	"errors"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// pattern says where a piece ends.
type pattern struct {
	text    string // as given
	line    int64
	re      *posixre.Regexp // nil: line counts
	skip    bool            // what comes before is dropped
	offset  int64
	repeat  int64
	forever bool
}

func (s *splitter) parse(args []string) (list []*pattern, err error) {
	line := int64(0) // the last line number given
	for i := 0; i < len(args); i++ {
		a := args[i]
		p := &pattern{text: a}
		if a != "" && (a[0] == '/' || a[0] == '%') {
			err = p.parseRegexp(a)
		} else {
			line, err = s.parseLine(p, line)
		}
		if err != nil {
			return nil, err
		}
		if i+1 < len(args) && strings.HasPrefix(args[i+1], "{") {
			i++
			if err := p.parseRepeat(args[i]); err != nil {
				return nil, err
			}
		}
		list = append(list, p)
	}
	return list, nil
}

func (s *splitter) parseLine(p *pattern, before int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(p.text, "+"), 10, 63)
	number := strconv.FormatInt(n, 10)
	switch {
	case err != nil || n < 0:
		return 0, errors.New(applet.Curly(p.text) + ": invalid pattern")
	case n == 0:
		return 0, errors.New(p.text + ": line number must be greater than zero")
	case n < before:
		return 0, errors.New("line number " + applet.Curly(p.text) + " is smaller than preceding line number, " + strconv.FormatInt(before, 10))
	case n == before:
		s.c.Warn("warning: line number ", applet.Curly(number), " is the same as preceding line number")
	}
	p.line = n
	return n, nil
}

// parseRegexp reads /REGEXP/[OFFSET]; the delimiter that ends it is the last.
func (p *pattern) parseRegexp(a string) error {
	end := strings.LastIndexByte(a, a[0])
	if end == 0 {
		return errors.New(a + ": closing delimiter '" + a[:1] + "' missing")
	}
	re, err := posixre.Compile([]string{a[1:end]}, posixre.Options{Dialect: posixre.GrepBasic})
	if err != nil {
		return errors.New(applet.Curly(a) + ": invalid regular expression: " + err.Error())
	}
	p.re, p.skip = re, a[0] == '%'
	if rest := a[end+1:]; rest != "" {
		n, err := strconv.ParseInt(strings.TrimPrefix(rest, "+"), 10, 62)
		if err != nil {
			return errors.New(applet.Curly(a) + ": integer expected after delimiter")
		}
		p.offset = n
	}
	return nil
}

func (p *pattern) parseRepeat(a string) error {
	if !strings.HasSuffix(a, "}") {
		return errors.New(a + ": '}' is required in repeat count")
	}
	text := a[1 : len(a)-1]
	if text == "*" {
		p.forever = true
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 62)
	if err != nil || n < 0 {
		return errors.New(applet.Curly(a[:len(a)-1]) + "}: integer required between '{' and '}'")
	}
	p.repeat = n
	return nil
}
