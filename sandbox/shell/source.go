package shell

import (
	"errors"
	"io"
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
	more    func() (string, error)
	command bool // a -c string, eval or trap
}

// A lineReader feeds the parser one line at a time, so that it reads no more
// than the commands it returns need. The parser has neither a depth limit nor
// a context: each read looks at both, which bounds its recursion because a
// read hands over little text.
type lineReader struct {
	sh      *shell
	src     *source
	pos     int
	pending int // bytes of the current line not handed over yet
	err     error
	tooDeep bool
}

const (
	readChunk      = 256   // bytes the parser gets at a time
	maxParseFrames = 12000 // Go frames in use while parsing
	maxPatches     = 1000  // odd constructs in one source
)

func (r *lineReader) Read(b []byte) (int, error) {
	if r.sh.run.stop.Load() {
		r.err = r.sh.run.cause()
		return 0, r.err
	}
	var pcs [1]uintptr
	if runtime.Callers(maxParseFrames, pcs[:]) > 0 {
		r.tooDeep = true
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
			r.err = &LimitError{What: "source text over " + size(int64(r.sh.run.lim.Source))}
			return 0, r.err
		}
	}
	rest := r.src.patched[r.pos:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i+1]
	}
	n := copy(b[:min(len(b), readChunk)], rest)
	r.pos += n
	return n, nil
}

func errNesting(sh *shell) error {
	return &LimitError{What: "nesting deeper than " + itoa(sh.run.lim.Nesting)}
}

// newSource makes a source of text, which must fit the limit.
func (sh *shell) newSource(name, text string) *source {
	if len(text) > sh.run.lim.Source {
		throw(&LimitError{What: "source text over " + size(int64(sh.run.lim.Source))})
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
	pos, line, patches := 0, src.line, 0
	var exp aliasState
restart:
	r := &lineReader{sh: sh, src: src, pos: pos}
	p := syntax.NewParser(syntax.Variant(syntax.LangBash))
	base := pos
	baseLine := line
	for stmts, err := range p.InteractiveSeq(r) {
		if err == nil && p.Incomplete() {
			continue
		}
		if r.err != nil {
			throw(r.err)
		}
		if err != nil {
			if isFatal(err) {
				throw(err)
			}
			if sh.aliasActive() && exp.first(sh, src, pos) {
				goto restart
			}
			if patches < maxPatches && src.patch(err, base) {
				patches++
				goto restart
			}
			return sh.syntaxError(src, err, baseLine)
		}
		if len(stmts) > 0 {
			if sh.aliasActive() && exp.expand(sh, src, stmts, base) {
				goto restart
			}
			lw := &lowerer{sh: sh, src: src, base: base, line: baseLine}
			list, err := lw.batch(stmts)
			if err != nil {
				return err
			}
			if list == nil { // the text was changed
				if patches++; patches > maxPatches {
					return &syntaxErr{msg: "syntax error: too many odd constructs", line: baseLine + 1}
				}
				goto restart
			}
			pos, line = r.pos, baseLine+strings.Count(src.text[base:r.pos], "\n")
			exp = aliasState{}
			if !fn(list) {
				return nil
			}
			if sh.aliasActive() {
				goto restart // an alias may have been defined for the next line
			}
			continue
		}
		pos, line = r.pos, baseLine+strings.Count(src.text[base:r.pos], "\n")
	}
	return nil
}

// A syntaxErr is a syntax error of the script.
type syntaxErr struct {
	msg  string
	line int
}

func (e *syntaxErr) Error() string { return e.msg }

func (sh *shell) syntaxError(src *source, err error, baseLine int) error {
	var pe syntax.ParseError
	if errors.As(err, &pe) {
		return &syntaxErr{msg: "syntax error: " + pe.Text, line: baseLine + int(pe.Pos.Line())}
	}
	var le syntax.LangError
	if errors.As(err, &le) {
		return &syntaxErr{msg: "syntax error: " + le.Error(), line: baseLine + int(le.Pos.Line())}
	}
	return &syntaxErr{msg: "syntax error: " + err.Error(), line: baseLine + 1}
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
