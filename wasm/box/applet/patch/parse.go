package patch

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// A hunk is one place of a file that changes. Its lines keep their ends; one
// without is the last of a file that has no newline there.
type hunk struct {
	oldStart, newStart int
	lines              []hunkLine
}

// A hunkLine is a line that stays (' '), goes ('-') or comes ('+').
type hunkLine struct {
	op   byte
	text string
}

// side returns the lines of the file before or after the change.
func (h *hunk) side(gone byte) []string {
	var list []string
	for _, l := range h.lines {
		if l.op != gone {
			list = append(list, l.text)
		}
	}
	return list
}

// reverse swaps before and after.
func (h *hunk) reverse() {
	h.oldStart, h.newStart = h.newStart, h.oldStart
	var lines, coming []hunkLine // what goes stands before what comes
	for _, l := range h.lines {
		switch l.op {
		case '-':
			coming = append(coming, hunkLine{'+', l.text})
			continue
		case '+':
			l.op = '-'
		default:
			lines, coming = append(lines, coming...), nil
		}
		lines = append(lines, l)
	}
	h.lines = append(lines, coming...)
}

// A change is what a patch does to one file.
type change struct {
	old, new           string // names as the headers give them
	oldLine, newLine   string // the headers themselves, for rejects
	oldGone, newGone   bool   // the header says that there is no file before, or after
	index              string
	from, to           string // of a git rename or copy
	copied, git        bool
	oldMode, newMode   string
	hunks              []*hunk
	leading            []string // the text before the hunks
	line               int      // of the patch, where the hunks start
	kind               string   // "unified", "context", "normal"
	stripCR, headerCRs bool
}

func (c *change) reverse() {
	c.old, c.new, c.oldLine, c.newLine, c.oldGone, c.newGone = c.new, c.old, c.newLine, c.oldLine, c.newGone, c.oldGone
	c.from, c.to, c.oldMode, c.newMode = c.to, c.from, c.newMode, c.oldMode
	for _, h := range c.hunks {
		h.reverse()
	}
}

// A malformed error names the line of the patch that cannot be read.
type malformed struct {
	line int
	text string
}

func (e *malformed) Error() string {
	return "malformed patch at line " + strconv.Itoa(e.line) + ": " + e.text
}

// A reader hands out the changes of a patch one after the other.
type reader struct {
	lines []string // with their ends
	at    int
}

func newReader(r io.Reader) (*reader, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, l := range bytes.SplitAfter(data, []byte("\n")) {
		if len(l) > 0 {
			lines = append(lines, string(l))
		}
	}
	return &reader{lines: lines}, nil
}

func (r *reader) peek(n int) string {
	if r.at+n < len(r.lines) {
		return r.lines[r.at+n]
	}
	return ""
}

// bad reports the line that is next.
func (r *reader) bad() error { return &malformed{r.at + 1, r.peek(0)} }

func cutEnd(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }

