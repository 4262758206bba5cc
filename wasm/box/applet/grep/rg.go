package grep

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Rg is rg, as ripgrep 13 behaves when its output is a pipe: no colours, no
// headings, line numbers with -n only. Files come in the order of their paths.
var Rg = &applet.Command{
	Name:     "rg",
	Synopsis: "[OPTION]... PATTERN [PATH]...",
	Summary:  "search folders for lines that match, passing over what .gitignore names",
	Help: `  -e, --regexp=PATTERN     a pattern; may be repeated
  -f, --file=FILE          patterns from FILE, one a line
  -F, --fixed-strings      patterns are plain text
  -P, --pcre2              the pattern is a Perl regular expression
  -i, --ignore-case        ignore case
  -s, --case-sensitive     do not (default)
  -S, --smart-case         ignore case unless a pattern has upper case
  -w, --word-regexp        match whole words only
  -x, --line-regexp        match whole lines only
  -v, --invert-match       select the lines that do not match
  -m, --max-count=NUM      at most NUM lines of each file
  -n, --line-number        print line numbers; -N, --no-line-number: do not
  -H, --with-filename      print names; -I, --no-filename: do not
  -0, --null               a 0 byte after names
  -b, --byte-offset        print offsets
      --column             print line numbers and the column of the first match
      --vimgrep            name, line and column of each match, on a line of its own
      --heading            the name once, above the lines of a file; --no-heading
      --trim               print lines without the white space they begin with
  -M, --max-columns=NUM    print no line that is longer than NUM bytes
  -o, --only-matching      print only the parts that match
  -r, --replace=TEXT       print matches as TEXT, with $1 and $name for groups
  -c, --count              print how many lines match in each file
      --include-zero       also where none does
      --count-matches      print how many matches there are
  -l, --files-with-matches, --files-without-match  print names only
  -q, --quiet              print nothing
  -A, -B, -C NUM           lines after, before, around each match
      --context-separator=SEP, --no-context-separator
      --files              print the files that would be searched
  -g, --glob=GLOB          only what matches GLOB; !GLOB: all but that
      --iglob=GLOB         the same in either case; --glob-case-insensitive: for -g, too
  -t, --type=TYPE          only files of TYPE; -T, --type-not: all but those
      --type-list          print the types; --type-add=TYPE:GLOB: add to them
  -., --hidden             also hidden files
  -L, --follow             follow symbolic links
      --max-depth=NUM      go down so many folders
      --max-filesize=NUM   pass over larger files; NUM may end in K, M or G
      --no-ignore, --no-ignore-vcs  search what ignore files name
      --no-require-git     heed .gitignore outside repositories too
      --ignore-file=FILE   rules as in .ignore
  -u, --unrestricted       --no-ignore; twice: and --hidden; thrice: and -a
  -a, --text               search binary files as text
      --no-messages        do not report files that cannot be read
  --color=never, --color=auto, --no-config, --sort=path, -j, --threads=NUM,
  --line-buffered, --mmap, --no-mmap, --one-file-system, --engine=auto,
  --encoding=utf-8, --dfa-size-limit, --regex-size-limit  no effect`,
	Run: runRg,
}

type rgOptions struct {
	options
	smart, pcre, files, countMatches bool
	replace                          *string
	globs, ignoreFiles               []string
	foldGlobs                        []bool // of globs
	foldAll, noNumber                bool
	types, notTypes                  []string
	added                            []fileType
	largest                          int64 // of files; -1: any
	hidden, noIgnore, noVCS, noGit   bool
	unrestricted, depth              int
}

