// Package sort is the command sort.
package sort

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is sort.
var Command = applet.Command{
	Name:     "sort",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "write sorted concatenation of all FILE(s) to standard output",
	Help: `  -b, --ignore-leading-blanks  ignore leading blanks
  -d, --dictionary-order      consider only blanks and alphanumeric characters
  -f, --ignore-case           fold lower case to upper case characters
  -g, --general-numeric-sort  compare according to general numerical value
  -i, --ignore-nonprinting    consider only printable characters
  -M, --month-sort            compare (unknown) < 'JAN' < ... < 'DEC'
  -h, --human-numeric-sort    compare human readable numbers (e.g., 2K 1G)
  -n, --numeric-sort          compare according to string numerical value
  -R, --random-sort           shuffle, but group identical keys
  -r, --reverse               reverse the result of comparisons
      --sort=WORD             general-numeric -g, human-numeric -h, month -M,
                                numeric -n, random -R, version -V
  -V, --version-sort          natural sort of (version) numbers within text
      --batch-size=NMERGE     (accepted, no effect)
  -c, --check, --check=diagnose-first  check for sorted input; do not sort
  -C, --check=quiet, --check=silent    like -c, but do not report bad line
      --files0-from=F         read input from the files named in file F
  -k, --key=KEYDEF            sort via a key; KEYDEF is F[.C][OPTS][,F[.C][OPTS]]
  -m, --merge                 merge already sorted files; do not sort
  -o, --output=FILE           write result to FILE instead of standard output
      --parallel=N            (accepted, no effect)
  -s, --stable                disable last-resort comparison
  -S, --buffer-size=SIZE      (accepted, no effect)
  -t, --field-separator=SEP   use SEP instead of non-blank to blank transition
  -T, --temporary-directory=DIR  (accepted, no effect)
  -u, --unique                output only the first of an equal run
  -z, --zero-terminated       line delimiter is NUL, not newline`,
	Run: run,
}

// failure is the status of everything but a check that fails.
const failure = 2

// sorter is one run.
type sorter struct {
	keys    []key
	reverse bool // of the last comparison, that of whole lines
	stable  bool // no last comparison
	unique  bool
	tab     byte
	hasTab  bool
	end     byte

	text  []byte // all input
	lines []line
	spare []entry
}

// line is a piece of text, with the place of its first key.
type line struct{ start, end, key, keyEnd uint32 }

