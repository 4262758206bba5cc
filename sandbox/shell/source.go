package shell

import (
	"errors"
	"io"
	"iter"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A source is one text being read and run: a script, the argument of eval,
// a sourced file, a trap.
type source struct {
	name    string // BASH_SOURCE; "" inherits
	text    string // all of it, or what was read so far
	patched string // what the parser sees: text with odd arithmetic blanked
	changed bool   // patched is not text
	line    int    // line of text[0], less one
	shown   int    // how much of it set -v has shown, or has passed over
	more    func() (string, error)
}

// A lineReader feeds the parser one line at a time, so that it reads no more
// than the commands it returns need. The parser has neither a depth limit nor
// a context: each read looks at both, which bounds its recursion because a
// read hands over little text.
type lineReader struct {
	sh  *shell
	src *source
	pos int
	err error

	closed bool // no more input
}

const (
	readChunk        = 256  // bytes the parser gets at a time
	framesPerNesting = 40   // Go frames of the parser for one level, seen at most
	maxPatches       = 1000 // odd constructs in one source
)

func (r *lineReader) Read(b []byte) (int, error) {
	if r.closed {
		return 0, io.EOF
	}
	if r.sh.run.stop.Load() {
		r.err = r.sh.run.cause()
		return 0, r.err
	}
	if Deeper(r.sh.run.lim.Nesting * framesPerNesting) {
		r.err = errNesting(r.sh)
		return 0, r.err
	}
	if r.pos >= len(r.src.text) {
		if r.src.more == nil {
			return 0, io.EOF
		}
		s, err := r.src.more()
		if s == "" {
			if err == nil {
				err = io.EOF
			}
			return 0, err
		}
		r.src.text += s
		r.src.patched += s
		if len(r.src.text) > r.sh.run.lim.Source {
			r.err = &LimitError{What: "source text of " + size(int64(r.sh.run.lim.Source))}
			return 0, r.err
		}
	}
	rest := r.src.patched[r.pos:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i+1]
	}
	n := copy(b[:min(len(b), readChunk)], rest)
	r.pos += n
	if src := r.src; r.pos > src.shown {
		if r.sh.opts.has(optVerbose) {
			r.sh.stderr(src.text[src.shown:r.pos])
		}
		src.shown = r.pos
	}
	return n, nil
}

// Deeper reports whether the calling goroutine's stack has more than n frames.
// Its cost grows with n only when the stack is that deep.
func Deeper(n int) bool {
	var pcs [1]uintptr
	return runtime.Callers(n+2, pcs[:]) > 0
}

func errNesting(sh *shell) error {
	return &LimitError{What: "nesting of " + itoa(sh.run.lim.Nesting) + " in the source text"}
}

// newSource makes a source of text, which must fit the limit.
func (sh *shell) newSource(name, text string) *source {
	if len(text) > sh.run.lim.Source {
		throw(&LimitError{What: "source text of " + size(int64(sh.run.lim.Source))})
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if strings.IndexByte(text, 0) >= 0 { // bash drops NUL bytes from scripts
		text = strings.ReplaceAll(text, "\x00", "")
	}
	return &source{name: name, text: text, patched: text}
}

// each parses src one complete line of commands at a time and calls fn with
// each, until fn returns false or the text ends. A syntax error is returned
// after the lines before it have run, as bash does.
func (src *source) each(sh *shell, fn func([]*stmt) bool) error {
	at := place{line: src.line}
	var exp aliasState
	for patches := 0; ; {
		next, err := src.parse(sh, at, &exp, fn)
		switch {
		case err == nil && next == nil:
			return nil
		case errors.Is(err, reparse{}):
			if patches++; patches > maxPatches {
				return &syntaxErr{msg: "syntax error: too many odd constructs", line: at.line + 1}
			}
		case err != nil:
			return err
		}
		if next != nil {
			if *next != at {
				exp = aliasState{}
			}
			at = *next
		}
	}
}

// A place is where in a source a line begins.
type place struct{ pos, line int }

// parse runs one parser from at until the text ends, fn returns false, or the
// parser must begin anew: then next is where. The parser runs in a coroutine,
// so that its stack is its own and can be measured.
func (src *source) parse(sh *shell, at place, exp *aliasState, fn func([]*stmt) bool) (again *place, err error) {
	r := &lineReader{sh: sh, src: src, pos: at.pos}
	p := syntax.NewParser(syntax.Variant(syntax.LangBash))
	next, stop := iter.Pull2(p.InteractiveSeq(r))
	defer func() {
		// The parser's iterator must not be left early when it has an error
		// to report: let it run to its end, which is near without more input.
		r.closed = true
		for ok := true; ok; {
			_, _, ok = next()
		}
		stop()
	}()
	base := at
	for {
		stmts, perr, ok := next()
		if !ok {
			return nil, nil
		}
		if perr == nil && p.Incomplete() {
			continue
		}
		if r.err != nil {
			throw(r.err)
		}
		if perr != nil {
			if isFatal(perr) {
				throw(perr)
			}
			if sh.aliasActive() && exp.first(sh, src, at.pos) || src.patch(perr, base.pos) || src.closeHeredoc(sh, perr) {
				return &at, reparse{}
			}
			return nil, src.syntaxError(perr, base)
		}
		end := place{r.pos, base.line + strings.Count(src.text[base.pos:r.pos], "\n")}
		if len(stmts) == 0 {
			at = end
			continue
		}
		if sh.aliasActive() && exp.expand(sh, src, stmts, base.pos) {
			return &at, reparse{}
		}
		lw := &lowerer{sh: sh, src: src, base: base.pos, line: base.line}
		list, err := lw.batch(stmts)
		if err != nil {
			return &at, err
		}
		at = end
		if !fn(list) {
			return nil, nil
		}
		*exp = aliasState{}
		if sh.aliasActive() || sh.opts.has(optVerbose) {
			return &at, nil // an alias may have been defined for the next line
		}
	}
}

// parseAll parses a whole text at once, for tests and for callers that run
// nothing.
func (sh *shell) parseAll(src *source) (list []*stmt, err error) {
	err = src.each(sh, func(s []*stmt) bool {
		list = append(list, s...)
		return true
	})
	return list, err
}