func runRg(c *applet.Ctx) int {
	o := &rgOptions{depth: -1, largest: -1}
	o.options = options{maxCount: -1, before: -1, after: -1, defaultAfter: -1, groupSep: "--", binary: "text", foundOnly: true}
	typeList := false
	var said bytes.Buffer
	parse := *c
	parse.Stderr = &said
	operands, status, ok := parse.Parse(2, append(o.rgTable(c), applet.Bool(&typeList, 0, "type-list"))...)
	if !ok {
		io.WriteString(c.Stderr, rgComplaint(said.String()))
		return status
	}
	if o.bad != nil {
		c.Warn(o.bad.Error())
		return 2
	}
	if typeList {
		for _, t := range slices.Concat(fileTypes, o.added) {
			c.Out().WriteString(t.name + ": " + strings.ReplaceAll(t.globs, " ", ", ") + "\n")
		}
		return 0
	}
	if !o.havePatterns && !o.files {
		if len(operands) == 0 {
			io.WriteString(c.Stderr, "error: The following required arguments were not provided:\n    <PATTERN>\n\nFor more information try --help\n")
			return 2
		}
		o.addPatterns("", operands[0])
		operands = operands[1:]
	}
	for _, t := range append(o.types, o.notTypes...) {
		if o.typeGlobs(t) == nil {
			io.WriteString(c.Stderr, "unrecognized file type: "+t+"\n")
			return 2
		}
	}
	for _, n := range []*int{&o.before, &o.after} {
		if *n < 0 {
			*n = max(o.defaultAfter, 0)
		}
	}
	o.grouped = o.before > 0 || o.after > 0
	o.lineNumber = o.lineNumber || o.column && !o.noNumber
	o.fold = o.fold || o.smart && !slices.ContainsFunc(o.patterns, func(p string) bool { return strings.ToLower(p) != p })
	r := &rg{o: o}
	if !o.files {
		m, err := o.rgMatcher()
		if err != nil {
			io.WriteString(c.Stderr, err.Error()+"\n")
			return 2
		}
		r.matcher = m
	}
	r.g = &grep{c: c, o: &o.options, m: r.matcher, sep: '\n'}
	return r.all(operands)
}

// rgComplaint words what the parser said as rg's own does.
func rgComplaint(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	for _, prefix := range []string{"rg: unrecognized option '", "rg: invalid option -- '"} {
		if rest, ok := strings.CutPrefix(first, prefix); ok {
			name := strings.TrimSuffix(rest, "'")
			if !strings.HasPrefix(name, "-") {
				name = "-" + name
			}
			return "error: Found argument '" + name + "' which wasn't expected, or isn't valid in this context\n\nFor more information try --help\n"
		}
	}
	if rest, ok := strings.CutPrefix(text, "rg: "); ok && strings.HasPrefix(rest, "invalid ") {
		return rest
	}
	return text
}