// next returns the next change, nil at the end. only is the one kind of diff
// that is looked for, or "".
func (r *reader) next(only string) (*change, error) {
	c, start := &change{}, r.at
	for ; r.at < len(r.lines); r.at++ {
		raw := r.peek(0)
		line := strings.TrimSuffix(raw, "\n")
		var err error
		switch {
		case strings.HasPrefix(line, "diff --git "):
			if c.git && (c.from != "" || c.newMode != "" || c.newGone || c.oldGone) {
				return r.done(c, start, nil) // the change before had no hunks
			}
			c.git = true
			c.old, c.new = gitNames(cutEnd(line)[len("diff --git "):])
		case c.git && c.gitHeader(cutEnd(line)):
		case strings.HasPrefix(line, "Index:"):
			c.index = headerName(line[len("Index:"):])
		case strings.HasPrefix(line, "--- ") && strings.HasPrefix(r.peek(1), "+++ ") && strings.HasPrefix(r.peek(2), "@@ -") && only != "context" && only != "normal":
			c.setOld(line[4:], line)
			c.setNew(strings.TrimSuffix(r.peek(1), "\n")[4:], strings.TrimSuffix(r.peek(1), "\n"))
			c.stripCR = strings.HasSuffix(line, "\r")
			r.at += 2
			return r.done(c, start, r.unified)
		case strings.HasPrefix(line, "*** ") && strings.HasPrefix(r.peek(1), "--- ") && strings.HasPrefix(r.peek(2), "***************") && only != "unified" && only != "normal":
			c.setOld(line[4:], line)
			c.setNew(strings.TrimSuffix(r.peek(1), "\n")[4:], strings.TrimSuffix(r.peek(1), "\n"))
			c.stripCR = strings.HasSuffix(line, "\r")
			r.at += 2
			return r.done(c, start, r.context)
		case strings.HasPrefix(line, "@@ -") && only != "context" && only != "normal":
			return r.done(c, start, r.unified)
		case isNormal(line) && only != "context" && only != "unified" && (strings.HasPrefix(r.peek(1), "< ") || strings.HasPrefix(r.peek(1), "> ")):
			return r.done(c, start, r.normal)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.git && (c.from != "" || c.newMode != "" || c.newGone || c.oldGone) {
		return r.done(c, start, nil)
	}
	return nil, nil
}

func (r *reader) done(c *change, start int, hunks func(*change) error) (*change, error) {
	c.leading, c.line = r.lines[start:r.at], r.at+1
	if hunks == nil {
		return c, nil
	}
	err := hunks(c)
	if c.stripCR {
		for _, h := range c.hunks {
			for i := range h.lines {
				if t, ok := strings.CutSuffix(h.lines[i].text, "\r\n"); ok {
					h.lines[i].text = t + "\n"
				}
			}
		}
	}
	return c, err
}

// gitNames cuts "a/x b/x".
func gitNames(s string) (string, string) {
	if half := len(s) / 2; len(s)%2 == 1 && s[half] == ' ' {
		return s[:half], s[half+1:]
	}
	a, b, _ := strings.Cut(s, " ")
	return a, b
}

// gitHeader reads a line between "diff --git" and the hunks.
func (c *change) gitHeader(line string) bool {
	for _, h := range []struct {
		prefix string
		set    func(string)
	}{
		{"old mode ", func(v string) { c.oldMode = v }},
		{"new mode ", func(v string) { c.newMode = v }},
		{"new file mode ", func(v string) { c.newMode, c.oldGone = v, true }},
		{"deleted file mode ", func(v string) { c.oldMode, c.newGone = v, true }},
		{"rename from ", func(v string) { c.from = v }},
		{"rename to ", func(v string) { c.to = v }},
		{"copy from ", func(v string) { c.from, c.copied = v, true }},
		{"copy to ", func(v string) { c.to, c.copied = v, true }},
	} {
		if v, ok := strings.CutPrefix(line, h.prefix); ok {
			h.set(v)
			return true
		}
	}
	return false
}

// headerName is the name in a header line: up to a tab, or quoted.
func headerName(s string) string {
	s = strings.TrimLeft(cutEnd(s), " \t")
	if strings.HasPrefix(s, `"`) {
		if name, err := strconv.Unquote(s); err == nil {
			return name
		}
	}
	name, _, found := strings.Cut(s, "\t")
	if !found {
		if i := strings.IndexByte(name, ' '); i >= 0 && dateLike(name[i+1:]) {
			name = name[:i]
		}
	}
	return name
}

func dateLike(s string) bool {
	return len(s) >= 10 && s[4] == '-' && s[7] == '-' || len(s) > 10 && s[3] == ' ' && s[7] == ' '
}

// gone tells whether a header says that there is no file: by the name, or a
// time at the epoch.
func gone(name, line string) bool {
	return name == "/dev/null" || strings.Contains(line, "\t1970-01-01 00:00:00") || strings.HasSuffix(cutEnd(line), "\tThu Jan  1 00:00:00 1970")
}

func (c *change) setOld(text, line string) {
	c.old, c.oldLine = headerName(text), line
	c.oldGone = c.oldGone || gone(c.old, line)
}

func (c *change) setNew(text, line string) {
	c.new, c.newLine = headerName(text), line
	c.newGone = c.newGone || gone(c.new, line)
}

// noNewline takes the note that the line before has no newline.
func (r *reader) noNewline(text *string) {
	if strings.HasPrefix(r.peek(0), `\`) {
		*text = strings.TrimSuffix(*text, "\n")
		r.at++
	}
}

// unified reads hunks that start with @@.
func (r *reader) unified(c *change) error {
	c.kind = "unified"
	for strings.HasPrefix(r.peek(0), "@@ -") {
		ranges, _, ok := strings.Cut(r.peek(0)[len("@@ -"):], " @@")
		before, after, ok2 := strings.Cut(ranges, " +")
		h := &hunk{}
		oldLen, err1 := parseRange(before, &h.oldStart)
		newLen, err2 := parseRange(after, &h.newStart)
		if !ok || !ok2 || err1 != nil || err2 != nil {
			return r.bad()
		}
		r.at++
		for oldLen > 0 || newLen > 0 {
			line := r.peek(0)
			if line == "" {
				return &malformed{r.at, r.lines[r.at-1]}
			}
			op := line[0]
			switch op {
			case '\n': // an editor or a mailer ate the blank
				op, line = ' ', " \n"
			case '\t':
				op, line = ' ', " "+line
			}
			switch op {
			case ' ':
				oldLen, newLen = oldLen-1, newLen-1
			case '-':
				oldLen--
			case '+':
				newLen--
			default:
				return r.bad()
			}
			if oldLen < 0 || newLen < 0 {
				return r.bad()
			}
			r.at++
			text := line[1:]
			r.noNewline(&text)
			h.lines = append(h.lines, hunkLine{op, text})
		}
		c.hunks = append(c.hunks, h)
	}
	return nil
}

// parseRange reads "start,length".
func parseRange(s string, start *int) (length int, err error) {
	a, b, found := strings.Cut(s, ",")
	if *start, err = strconv.Atoi(a); err != nil || *start < 0 {
		return 0, strconv.ErrSyntax
	}
	length = 1
	if found {
		if length, err = strconv.Atoi(b); err != nil || length < 0 {
			return 0, strconv.ErrSyntax
		}
	}
	if length == 0 {
		*start++ // an empty range stands after its line
	}
	return length, nil
}

// context reads hunks of the kind that diff -c makes.
func (r *reader) context(c *change) error {
	c.kind = "context"
	for strings.HasPrefix(r.peek(0), "***************") {
		r.at++
		h := &hunk{}
		oldLen, err := r.contextRange("*** ", " ****", &h.oldStart)
		if err != nil {
			return err
		}
		before, err := r.contextLines(oldLen, "--- ")
		if err != nil {
			return err
		}
		newLen, err := r.contextRange("--- ", " ----", &h.newStart)
		if err != nil {
			return err
		}
		after, err := r.contextLines(newLen, "***")
		if err != nil {
			return err
		}
		if h.lines, err = r.weave(before, after, oldLen, newLen); err != nil {
			return err
		}
		c.hunks = append(c.hunks, h)
	}
	return nil
}

func (r *reader) contextRange(open, end string, start *int) (length int, err error) {
	text, ok := strings.CutPrefix(cutEnd(r.peek(0)), open)
	text, ok2 := strings.CutSuffix(text, end)
	a, b, found := strings.Cut(text, ",")
	first, err1 := strconv.Atoi(a)
	last := first
	var err2 error
	if found {
		last, err2 = strconv.Atoi(b)
	}
	if !ok || !ok2 || err1 != nil || err2 != nil || first < 0 || last < first-1 {
		return 0, r.bad()
	}
	r.at++
	*start = first
	if first == 0 && !found || last < first {
		*start = first + 1
		return 0, nil
	}
	return last - first + 1, nil
}

// contextLines reads one side of a context hunk: nil when it is left out.
func (r *reader) contextLines(n int, stop string) ([]hunkLine, error) {
	var list []hunkLine
	for len(list) < n {
		line := r.peek(0)
		if len(list) == 0 && (line == "" || strings.HasPrefix(line, stop)) {
			return nil, nil
		}
		if len(line) < 2 || !strings.ContainsRune(" -+!", rune(line[0])) || line[1] != ' ' {
			return nil, r.bad()
		}
		r.at++
		text := line[2:]
		r.noNewline(&text)
		list = append(list, hunkLine{line[0], text})
	}
	return list, nil
}

// weave makes one list of the two sides.
func (r *reader) weave(before, after []hunkLine, oldLen, newLen int) ([]hunkLine, error) {
	if before == nil && oldLen > 0 || after == nil && newLen > 0 {
		// A side that only repeats the other's context is left out.
		full := after
		if after == nil {
			full = before
		}
		for _, l := range full {
			if l.op == '!' {
				return nil, r.bad()
			}
		}
		return full, nil
	}
	var list []hunkLine
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && before[i].op != ' ':
			list = append(list, hunkLine{'-', before[i].text})
			i++
		case j < len(after) && after[j].op != ' ':
			list = append(list, hunkLine{'+', after[j].text})
			j++
		case i < len(before) && j < len(after) && before[i].text == after[j].text:
			list = append(list, before[i])
			i, j = i+1, j+1
		default:
			return nil, r.bad()
		}
	}
	return list, nil
}

// isNormal tells whether a line is the command of a hunk of plain diff.
func isNormal(line string) bool {
	_, _, _, ok := normalCommand(line)
	return ok
}

// normalCommand reads "3,4c3,5".
func normalCommand(line string) (before, after [2]int, op byte, ok bool) {
	line = cutEnd(line)
	at := strings.IndexAny(line, "acd")
	if at < 1 {
		return
	}
	span := func(s string) ([2]int, bool) {
		a, b, found := strings.Cut(s, ",")
		if !found {
			b = a
		}
		x, err1 := strconv.Atoi(a)
		y, err2 := strconv.Atoi(b)
		return [2]int{x, y}, err1 == nil && err2 == nil && x >= 0 && y >= x && strings.Trim(s, "0123456789,") == ""
	}
	before, ok1 := span(line[:at])
	after, ok2 := span(line[at+1:])
	return before, after, line[at], ok1 && ok2
}

// normal reads hunks of plain diff.
func (r *reader) normal(c *change) error {
	c.kind = "normal"
	for {
		before, after, op, ok := normalCommand(r.peek(0))
		if !ok {
			return nil
		}
		r.at++
		h := &hunk{oldStart: before[0], newStart: after[0]}
		if op == 'a' {
			h.oldStart++
		}
		if op == 'd' {
			h.newStart++
		}
		take := func(n int, prefix string, op byte) error {
			for ; n > 0; n-- {
				text, ok := strings.CutPrefix(r.peek(0), prefix)
				if !ok {
					return r.bad()
				}
				r.at++
				r.noNewline(&text)
				h.lines = append(h.lines, hunkLine{op, text})
			}
			return nil
		}
		if op != 'a' {
			if err := take(before[1]-before[0]+1, "< ", '-'); err != nil {
				return err
			}
		}
		if op == 'c' {
			if cutEnd(r.peek(0)) != "---" {
				return r.bad()
			}
			r.at++
		}
		if op != 'd' {
			if err := take(after[1]-after[0]+1, "> ", '+'); err != nil {
				return err
			}
		}
		c.hunks = append(c.hunks, h)
	}
}
