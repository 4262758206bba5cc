// Package iconv is the command iconv.
package iconv

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is iconv.
var Command = applet.Command{
	Name:     "iconv",
	Synopsis: "[OPTION...] [FILE...]",
	Summary:  "convert text from one encoding to another",
	Help: `  -f, --from-code=NAME       encoding of original text
  -t, --to-code=NAME         encoding for output; //TRANSLIT after it writes
                             what it lacks in other letters, //IGNORE not at all
  -l, --list                 list all known coded character sets
  -c                         omit invalid characters from output
  -o, --output=FILE          output file
  -s, --silent               suppress warnings
      --verbose              (accepted, no effect)`,
	Run: run,
}

const usage = 64 // the status of a wrong option

var (
	errIllegal    = errors.New("illegal input sequence at position ")
	errIncomplete = errors.New("incomplete character or shift sequence at end of buffer")
)

type converter struct {
	from               charset
	to                 charset
	omit, ignore, like bool // -c, //IGNORE, //TRANSLIT
	ignored            bool // something was left out for //IGNORE
	out                []byte
	dst                io.Writer
}

func run(c *applet.Ctx) int {
	from, to, output := "UTF-8", "UTF-8", ""
	var list, omit, silent, verbose bool
	files, status, ok := c.Parse(usage,
		applet.String(&from, 'f', "from-code"),
		applet.String(&to, 't', "to-code"),
		applet.Bool(&list, 'l', "list"),
		applet.Bool(&omit, 'c', ""),
		applet.String(&output, 'o', "output"),
		applet.Bool(&silent, 's', "silent"),
		applet.Bool(&verbose, 0, "verbose"),
	)
	if !ok {
		return status
	}
	if list {
		for _, name := range names() {
			io.WriteString(c.Stdout, name+"//\n")
		}
		return 0
	}
	from, _, _ = strings.Cut(from, "//")
	to, how, _ := strings.Cut(to, "//")
	v := converter{omit: omit, dst: c.Stdout}
	for _, h := range strings.Split(strings.ToUpper(how), "//") {
		v.ignore = v.ignore || h == "IGNORE"
		v.like = v.like || h == "TRANSLIT"
	}
	var ok1, ok2 bool
	v.from, ok1 = find(from)
	v.to, ok2 = find(to)
	switch {
	case !ok1 && !ok2:
		c.Warn("conversions from `", from, "' and to `", to, "' are not supported: see iconv -l")
		return 1
	case !ok1:
		c.Warn("conversion from `", from, "' is not supported: see iconv -l")
		return 1
	case !ok2:
		c.Warn("conversion to `", to, "' is not supported: see iconv -l")
		return 1
	}
	if output != "" {
		f, err := os.Create(output)
		if err != nil {
			c.Warn("unable to open output file: ", applet.Reason(err))
			return 1
		}
		defer f.Close()
		v.dst = f
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			c.Warn("cannot open input file `", name, "': ", applet.Reason(err))
			status = 1
			continue
		}
		at, err := v.convert(r)
		r.Close()
		if err == nil && v.ignored {
			err = errIllegal
		}
		v.flush()
		if err != nil {
			switch err {
			case errIllegal:
				c.Warn(err.Error(), strconv.Itoa(at))
			case errIncomplete:
				c.Warn(err.Error())
			default:
				c.Warn("unable to read input: ", applet.Reason(err))
			}
			return 1
		}
	}
	return status
}

func (v *converter) flush() error {
	_, err := v.dst.Write(v.out)
	v.out = v.out[:0]
	return err
}

// convert converts one file and returns how far it came.
func (v *converter) convert(r io.Reader) (at int, err error) {
	buf := make([]byte, applet.BufSize)
	held := 0
	decode := v.from.decode
	for start, end := true, false; !end; start = false {
		n, err := r.Read(buf[held:])
		if err != nil && err != io.EOF {
			return at, err
		}
		end = err == io.EOF
		in := buf[:held+n]
		if start && !end && len(in) < 4 && v.from.sniff != nil {
			held, start = len(in), true
			continue
		}
		if start && v.from.sniff != nil {
			skip := 0
			decode, skip = v.from.sniff(in)
			in, at = in[skip:], at+skip
		}
		for len(in) > 0 {
			c, size := decode(in)
			switch {
			case size == 0 && !end:
			case size == 0 && v.omit:
				return at, v.flush()
			case size == 0:
				return at, errIncomplete
			case c < 0 && v.omit:
			case c < 0:
				return at, errIllegal
			case !v.put(c):
				return at, errIllegal
			}
			if size == 0 {
				break
			}
			in, at = in[size:], at+size
		}
		held = copy(buf, in)
		if len(v.out) >= applet.BufSize/2 {
			if err := v.flush(); err != nil {
				return at, err
			}
		}
	}
	return at, nil
}

// put writes a character and tells whether it could.
func (v *converter) put(c rune) bool {
	v.out = append(v.out, v.to.mark...)
	v.to.mark = ""
	out, ok := v.to.encode(v.out, c)
	if !ok && v.like {
		if out, ok = v.alike(c); !ok {
			out, ok = v.to.encode(v.out, '?')
		}
	}
	switch {
	case ok:
		v.out = out
	case v.ignore:
		v.ignored = true
	case !v.omit:
		return false
	}
	return true
}

// alike writes a character in others that the encoding has.
func (v *converter) alike(c rune) (out []byte, ok bool) {
	out = v.out
	for _, r := range likeness(c) {
		if out, ok = v.to.encode(out, r); !ok {
			return nil, false
		}
	}
	return out, ok
}