func (o *rgOptions) rgTable(c *applet.Ctx) []applet.Opt {
	number := func(p *int) func(string) error {
		return func(v string) error {
			n, err := strconv.ParseUint(v, 10, 31)
			if err != nil {
				return errors.New("error parsing " + v + ": invalid digit found in string")
			}
			*p = int(n)
			return nil
		}
	}
	add := func(list *[]string) func(string) error {
		return func(v string) error { *list = append(*list, v); return nil }
	}
	list := func(b byte) func() { return func() { o.list = b } }
	none := func() {}
	ignored := func(string) error { return nil }
	refuse := func(what string) func() error {
		return func() error { return errors.New(what + " is not supported in the sandbox") }
	}
	// only takes the values that change nothing.
	only := func(name string, values ...string) func(string) error {
		return func(v string) error {
			if slices.Contains(values, strings.ToLower(v)) {
				return nil
			}
			return refuse(name + "=" + v)()
		}
	}
	glob := func(fold bool) func(string) error {
		return func(v string) error {
			o.globs, o.foldGlobs = append(o.globs, v), append(o.foldGlobs, fold)
			return nil
		}
	}
	return []applet.Opt{
		applet.Func(func(v string) error { o.addPatterns("", v); return nil }, 'e', "regexp"),
		applet.Func(func(v string) error { return o.patternFile(c, v) }, 'f', "file"),
		applet.Do(func() { o.syntax = fixed }, 'F', "fixed-strings"), applet.Bool(&o.pcre, 'P', "pcre2"),
		applet.Do(func() { o.fold, o.smart = true, false }, 'i', "ignore-case"),
		applet.Do(func() { o.fold, o.smart = false, false }, 's', "case-sensitive"),
		applet.Do(func() { o.fold, o.smart = false, true }, 'S', "smart-case"),
		applet.Bool(&o.word, 'w', "word-regexp"), applet.Bool(&o.line, 'x', "line-regexp"), applet.Bool(&o.invert, 'v', "invert-match"),
		applet.Func(number(&o.maxCount), 'm', "max-count"),
		applet.Do(func() { o.lineNumber, o.noNumber = true, false }, 'n', "line-number"), applet.Do(func() { o.lineNumber, o.noNumber = false, true }, 'N', "no-line-number"),
		applet.Do(func() { o.names = 1 }, 'H', "with-filename"), applet.Do(func() { o.names = -1 }, 'I', "no-filename"),
		applet.Bool(&o.nullName, '0', "null"), applet.Bool(&o.byteOffset, 'b', "byte-offset"),
		applet.Bool(&o.column, 0, "column"), applet.Do(func() { o.column = false }, 0, "no-column"),
		applet.Do(func() { o.each, o.column, o.names = true, true, 1 }, 0, "vimgrep"),
		applet.Bool(&o.heading, 0, "heading"), applet.Do(func() { o.heading = false }, 0, "no-heading"), applet.Bool(&o.trim, 0, "trim"),
		applet.Func(number(&o.longest), 'M', "max-columns"),
		applet.Bool(&o.only, 'o', "only-matching"),
		applet.Func(func(v string) error { o.replace = &v; return nil }, 'r', "replace"),
		applet.Bool(&o.count, 'c', "count"), applet.Do(func() { o.foundOnly = false }, 0, "include-zero"), applet.Bool(&o.countMatches, 0, "count-matches"),
		applet.Do(list('l'), 'l', "files-with-matches"), applet.Do(list('L'), 0, "files-without-match"), applet.Bool(&o.quiet, 'q', "quiet"),
		applet.Func(number(&o.after), 'A', "after-context"), applet.Func(number(&o.before), 'B', "before-context"), applet.Func(number(&o.defaultAfter), 'C', "context"),
		applet.String(&o.groupSep, 0, "context-separator"), applet.Bool(&o.noGroupSep, 0, "no-context-separator"),
		applet.Bool(&o.files, 0, "files"), applet.Func(glob(false), 'g', "glob"), applet.Func(glob(true), 0, "iglob"), applet.Bool(&o.foldAll, 0, "glob-case-insensitive"),
		applet.Func(add(&o.types), 't', "type"), applet.Func(add(&o.notTypes), 'T', "type-not"), applet.Func(o.addType, 0, "type-add"),
		applet.Bool(&o.hidden, '.', "hidden"), applet.Do(func() { o.hidden = false }, 0, "no-hidden"), applet.Bool(&o.follow, 'L', "follow"),
		applet.Func(number(&o.depth), 0, "max-depth"), applet.Func(o.setLargest, 0, "max-filesize"),
		applet.Bool(&o.noIgnore, 0, "no-ignore"), applet.Bool(&o.noVCS, 0, "no-ignore-vcs"), applet.Bool(&o.noGit, 0, "no-require-git"),
		applet.Func(add(&o.ignoreFiles), 0, "ignore-file"),
		applet.Do(func() { o.unrestricted++ }, 'u', "unrestricted"), applet.Bool(&o.text, 'a', "text"), applet.Bool(&o.noMessages, 0, "no-messages"),
		applet.Func(only("--color", "never", "auto"), 0, "color"), applet.Func(only("--sort", "path", "none"), 0, "sort"), applet.Func(ignored, 'j', "threads"),
		applet.Func(only("--engine", "default", "auto"), 0, "engine"), applet.Func(only("--encoding", "auto", "utf-8", "utf8"), 'E', "encoding"),
		applet.Do(none, 0, "one-file-system"), applet.Func(ignored, 0, "dfa-size-limit"), applet.Func(ignored, 0, "regex-size-limit"),
		applet.Do(none, 0, "no-config"), applet.Do(none, 0, "line-buffered"), applet.Do(none, 0, "mmap"), applet.Do(none, 0, "no-mmap"),
		applet.Try(refuse("--multiline"), 'U', "multiline"), applet.Try(refuse("--json"), 0, "json"), applet.Try(refuse("--stats"), 0, "stats"),
		applet.Func(func(v string) error { return refuse("--sortr=" + v)() }, 0, "sortr"), applet.Try(refuse("--pretty"), 'p', "pretty"), applet.Try(refuse("--search-zip"), 'z', "search-zip"), applet.Try(refuse("--passthru"), 0, "passthru"),
	}
}

