// Package split is the command split.
package split

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is split.
var Command = applet.Command{
	Name:     "split",
	Synopsis: "[OPTION]... [FILE [PREFIX]]",
	Summary:  "output pieces of FILE to PREFIXaa, PREFIXab, ...",
	Help: `  -a, --suffix-length=N   generate suffixes of length N (default 2)
      --additional-suffix=SUFFIX  append an additional SUFFIX to file names
  -b, --bytes=SIZE        put SIZE bytes per output file
  -C, --line-bytes=SIZE   put at most SIZE bytes of records per output file
  -d                      use numeric suffixes starting at 0, not alphabetic
      --numeric-suffixes[=FROM]  same as -d, but allow setting the start value
  -x                      use hex suffixes starting at 0, not alphabetic
      --hex-suffixes[=FROM]  same as -x, but allow setting the start value
  -e, --elide-empty-files do not generate empty output files with '-n'
  -l, --lines=NUMBER      put NUMBER lines/records per output file
  -n, --number=CHUNKS     generate CHUNKS output files: N, K/N, l/N, l/K/N,
                            r/N, r/K/N
  -t, --separator=SEP     use SEP instead of newline as the record separator
      --filter=COMMAND    write to the shell COMMAND; the file name is $FILE
      --verbose           print a diagnostic before each output file is opened`,
	Run: run,
}

type splitter struct {
	c       *applet.Ctx
	length  int  // of suffixes
	given   bool // the length was given
	extra   string
	digits  string
	first   int64 // number of the first file
	prefix  string
	verbose bool
	elide   bool
	end     byte
	count   int64 // files opened so far
	f       *os.File

	filter   string // what each file goes through instead, in the shell; it begins when all of the file is there
	filtered bool   // a filter was given
	name     string // of f
	failed   int    // status of a filter
}

func run(c *applet.Ctx) int {
	s := splitter{c: c, length: 2, digits: "abcdefghijklmnopqrstuvwxyz", end: '\n'}
	mode := byte(0)
	var size int64
	var chunk, chunks int64
	kind := byte(0)
	setMode := func(m byte, what string) func(string) error {
		return func(v string) error {
			if mode != 0 {
				return applet.UsageError("cannot split in more than one way")
			}
			n, err := applet.ParseSize(v, "bkKmMGTPEZY")
			if err == nil && n == 0 {
				err = applet.ErrRange
			}
			if err != nil && err != applet.ErrOverflow {
				return applet.Complain("invalid number of "+what, v, err)
			}
			mode, size = m, n
			return nil
		}
	}
	from := func(digits string) func(string, bool) error {
		return func(v string, given bool) error {
			s.digits = digits
			if given {
				n, err := strconv.ParseInt(v, len(digits), 64)
				if err != nil {
					return errors.New(applet.Curly(v) + ": invalid start value for numerical suffix")
				}
				s.first = n
			}
			return nil
		}
	}
	for i, a := range c.Args { // the old form -LINES
		if len(a) > 1 && a[0] == '-' && a[1] >= '0' && a[1] <= '9' {
			c.Args[i] = "-l" + a[1:]
		}
	}
	args, status, ok := c.Parse(1,
		applet.Func(func(v string) error {
			n, err := applet.ParseSize(v, "")
			if err != nil || n > 1000 {
				return errors.New("invalid suffix length: " + applet.Curly(v))
			}
			s.length, s.given = int(n), n > 0
			return nil
		}, 'a', "suffix-length"),
		applet.Func(func(v string) error {
			if strings.Contains(v, "/") {
				return applet.UsageError("invalid suffix " + applet.Curly(v) + ", contains directory separator")
			}
			s.extra = v
			return nil
		}, 0, "additional-suffix"),
		applet.Func(setMode('b', "bytes"), 'b', "bytes"),
		applet.Func(setMode('C', "bytes"), 'C', "line-bytes"),
		applet.Do(func() { s.digits = "0123456789" }, 'd', ""),
		applet.Optional(from("0123456789"), 0, "numeric-suffixes"),
		applet.Do(func() { s.digits = "0123456789abcdef" }, 'x', ""),
		applet.Optional(from("0123456789abcdef"), 0, "hex-suffixes"),
		applet.Bool(&s.elide, 'e', "elide-empty-files"),
		applet.Func(setMode('l', "lines"), 'l', "lines"),
		applet.Func(func(v string) (err error) {
			if mode != 0 {
				return applet.UsageError("cannot split in more than one way")
			}
			mode = 'n'
			kind, chunk, chunks, err = parseChunks(v)
			return err
		}, 'n', "number"),
		applet.Func(func(v string) error {
			switch {
			case v == `\0`:
				s.end = 0
			case v == "":
				return errors.New("empty record separator")
			case len(v) > 1:
				return errors.New("multi-character separator " + applet.Curly(v))
			default:
				s.end = v[0]
			}
			return nil
		}, 't', "separator"),
		applet.Func(func(v string) error { s.filter, s.filtered = v, true; return nil }, 0, "filter"),
		applet.Bool(&s.verbose, 0, "verbose"),
	)
	if !ok {
		return status
	}
	if len(args) > 2 {
		return c.ExtraOperand(args[2])
	}
	if s.filtered && chunk > 0 {
		return c.Usage("--filter does not process a chunk extracted to stdout")
	}
	name := "-"
	s.prefix = "x"
	if len(args) > 0 {
		name = args[0]
	}
	if len(args) > 1 {
		s.prefix = args[1]
	}
	r, err := c.Open(name)
	if err != nil {
		c.Warn("cannot open ", applet.Quote(name), " for reading: ", applet.Reason(err))
		return 1
	}
	defer r.Close()
	switch mode {
	case 'b':
		err = s.bytes(r, size)
	case 'C':
		err = s.lineBytes(r, size)
	case 'n':
		s.fitSuffix(chunks)
		err = s.chunks(r, kind, chunk, chunks)
	default:
		if mode == 0 {
			size = 1000
		}
		err = s.lines(r, size)
	}
	if cerr := s.close(); err == nil {
		err = cerr
	}
	if err == nil {
		return 0
	}
	var re readError
	switch {
	case s.failed != 0:
		return s.failed
	case errors.Is(err, errSaid):
	case errors.As(err, &re):
		c.Warn(applet.Name(name), ": ", applet.Reason(re.error))
	default:
		c.Warn(applet.Reason(err))
	}
	return 1
}

