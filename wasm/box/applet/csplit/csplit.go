// Package csplit is the command csplit.
package csplit

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is csplit.
var Command = applet.Command{
	Name:     "csplit",
	Synopsis: "[OPTION]... FILE PATTERN...",
	Summary:  "output pieces of FILE separated by PATTERNs to files xx00, xx01, ...",
	Help: `  -b, --suffix-format=FORMAT  use printf's FORMAT instead of %02d
  -f, --prefix=PREFIX   use PREFIX instead of xx
  -k, --keep-files      do not remove output files on errors
      --suppress-matched  suppress the lines matching PATTERN
  -n, --digits=DIGITS   use that many digits instead of 2
  -s, --quiet, --silent  do not print the sizes of output files
  -z, --elide-empty-files  remove empty output files

  PATTERN is
  INTEGER            copy up to but not including that line
  /REGEXP/[OFFSET]   copy up to but not including a matching line
  %REGEXP%[OFFSET]   skip to, but not including, a matching line
  {INTEGER}, {*}     repeat the previous pattern that often, or to the end`,
	Run: run,
}

type splitter struct {
	c                            *applet.Ctx
	prefix                       string
	suffix                       format
	keep, quiet, elide, suppress bool

	in      *input
	scanned int64 // lines that a pattern has looked at
	count   int   // files so far
	name    string
	f       *os.File
	w       []byte // not yet written to f
	bytes   int64
}

// errSaid is an error that has been reported.
var errSaid = errors.New("reported")

// errDone ends the work early, as {*} does at the end of the input.
var errDone = errors.New("done")

func run(c *applet.Ctx) int {
	s := splitter{c: c, prefix: "xx"}
	digits, suffix := int64(2), ""
	args, status, ok := c.Parse(1,
		applet.String(&suffix, 'b', "suffix-format"),
		applet.String(&s.prefix, 'f', "prefix"),
		applet.Bool(&s.keep, 'k', "keep-files"),
		applet.Bool(&s.suppress, 0, "suppress-matched"),
		applet.Func(func(v string) (err error) {
			if digits, err = applet.ParseSize(v, ""); err != nil || digits > 1000 {
				return errors.New("invalid number: " + applet.Curly(v))
			}
			return nil
		}, 'n', "digits"),
		applet.Bool(&s.quiet, 's', "quiet"), applet.Bool(&s.quiet, 0, "silent"),
		applet.Bool(&s.elide, 'z', "elide-empty-files"),
	)
	if !ok {
		return status
	}
	if len(args) < 2 {
		return c.MissingOperand(args)
	}
	if suffix == "" {
		suffix = "%0" + strconv.FormatInt(digits, 10) + "d"
	}
	var err error
	if s.suffix, err = parseFormat(suffix); err != nil {
		c.Warn(err.Error())
		return 1
	}
	patterns, err := s.parse(args[1:])
	if err != nil {
		c.Warn(err.Error())
		return 1
	}
	r, err := c.Open(args[0])
	if err != nil {
		c.Warn("cannot open ", applet.Quote(args[0]), " for reading: ", applet.Reason(err))
		return 1
	}
	defer r.Close()
	s.in = &input{lines: applet.NewLines(r, '\n')}
	err = s.all(patterns)
	if err == nil || err == errDone {
		err = s.in.lines.Err()
	}
	if err == nil {
		return 0
	}
	if err != errSaid {
		c.Warn(args[0], ": ", applet.Reason(err))
	}
	s.close()
	for i := 0; i < s.count && !s.keep; i++ {
		os.Remove(s.fileName(i))
	}
	return 1
}

// all treats the patterns and then the rest.
func (s *splitter) all(patterns []*pattern) error {
	if s.in.ended() && patterns[0].re == nil {
		s.c.Warn("input disappeared")
		return errSaid
	}
	for _, p := range patterns {
		for n := int64(0); p.forever || n <= p.repeat; n++ {
			step := s.toLine
			if p.re != nil {
				step = s.toMatch
			}
			if err := step(p, n); err != nil {
				return err
			}
		}
	}
	if err := s.open(); err != nil {
		return err
	}
	return s.rest()
}

// rest copies what is left into the open file.
func (s *splitter) rest() error {
	for {
		line, ok := s.in.next()
		if !ok {
			return s.close()
		}
		if err := s.save(line); err != nil {
			return err
		}
	}
}

// fail complains about a pattern.
func (s *splitter) fail(p *pattern, why string, n int64) error {
	text := applet.Curly(p.text) + ": " + why
	if n > 0 {
		text += " on repetition " + strconv.FormatInt(n, 10)
	}
	s.c.Flush()
	s.c.Warn(text)
	return errSaid
}

const outOfRange = "line number out of range"

// toLine copies up to a line number.
func (s *splitter) toLine(p *pattern, n int64) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.suppress && s.in.ended() {
		return s.fail(p, outOfRange, n)
	}
	for last := p.line * (n + 1); s.in.first() < last; {
		line, ok := s.in.next()
		if !ok {
			return s.fail(p, outOfRange, n)
		}
		if err := s.save(line); err != nil {
			return err
		}
	}
	if err := s.close(); err != nil {
		return err
	}
	if s.suppress {
		s.in.next()
	} else if s.in.ended() {
		return s.fail(p, outOfRange, n)
	}
	return nil
}

