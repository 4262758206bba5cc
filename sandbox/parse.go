package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/donax-sh/donax/sandbox/shell"
	"mvdan.cc/sh/v3/syntax"
)

// A ParseError says where a text is none that a shell can be given.
type ParseError struct {
	Line int // 1-based
	Col  int // 1-based, in bytes
	Msg  string
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// checkText refuses NUL bytes: parsers differ about them, and what was
// inspected must be what runs.
func checkText(text string) error {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return &ParseError{Line: 1 + strings.Count(text[:i], "\n"), Col: i - strings.LastIndexByte(text[:i], '\n'), Msg: "a NUL byte in the text"}
	}
	return nil
}

// parse parses text within the limits. What the parser refuses ends the list
// and is no error: the lines before it run all the same, and the shell may
// understand more than the parser at once. The error is a [*LimitError], a
// [*ParseError] or the context's.
func parse(ctx context.Context, text string, l Limits) (list []*syntax.Stmt, complete bool, err error) {
	if int64(len(text)) > l.Source {
		return nil, false, sourceLimit(l.Source)
	}
	if err := checkText(text); err != nil {
		return nil, false, err
	}
	src := &boundedSource{ctx: ctx, text: text, frames: l.Nesting * framesPerNesting}
	complete = true
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(src) {
		// No break: the parser may go on after a loop that was left.
		complete = complete && err == nil
		if complete {
			list = append(list, s)
		}
	}
	if errors.Is(src.err, errDeep) {
		return nil, false, tooDeep(l)
	}
	if src.err != nil {
		return nil, false, src.err
	}
	// Long chains (a && b && ...) are parsed in a loop but nest in the tree,
	// and whoever walks the tree recurses.
	for _, s := range list {
		if deeperTree(s, l.Nesting*nodesPerNesting) {
			return nil, false, tooDeep(l)
		}
	}
	return list, complete, nil
}

func deeperTree(n syntax.Node, most int) (deep bool) {
	depth := 0
	syntax.Walk(n, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		if depth >= most {
			deep = true
			return false
		}
		depth++
		return true
	})
	return deep
}

func sourceLimit(n int64) error { return &LimitError{What: "source text of " + bytesText(n)} }

func tooDeep(l Limits) error {
	return &LimitError{What: fmt.Sprintf("nesting of %d in the source text", l.Nesting)}
}

const (
	framesPerNesting = 30 // stack frames of the parser for one level, seen at most
	nodesPerNesting  = 20 // generous: only the walker's own stack is at stake
)

var errDeep = errors.New("nested too deeply")

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
	if shell.Deeper(s.base + s.frames) {
		s.err = errDeep
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