// errSaid is an error that has been reported.
var errSaid = errors.New("reported")

type readError struct{ error }

func parseChunks(v string) (kind byte, chunk, chunks int64, err error) {
	parts := strings.Split(v, "/")
	if parts[0] == "l" || parts[0] == "r" {
		kind = parts[0][0]
		parts = parts[1:]
	}
	if len(parts) == 0 || len(parts) > 2 {
		return 0, 0, 0, errors.New("invalid number of chunks: " + applet.Curly(v))
	}
	last := parts[len(parts)-1]
	if chunks, err = strconv.ParseInt(last, 10, 64); err == nil && chunks < 1 {
		err = applet.ErrRange
	}
	if err != nil {
		return 0, 0, 0, applet.Complain("invalid number of chunks", last, err)
	}
	if len(parts) == 2 {
		if chunk, err = strconv.ParseInt(parts[0], 10, 64); err == nil && (chunk < 1 || chunk > chunks) {
			err = applet.ErrRange
		}
		if err != nil {
			return 0, 0, 0, applet.Complain("invalid chunk number", parts[0], err)
		}
	}
	return kind, chunk, chunks, nil
}

// fitSuffix makes the suffixes long enough for n files.
func (s *splitter) fitSuffix(n int64) {
	need := 1
	for m := (n + s.first - 1) / int64(len(s.digits)); m > 0; m /= int64(len(s.digits)) {
		need++
	}
	if !s.given {
		s.length, s.given = max(2, need), true
	}
}

// name returns the name of file number n. Unless their length was given the
// suffixes grow, ever leaving the last letter's names to longer ones: xyz, then
// xzaaa.
func (s *splitter) nameOf(n int64) (string, bool) {
	base := int64(len(s.digits))
	length := s.length
	n += s.first
	lead := ""
	if !s.given && s.first == 0 {
		for {
			room := int64(1)
			for range length - 1 {
				room *= base
			}
			room *= base - 1
			if n < room {
				break
			}
			n -= room
			lead += s.digits[base-1:]
			length++
		}
	}
	b := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		b[i] = s.digits[n%base]
		n /= base
	}
	return s.prefix + lead + string(b) + s.extra, n == 0
}

func (s *splitter) close() error {
	if s.f == nil {
		return nil
	}
	f := s.f
	s.f = nil
	if s.filtered {
		return s.pass(f)
	}
	return f.Close()
}

// pass runs the filter over what was collected for it.
func (s *splitter) pass(f *os.File) error {
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.failed = s.c.Spawn(applet.Child{Args: []string{"sh", "-c", s.filter}, Env: append(os.Environ(), "FILE="+s.name), Stdin: f})
	if s.failed != 0 {
		s.c.Warn("with FILE=", s.name, ", exit ", strconv.Itoa(s.failed), " from command: ", s.filter)
		return errSaid
	}
	return nil
}