// toMatch copies, or skips, up to a line that matches.
func (s *splitter) toMatch(p *pattern, n int64) error {
	if !p.skip {
		if err := s.open(); err != nil {
			return err
		}
	}
	for {
		s.scanned = max(s.scanned+1, s.in.first())
		line, ok := s.in.peek(s.scanned)
		if !ok {
			var err error
			if !p.skip {
				err = s.rest()
			}
			switch {
			case err != nil:
				return err
			case p.forever:
				return errDone
			}
			return s.fail(p, "match not found", n)
		}
		found, err := p.re.Match(trimLine(line))
		if err != nil {
			s.c.Warn("error in regular expression search")
			return errSaid
		}
		if found {
			break
		}
		if p.offset >= 0 { // nothing before it is wanted again
			line, _ = s.in.next()
			if err := s.put(p, line); err != nil {
				return err
			}
		}
	}
	stop := s.scanned + p.offset
	if s.in.first() > stop {
		return s.fail(p, outOfRange, 0)
	}
	for s.in.first() < stop {
		line, ok := s.in.next()
		if !ok {
			return s.fail(p, outOfRange, 0)
		}
		if err := s.put(p, line); err != nil {
			return err
		}
	}
	if p.offset > 0 {
		s.scanned = stop
	}
	if !p.skip {
		if err := s.close(); err != nil {
			return err
		}
	}
	if s.suppress {
		s.in.next()
	}
	return nil
}

func (s *splitter) put(p *pattern, line []byte) error {
	if p.skip {
		return nil
	}
	return s.save(line)
}

func trimLine(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}

func (s *splitter) fileName(n int) string {
	return s.prefix + s.suffix.before + string(s.suffix.spec.Int(nil, int64(n))) + s.suffix.after
}

func (s *splitter) open() (err error) {
	s.name = s.fileName(s.count)
	s.bytes = 0
	if s.f, err = os.Create(s.name); err != nil {
		s.c.Warn(applet.Name(s.name), ": ", applet.Reason(err))
		return errSaid
	}
	s.count++
	return nil
}

func (s *splitter) save(line []byte) error {
	s.bytes += int64(len(line))
	if s.w = append(s.w, line...); len(s.w) < applet.BufSize {
		return nil
	}
	return s.flush()
}

func (s *splitter) flush() error {
	_, err := s.f.Write(s.w)
	s.w = s.w[:0]
	if err != nil {
		s.c.Warn("write error for ", applet.Quote(s.name), ": ", applet.Reason(err))
		return errSaid
	}
	return nil
}

// close ends the open file, if there is one, and prints its size.
func (s *splitter) close() error {
	if s.f == nil {
		return nil
	}
	err := s.flush()
	if e := s.f.Close(); e != nil && err == nil {
		s.c.Warn(applet.Name(s.name), ": ", applet.Reason(e))
		err = errSaid
	}
	s.f = nil
	switch {
	case err != nil:
		return err
	case s.bytes == 0 && s.elide:
		os.Remove(s.name)
		s.count--
	case !s.quiet:
		s.c.Out().WriteString(strconv.FormatInt(s.bytes, 10) + "\n")
	}
	return nil
}

// input is the lines that are still to come, each with its end.
type input struct {
	lines *applet.Lines
	ahead [][]byte // looked at, not yet taken
	taken int64
}

// first is the number of the line that next returns.
func (in *input) first() int64 { return in.taken + 1 }

func (in *input) read() bool {
	rec, ok := in.lines.Next()
	if ok {
		line := append(make([]byte, 0, len(rec)+1), rec...)
		if in.lines.Full() {
			line = append(line, '\n')
		}
		in.ahead = append(in.ahead, line)
	}
	return ok
}

// peek returns the line of a number that was not taken yet.
func (in *input) peek(number int64) ([]byte, bool) {
	at := number - in.first()
	for at >= int64(len(in.ahead)) {
		if !in.read() {
			return nil, false
		}
	}
	return in.ahead[at], true
}

func (in *input) next() ([]byte, bool) {
	if len(in.ahead) == 0 && !in.read() {
		return nil, false
	}
	line := in.ahead[0]
	in.ahead = in.ahead[1:]
	in.taken++
	return line, true
}

func (in *input) ended() bool { return len(in.ahead) == 0 && !in.read() }

// format is a format with one conversion of a number.
type format struct {
	before, after string
	spec          cformat.Spec
}

func parseFormat(s string) (f format, err error) {
	seen := false
	var text strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			text.WriteString(s)
			break
		}
		text.WriteString(s[:i])
		if s = s[i+1:]; strings.HasPrefix(s, "%") {
			text.WriteByte('%')
			s = s[1:]
			continue
		}
		if seen {
			return f, errors.New("too many % conversion specifications in suffix")
		}
		seen = true
		f.before = text.String()
		text.Reset()
		s = f.spec.Flags(s)
		f.spec.Width, s = cformat.Number(s)
		f.spec.Prec = -1
		if strings.HasPrefix(s, ".") {
			f.spec.Prec, s = cformat.Number(s[1:])
		}
		switch {
		case s == "":
			return f, errors.New("missing conversion specifier in suffix")
		case !strings.Contains("diuoxX", s[:1]):
			return f, errors.New("invalid conversion specifier in suffix: " + s[:1])
		case f.spec.Width > 1000 || f.spec.Prec > 1000:
			return f, errors.New("suffix too long")
		}
		f.spec.Verb = s[0]
		s = s[1:]
	}
	if !seen {
		return f, errors.New("missing % conversion specification in suffix")
	}
	f.after = text.String()
	return f, nil
}