// setLargest reads the argument of --max-filesize.
func (o *rgOptions) setLargest(v string) error {
	digits := strings.TrimRight(v, "KMG")
	n, err := strconv.ParseInt(digits, 10, 53)
	if i := strings.Index("KMG", v[len(digits):]); err == nil && n >= 0 && len(v)-len(digits) <= 1 {
		if o.largest = n; len(digits) < len(v) {
			o.largest <<= 10 * (i + 1)
		}
		return nil
	}
	return errors.New("invalid format for size '" + v + "', which should be a sequence of digits followed by an optional 'K', 'M' or 'G' suffix")
}

// rg is one run.
type rg struct {
	o        *rgOptions
	g        *grep
	matcher  *rgMatcher
	searched bool // some file
}

// search searches one stream; given says that it was named on the command
// line, where binary files are not passed over in silence.
func (r *rg) search(name string, in io.Reader, given bool) error {
	o, g := r.o, r.g
	r.searched = true
	if o.files {
		g.name = name
		g.fileName()
		g.nameEndLine()
		g.selected = true
		return nil
	}
	if !o.text {
		b := bufio.NewReaderSize(in, chunk)
		head, _ := b.Peek(chunk)
		in = b
		if i := bytes.IndexByte(head, 0); i >= 0 {
			if !given {
				return nil
			}
			if o.list == 0 {
				return r.binary(name, b, i)
			}
		} else if !given {
			in = &untilNul{r: b}
		}
	}
	switch {
	case o.countMatches:
		return r.countAll(name, in)
	case o.replace != nil && !o.count && o.list == 0 && !o.quiet:
		return r.substitute(name, in)
	}
	g.m = r.matcher
	return g.input(name, in)
}

func (g *grep) nameEndLine() {
	if g.o.nullName {
		g.write([]byte{0})
	} else {
		g.write(nl)
	}
}

// binary tells whether a binary file matches.
func (r *rg) binary(name string, in io.Reader, at int) error {
	o := r.o.options
	loud := !o.quiet && o.list == 0 && !o.count
	o.quiet, o.list, o.count = true, 0, false
	g := grep{c: r.g.c, o: &o, m: r.matcher, sep: '\n'}
	if err := g.input(name, in); err != nil || g.count == 0 {
		return err
	}
	r.g.selected = true
	if loud {
		if r.g.withName {
			r.g.write([]byte(name + ": "))
		}
		r.g.write([]byte("binary file matches (found \"\\0\" byte around offset " + itoa(at) + ")\n"))
	}
	return nil
}

// untilNul ends at a 0 byte: what follows is no text.
type untilNul struct {
	r    io.Reader
	done bool
}

func (u *untilNul) Read(p []byte) (int, error) {
	if u.done {
		return 0, io.EOF
	}
	n, err := u.r.Read(p)
	if i := bytes.IndexByte(p[:n], 0); i >= 0 {
		u.done = true
		return i, io.EOF
	}
	return n, err
}

// prefix writes what comes before a line of substitute.
func (r *rg) prefix(name string, line, at, column int) {
	r.g.name, r.g.lines, r.g.column = name, line-1, column
	r.g.head(at, ':', false)
}