// open opens the next file.
func (s *splitter) open() error {
	if err := s.close(); err != nil {
		return err
	}
	name, ok := s.nameOf(s.count)
	if !ok {
		s.c.Warn("output file suffixes exhausted")
		return errSaid
	}
	s.count++
	s.name = name
	if s.filtered {
		if s.verbose {
			s.c.Out().WriteString("executing with FILE=" + applet.Name(name) + "\n")
		}
		f, err := os.CreateTemp("", "split")
		s.f = f
		return err
	}
	if s.verbose {
		s.c.Out().WriteString("creating file " + applet.Quote(name) + "\n")
	}
	f, err := os.Create(name)
	if err != nil {
		s.c.WarnName(name, err)
		return errSaid
	}
	s.f = f
	return nil
}

func (s *splitter) bytes(r io.Reader, size int64) error {
	buf := make([]byte, applet.BufSize)
	left := int64(0)
	for {
		n, err := r.Read(buf)
		for text := buf[:n]; len(text) > 0; {
			if left == 0 {
				if err := s.open(); err != nil {
					return err
				}
				left = size
			}
			k := min(left, int64(len(text)))
			if _, err := s.f.Write(text[:k]); err != nil {
				return err
			}
			left -= k
			text = text[k:]
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return readError{err}
		}
	}
}

func (s *splitter) lines(r io.Reader, count int64) error {
	buf := make([]byte, applet.BufSize)
	left := int64(0)
	for {
		n, err := r.Read(buf)
		for text := buf[:n]; len(text) > 0; {
			if left == 0 {
				if err := s.open(); err != nil {
					return err
				}
				left = count
			}
			k := 0
			for left > 0 && k < len(text) {
				i := bytes.IndexByte(text[k:], s.end)
				if i < 0 {
					k = len(text)
					break
				}
				k += i + 1
				left--
			}
			if _, err := s.f.Write(text[:k]); err != nil {
				return err
			}
			text = text[k:]
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return readError{err}
		}
	}
}

func (s *splitter) lineBytes(r io.Reader, size int64) error {
	lines := applet.NewLines(r, s.end)
	left := int64(0)
	var whole []byte
	for {
		line, more := lines.Next()
		if !more {
			if err := lines.Err(); err != nil {
				return readError{err}
			}
			return nil
		}
		whole = append(whole[:0], line...)
		if lines.Full() {
			whole = append(whole, s.end)
		}
		if s.f == nil || int64(len(whole)) > left && left < size {
			if err := s.open(); err != nil {
				return err
			}
			left = size
		}
		for text := whole; len(text) > 0; {
			if left == 0 {
				if err := s.open(); err != nil {
					return err
				}
				left = size
			}
			k := min(left, int64(len(text)))
			if _, err := s.f.Write(text[:k]); err != nil {
				return err
			}
			left -= k
			text = text[k:]
		}
	}
}

// chunks writes N parts, or one of them to standard output.
func (s *splitter) chunks(r io.Reader, kind byte, chunk, chunks int64) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return readError{err}
	}
	size := int64(len(text))
	parts := make([][]byte, 0, min(chunks, size+1))
	switch kind {
	case 'r':
		round := make([][]byte, chunks)
		for i := int64(0); len(text) > 0; i++ {
			n := bytes.IndexByte(text, s.end) + 1
			if n == 0 {
				n = len(text)
			}
			round[i%chunks] = append(round[i%chunks], text[:n]...)
			text = text[n:]
		}
		parts = round
	case 'l':
		at := int64(0)
		for i := range chunks {
			// A line belongs to the part that its first byte lies in.
			limit := (i + 1) * (size / chunks)
			if i == chunks-1 {
				limit = size
			}
			end := max(at, limit)
			if end > at && end < size {
				k := bytes.IndexByte(text[end-1:], s.end)
				if k < 0 {
					end = size
				} else {
					end += int64(k)
				}
			}
			parts = append(parts, text[at:min(end, size)])
			at = min(end, size)
		}
	default:
		for i := range chunks {
			end := (i + 1) * (size / chunks)
			if i == chunks-1 {
				end = size
			}
			parts = append(parts, text[i*(size/chunks):end])
		}
	}
	if chunk > 0 {
		s.c.Stdout.Write(parts[chunk-1])
		return nil
	}
	for _, p := range parts {
		if len(p) == 0 && s.elide {
			continue
		}
		if err := s.open(); err != nil {
			return err
		}
		if _, err := s.f.Write(p); err != nil {
			return err
		}
	}
	return nil
}
