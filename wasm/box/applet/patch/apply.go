package patch

import "strings"

// A text is a file that is being patched.
type text struct {
	lines  []string // with their ends
	frozen int      // so many lines at the start belong to hunks before
	offset int      // by how much hunks have been found away from where they said
	grown  int      // by how many lines the file has grown
	out    []string // the lines before frozen, patched
	blanks bool     // runs of blanks count as one
}

// context counts the lines that stay before the first change and after the last.
func (h *hunk) context() (before, after int) {
	for before < len(h.lines) && h.lines[before].op == ' ' {
		before++
	}
	for after < len(h.lines)-before && h.lines[len(h.lines)-1-after].op == ' ' {
		after++
	}
	return before, after
}

// locate finds where h applies and returns its first line's number, from 1; 0
// is nowhere. fuzz is how many lines of context need not be the same. The
// search goes outwards from where the hunk before was found.
func (t *text) locate(h *hunk, fuzz int) int {
	want := h.side('+')
	before, after := h.context()
	context := max(before, after)
	// Less context on one side than on the other says that the file starts or
	// ends there.
	head, tail := fuzz+before-context, fuzz+after-context
	guess := h.oldStart + t.offset
	if len(want) == 0 {
		return guess
	}
	last := len(t.lines) - (len(want) - max(tail, 0)) + 1
	matches := func(at int) bool { return at > t.frozen && at <= last && t.match(want, at, max(head, 0), max(tail, 0)) }
	found := func(at int) int {
		t.offset += at - guess
		return at
	}
	if head < 0 && h.oldStart <= 1 {
		if (tail >= 0 || len(want) == len(t.lines)) && matches(1) {
			return found(1)
		}
		return 0
	}
	if tail < 0 {
		if at := len(t.lines) - len(want) + 1; matches(at) {
			return found(at)
		}
		return 0
	}
	for away := 0; away <= max(last-guess, guess-t.frozen-1); away++ {
		if matches(guess + away) {
			return found(guess + away)
		}
		if away > 0 && matches(guess-away) {
			return found(guess - away)
		}
	}
	return 0
}

// match compares the file from line at on, but for the first head and the last
// tail lines.
func (t *text) match(want []string, at, head, tail int) bool {
	for i := head; i < len(want)-tail; i++ {
		n := at - 1 + i
		if n < 0 || n >= len(t.lines) || !t.same(want[i], t.lines[n]) {
			return false
		}
	}
	return true
}

func (t *text) same(a, b string) bool {
	if a == b {
		return true
	}
	return t.blanks && squeeze(a) == squeeze(b)
}

// squeeze makes one blank of each run of them, and none at the end.
func squeeze(s string) string { return strings.Join(strings.FieldsFunc(s, blank), " ") }

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// apply puts h at line at. What stays keeps the file's own text.
func (t *text) apply(h *hunk, at int) {
	n := min(at-1, len(t.lines))
	t.out = append(t.out, t.lines[t.frozen:n]...)
	for _, l := range h.lines {
		switch l.op {
		case '+':
			t.out = append(t.out, l.text)
			t.grown++
			continue
		case '-':
			t.grown--
		default:
			if n < len(t.lines) {
				t.out = append(t.out, t.lines[n])
			}
		}
		n++
	}
	t.frozen = min(n, len(t.lines))
}

// result is the whole file after all hunks.
func (t *text) result() []byte {
	return []byte(strings.Join(t.out, "") + strings.Join(t.lines[t.frozen:], ""))
}

// otherEnds tells whether h would apply if lines ended otherwise.
func (t *text) otherEnds(h *hunk, fuzz int) bool {
	copied, swapped := *t, &hunk{oldStart: h.oldStart, newStart: h.newStart}
	copied.lines = nil
	for _, l := range t.lines {
		copied.lines = append(copied.lines, unixEnd(l))
	}
	for _, l := range h.lines {
		swapped.lines = append(swapped.lines, hunkLine{l.op, unixEnd(l.text)})
	}
	return copied.locate(swapped, fuzz) > 0
}

func unixEnd(s string) string {
	if t, ok := strings.CutSuffix(s, "\r\n"); ok {
		return t + "\n"
	}
	return s
}

func splitLines(data string) []string {
	lines := strings.SplitAfter(data, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