func run(c *applet.Ctx) int {
	s := sorter{end: '\n'}
	var global key
	var check byte
	var merge bool
	output, from, hasOutput, hasFrom := "", "", false, false
	ordering := func(letter byte) func() { return func() { global.set(letter, true, true) } }
	checks := func(letter byte) error {
		if check != 0 && check != letter {
			return errors.New("options '-cC' are incompatible")
		}
		check = letter
		return nil
	}
	harmless := func(string) error { return nil }
	opts := []applet.Opt{
		applet.Func(func(v string) error {
			i, err := applet.Choose("--sort", v, []string{"general-numeric"}, []string{"human-numeric"}, []string{"month"},
				[]string{"numeric"}, []string{"random"}, []string{"version"})
			if err == nil {
				global.set("ghMnRV"[i], true, true)
			}
			return err
		}, 0, "sort"),
		applet.Func(func(v string) error {
			if _, err := applet.ParseSize(v, ""); err != nil {
				return errors.New("invalid --batch-size argument " + applet.Curly(v))
			}
			return nil
		}, 0, "batch-size"),
		applet.Optional(func(v string, given bool) error {
			if !given {
				return checks('c')
			}
			i, err := applet.Choose("--check", v, []string{"quiet", "silent"}, []string{"diagnose-first"})
			if err != nil {
				return err
			}
			return checks("Cc"[i])
		}, 0, "check"),
		applet.Try(func() error { return checks('c') }, 'c', ""),
		applet.Try(func() error { return checks('C') }, 'C', ""),
		applet.Func(func(v string) error { from, hasFrom = v, true; return nil }, 0, "files0-from"),
		applet.Func(func(v string) error {
			k, err := parseKey(v)
			s.keys = append(s.keys, k)
			return err
		}, 'k', "key"),
		applet.Bool(&merge, 'm', "merge"),
		applet.Func(func(v string) error {
			if hasOutput && output != v {
				return errors.New("multiple output files specified")
			}
			output, hasOutput = v, true
			return nil
		}, 'o', "output"),
		applet.Func(func(v string) error {
			if n, err := applet.ParseSize(v, ""); err != nil || n == 0 {
				if err == nil {
					return errors.New("number in parallel must be nonzero")
				}
				return errors.New("invalid --parallel argument " + applet.Curly(v))
			}
			return nil
		}, 0, "parallel"),
		applet.Bool(&s.stable, 's', "stable"),
		applet.Func(func(v string) error {
			if _, err := applet.ParseSize(strings.TrimSuffix(v, "%"), "bkKmMGTPEZY"); err != nil {
				return errors.New("invalid -S argument " + applet.Quote(v))
			}
			return nil
		}, 'S', "buffer-size"),
		applet.Func(s.setTab, 't', "field-separator"),
		applet.Func(harmless, 'T', "temporary-directory"),
		applet.Bool(&s.unique, 'u', "unique"),
		applet.Do(func() { s.end = 0 }, 'z', "zero-terminated"),
	}
	for letter, long := range map[byte]string{'b': "ignore-leading-blanks", 'd': "dictionary-order", 'f': "ignore-case",
		'g': "general-numeric-sort", 'i': "ignore-nonprinting", 'M': "month-sort", 'h': "human-numeric-sort",
		'n': "numeric-sort", 'R': "random-sort", 'r': "reverse", 'V': "version-sort"} {
		opts = append(opts, applet.Do(ordering(letter), rune(letter), long))
	}
	files, status, ok := c.Parse(failure, opts...)
	if !ok {
		return status
	}
	if hasFrom {
		if len(files) > 0 {
			c.Warn("extra operand ", applet.Quote(files[0]))
			io.WriteString(c.Stderr, "file operands cannot be combined with --files0-from\n")
			c.Usage()
			return failure
		}
		if files, ok = names(c, from); !ok {
			return failure
		}
	}
	s.finishKeys(global)
	for _, k := range s.keys {
		if bad := k.conflict(); bad != "" {
			c.Warn("options '-", bad, "' are incompatible")
			return failure
		}
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	if check != 0 {
		switch {
		case len(files) > 1:
			c.Warn("extra operand ", applet.Quote(files[1]), " not allowed with -", string(rune(check)))
			return failure
		case hasOutput:
			c.Warn("options '-", string(rune(check)), "o' are incompatible")
			return failure
		}
	}
	ends, ok := s.read(c, files)
	if !ok {
		return failure
	}
	if check != 0 {
		return s.check(c, files[0], check == 'c')
	}
	out := c.Stdout
	if hasOutput {
		// Only now: the output may be one of the inputs.
		f, err := os.Create(output)
		if err != nil {
			c.Warn("open failed: ", applet.Name(output), ": ", applet.Reason(err))
			return failure
		}
		defer f.Close()
		out = f
	}
	order := s.mergeOrder(ends)
	if !merge {
		order = s.sort()
	}
	if err := s.write(out, order); err != nil {
		if !hasOutput {
			return failure // the flush after Run says why
		}
		c.Warn("write failed: ", applet.Quote(output), ": ", applet.Reason(err))
		return failure
	}
	return 0
}

func (s *sorter) setTab(v string) error {
	switch {
	case v == "":
		return errors.New("empty tab")
	case v == `\0`:
		v = "\x00"
	case len(v) > 1:
		return errors.New("multi-character tab " + applet.Curly(v))
	}
	if s.hasTab && s.tab != v[0] {
		return errors.New("incompatible tabs")
	}
	s.tab, s.hasTab = v[0], true
	return nil
}

// names reads the list of --files0-from.
func names(c *applet.Ctx, from string) ([]string, bool) {
	r, err := c.Open(from)
	var list []byte
	if err == nil {
		list, err = io.ReadAll(r)
		r.Close()
	}
	if err != nil {
		c.Warn("open failed: ", applet.Name(from), ": ", applet.Reason(err))
		return nil, false
	}
	if len(list) == 0 {
		c.Warn("no input from ", applet.Quote(from))
		return nil, false
	}
	files := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	for i, f := range files {
		if f == "" {
			c.Warn(applet.Name(from), ":", strconv.Itoa(i+1), ": invalid zero-length file name")
			return nil, false
		}
	}
	return files, true
}

// read reads all files and finds their lines. ends holds the number of lines
// up to the end of each file.
func (s *sorter) read(c *applet.Ctx, files []string) (ends []int, ok bool) {
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			c.Warn("cannot read: ", applet.Name(name), ": ", applet.Reason(err))
			return nil, false
		}
		from := len(s.text)
		if f, ok := r.(interface{ Stat() (os.FileInfo, error) }); ok {
			if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
				s.grow(int(min(fi.Size(), 1<<30)) + 1)
			}
		}
		for {
			if len(s.text) == cap(s.text) {
				s.grow(max(applet.BufSize, len(s.text)))
			}
			n, rerr := r.Read(s.text[len(s.text):cap(s.text)])
			s.text = s.text[:len(s.text)+n]
			if rerr == io.EOF {
				break
			}
			if rerr != nil {
				c.Warn("read failed: ", applet.Name(name), ": ", applet.Reason(rerr))
				r.Close()
				return nil, false
			}
		}
		r.Close()
		if uint64(len(s.text)) > 1<<31 {
			c.Warn("input too large")
			return nil, false
		}
		s.split(from)
		ends = append(ends, len(s.lines))
	}
	return ends, true
}