// countAll counts the matches, not the lines.
func (r *rg) countAll(name string, in io.Reader) error {
	n := 0
	lines := applet.NewLines(in, '\n')
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		n += len(r.matcher.linear.FindAllIndex(line, -1))
	}
	r.g.selected = r.g.selected || n > 0
	if n > 0 || !r.o.foundOnly {
		if r.g.withName {
			r.g.name = name
			r.g.fileName()
			r.g.nameEnd(':')
		}
		r.g.write([]byte(itoa(n) + "\n"))
	}
	return lines.Err()
}

// substitute prints matching lines, or with -o the matches, after -r.
func (r *rg) substitute(name string, in io.Reader) error {
	re, with := r.matcher.linear, []byte(*r.o.replace)
	lines := applet.NewLines(in, '\n')
	number, found, offset, next := 0, 0, 0, 0
	r.g.titled = false
	for line, ok := lines.Next(); ok && (r.o.maxCount < 0 || found < r.o.maxCount); line, ok = lines.Next() {
		number, offset, next = number+1, next, next+len(line)+1
		all := re.FindAllSubmatchIndex(line, -1)
		if len(all) == 0 {
			continue
		}
		found++
		r.g.selected = true
		var out []byte
		at := 0
		for _, loc := range all {
			if r.o.only {
				r.prefix(name, number, offset+loc[0], loc[0]+1)
				r.g.write(re.Expand(nil, with, line, loc), nl)
				continue
			}
			out = re.Expand(append(out, line[at:loc[0]]...), with, line, loc)
			at = loc[1]
		}
		if !r.o.only {
			r.prefix(name, number, offset, all[0][0]+1)
			r.g.write(out, line[at:], nl)
		}
	}
	return lines.Err()
}

// all searches the operands and returns the exit status.
func (r *rg) all(paths []string) int {
	o, g := r.o, r.g
	implicit := len(paths) == 0
	if implicit {
		paths = []string{"."}
		if !o.files && r.hasInput() {
			paths = []string{"-"}
			implicit = false
		}
	}
	g.withName = o.names > 0 || o.names == 0 && len(paths) > 1
	w := newWalker(r)
	for _, path := range paths {
		if path == "-" {
			g.report("-", r.search("<stdin>", g.c.Stdin, true))
			continue
		}
		fi, err := os.Stat(path)
		if err != nil {
			r.complain(path, err)
			continue
		}
		if !fi.IsDir() {
			r.file(path, true)
			continue
		}
		g.withName = g.withName || o.names == 0
		w.root(path, implicit)
		if o.quiet && g.selected || g.broken() {
			break
		}
	}
	switch {
	case o.quiet && g.selected:
		return 0
	case g.failed:
		return 2
	case implicit && !r.searched && !o.files:
		if !o.noMessages {
			io.WriteString(g.c.Stderr, "No files were searched, which means ripgrep probably applied a filter you didn't expect.\nRunning with --debug will show why files are being skipped.\n")
		}
		return 2
	}
	return applet.Status(g.selected)
}

// hasInput tells whether there is input to search instead of the current
// folder. A pipe must hold something for that: who starts a line without
// input gives it an empty one.
func (r *rg) hasInput() bool {
	f, ok := r.g.c.Stdin.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	if err != nil || fi.Mode()&os.ModeNamedPipe == 0 {
		return err == nil && fi.Mode().IsRegular()
	}
	b := bufio.NewReaderSize(f, chunk)
	_, err = b.Peek(1)
	r.g.c.Stdin = b
	return err == nil
}

func (r *rg) complain(path string, err error) {
	r.g.failed = true
	if !r.o.noMessages {
		text := path + ": " + applet.Reason(err)
		if n, ok := errnoNumber(err); ok {
			text += " (os error " + strconv.Itoa(n) + ")"
		}
		r.g.c.Flush()
		io.WriteString(r.g.c.Stderr, text+"\n")
	}
}

func (r *rg) file(path string, given bool) {
	f, err := os.Open(path)
	if err == nil && r.o.largest >= 0 {
		if fi, err := f.Stat(); err == nil && fi.Size() > r.o.largest {
			f.Close()
			return
		}
	}
	if err == nil {
		err = r.search(path, f, given)
		f.Close()
	}
	if err != nil {
		r.complain(path, err)
	}
}
