package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A ParseError says where a text is not shell syntax, or uses a part of it
// that the sandbox refuses.
type ParseError struct {
	Name string // of the script; "" for a command line
	Line int    // 1-based
	Col  int    // 1-based, in bytes
	Msg  string
}

func (e *ParseError) Error() string {
	where := "line"
	if e.Name != "" {
		where = e.Name + ": line"
	}
	return fmt.Sprintf("%s %d: %s", where, e.Line, e.Msg)
}

// parse parses text within the limits. The error is a [*LimitError], a
// [*ParseError] or the context's.
func parse(ctx context.Context, text, name string, l Limits) (*syntax.File, error) {
	if int64(len(text)) > l.Source {
		return nil, &LimitError{What: "source text of " + bytesText(l.Source)}
	}
	// Parsers differ about NUL bytes: what was inspected must be what runs.
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, &ParseError{Name: name, Line: 1 + strings.Count(text[:i], "\n"), Col: i - strings.LastIndexByte(text[:i], '\n'), Msg: "a NUL byte in the text"}
	}
	src := &boundedSource{ctx: ctx, text: text, frames: l.Nesting * framesPerNesting}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(src, name)
	var le *LimitError
	switch {
	case src.err != nil && errors.As(src.err, &le):
		return nil, tooDeep(l)
	case src.err != nil:
		return nil, src.err
	case err != nil:
		return nil, parseError(err, name)
	}
	// Long chains (a && b && ...) are parsed in a loop but nest in the tree,
	// and whoever walks the tree recurses.
	depth := 0
	deep := false
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		if depth >= l.Nesting*nodesPerNesting {
			deep = true
			return false
		}
		depth++
		return true
	})
	if deep {
		return nil, tooDeep(l)
	}
	return f, nil
}

func tooDeep(l Limits) error {
	return &LimitError{What: fmt.Sprintf("nesting of %d in the source text", l.Nesting)}
}

const (
	framesPerNesting = 30 // stack frames of the parser for one level, seen at most
	nodesPerNesting  = 20 // generous: only the walker's own stack is at stake
)

// boundedSource hands text to the parser in small pieces and looks at each
// turn how deep the parser's stack is. The parser itself recurses without
// bound, and a Go stack that overflows ends the whole process, so this is what
// keeps 100 kB of "(" from killing every terminal; it is exact, where a scan
// for brackets would need the grammar.
type boundedSource struct {
	ctx    context.Context
	text   string
	base   int
	frames int
	err    error
}

func (s *boundedSource) Read(p []byte) (int, error) {
	if s.base == 0 {
		s.base = stackDepth()
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	if deeperThan(s.base + s.frames) {
		s.err = &LimitError{}
		return 0, s.err
	}
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 64)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// stackDepth counts the frames of the calling goroutine, up to 512.
func stackDepth() int {
	var pcs [512]uintptr
	return runtime.Callers(2, pcs[:])
}

// deeperThan reports whether the calling goroutine's stack has more than n
// frames. Its cost grows with n only when the stack is that deep.
func deeperThan(n int) bool {
	var pcs [1]uintptr
	return runtime.Callers(n+2, pcs[:]) > 0
}

func parseError(err error, name string) error {
	pe := &ParseError{Name: name, Line: 1, Col: 1, Msg: err.Error()}
	var se syntax.ParseError
	var le syntax.LangError
	switch {
	case errors.As(err, &se):
		pe.Line, pe.Col, pe.Msg = int(se.Pos.Line()), int(se.Pos.Col()), "syntax error: "+se.Text
	case errors.As(err, &le):
		pe.Line, pe.Col = int(le.Pos.Line()), int(le.Pos.Col())
		pe.Msg = "syntax error: " + le.Feature + " is not part of bash"
	}
	return pe
}

// bytesText writes a number of bytes as people do.
func bytesText(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