func (s *sorter) grow(n int) {
	text := make([]byte, len(s.text), len(s.text)+n)
	copy(text, s.text)
	s.text = text
}

func (s *sorter) split(from int) {
	text := s.text
	if s.lines == nil {
		s.lines = make([]line, 0, bytes.Count(text[from:], []byte{s.end})+1)
	}
	for from < len(text) {
		end := bytes.IndexByte(text[from:], s.end)
		next := from + end + 1
		if end < 0 {
			end, next = len(text)-from, len(text)
		}
		l := line{start: uint32(from), end: uint32(from + end)}
		if len(s.keys) > 0 {
			a, b := s.keyOf(&s.keys[0], text[from:from+end])
			l.key, l.keyEnd = l.start+uint32(a), l.start+uint32(b)
		}
		s.lines = append(s.lines, l)
		from = next
	}
}

// check tells whether the lines are sorted.
func (s *sorter) check(c *applet.Ctx, name string, diagnose bool) int {
	for i := 1; i < len(s.lines); i++ {
		r := s.compare(&s.lines[i-1], &s.lines[i])
		if r > 0 || r == 0 && s.unique {
			if diagnose {
				l := s.lines[i]
				io.WriteString(c.Stderr, "sort: "+applet.Name(name)+":"+strconv.Itoa(i+1)+": disorder: "+string(s.text[l.start:l.end])+"\n")
			}
			return 1
		}
	}
	return 0
}

// write writes the lines in order, of equal ones only the first with -u.
func (s *sorter) write(w io.Writer, order []int32) error {
	out, at := make([]byte, applet.BufSize), 0
	last := int32(-1)
	for _, i := range order {
		l := &s.lines[i]
		if s.unique {
			if last >= 0 && s.compare(&s.lines[last], l) == 0 {
				continue
			}
			last = i
		}
		text := s.text[l.start:l.end]
		if len(text) >= len(out)-at {
			if _, err := w.Write(out[:at]); err != nil {
				return err
			}
			if at = 0; len(text) >= len(out) {
				out = make([]byte, len(text)+1)
			}
		}
		at += copy(out[at:], text)
		out[at] = s.end
		at++
	}
	_, err := w.Write(out[:at])
	return err
}
