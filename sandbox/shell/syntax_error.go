package shell

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A syntaxErr is a syntax error of the script, in bash's words.
type syntaxErr struct {
	msg  string
	line int
	text string // the line that bash shows below the message; may be ""
}

func (e *syntaxErr) Error() string { return e.msg }

// syntaxError turns an error of the parser, which began at base, into what
// bash says of the same text.
func (src *source) syntaxError(err error, base place) error {
	var pe syntax.ParseError
	var le syntax.LangError
	pos, text := syntax.Pos{}, err.Error()
	switch {
	case errors.As(err, &pe):
		pos, text = pe.Pos, pe.Text
	case errors.As(err, &le):
		pos, text = le.Pos, le.Error()
	}
	at := min(base.pos+int(pos.Offset()), len(src.text))
	if pos.Line() == 0 {
		at = base.pos
	}
	e := &syntaxErr{}
	subject, said := quotedWord(text)
	switch {
	case strings.HasPrefix(text, "reached EOF without closing quote"):
		e.msg, e.line = lookingFor(subject), src.lineAt(at)
		return e
	case strings.HasPrefix(text, "reached EOF without matching") && strings.HasPrefix(subject, "$"):
		e.msg, e.line = lookingFor(map[bool]string{true: "}", false: ")"}[subject == "${"]), src.lineAt(len(src.text))
		return e
	case strings.HasPrefix(text, "not a valid test operator"):
		e.msg, e.line = "conditional binary operator expected", src.lineAt(at)
		return e
	case strings.HasPrefix(text, "reached EOF"), strings.Contains(text, "must end with"):
		at = len(src.text)
	case strings.HasPrefix(said, "must be followed by"):
		switch {
		case strings.HasPrefix(subject, "for foo"), strings.HasPrefix(subject, "select foo"):
			if i := strings.IndexAny(src.text[at:], ";\n"); i >= 0 {
				at += i + 1
			}
		case strings.HasPrefix(subject, "foo("):
			if i := strings.IndexByte(src.text[at:], '('); i >= 0 {
				at += i + 1
			}
		default:
			at = min(at+len(subject), len(src.text))
		}
		blank := " \t\n"
		if subject != "" && strings.IndexByte("<>&", subject[0]) >= 0 && subject != "&&" || strings.HasSuffix(subject, "for") {
			blank = " \t"
		}
		at = len(src.text) - len(strings.TrimLeft(src.text[at:], blank))
	case said == "" && !strings.HasPrefix(text, "a command can only") && !strings.HasPrefix(text, "statements must be"):
		if !strings.HasPrefix(text, "a function's body") {
			e.msg, e.line = "syntax error: "+text, src.lineAt(at)
			return e
		}
	}
	e.line = src.lineAt(at)
	tok := tokenAt(src.text[at:])
	if tok == "" {
		e.msg = "syntax error: unexpected end of file"
		return e
	}
	e.msg = "syntax error near unexpected token `" + tok + "'"
	start := strings.LastIndexByte(src.text[:at], '\n') + 1
	e.text, _, _ = strings.Cut(src.text[start:], "\n")
	return e
}

func lookingFor(close string) string {
	return "unexpected EOF while looking for matching `" + close + "'"
}

// lineAt is the number of the line at an offset.
func (src *source) lineAt(at int) int {
	return src.line + strings.Count(src.text[:at], "\n") + 1
}

// quotedWord takes the first quoted word out of a message of the parser; rest
// is what follows it.
func quotedWord(s string) (word, rest string) {
	i := strings.IndexAny(s, "`\"")
	if i < 0 {
		return "", ""
	}
	word, rest, ok := strings.Cut(s[i+1:], s[i:i+1])
	if !ok {
		return "", ""
	}
	return word, strings.TrimSpace(rest)
}

// tokenAt is the token that s begins with; "" at the end.
func tokenAt(s string) string {
	s = strings.TrimLeft(s, " \t")
	switch {
	case strings.Trim(s, "\n") == "":
		return ""
	case s[0] == '\n':
		return "newline"
	}
	for _, op := range []string{";;&", ";;", ";&", "&&", "||", "|&", "&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">", ";", "&", "|", "(", ")"} {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	if i := strings.IndexAny(s, " \t\n;&|()<>"); i > 0 {
		s = s[:i]
	}
	return s
}

// report prints a syntax error as bash does. origin is what had the text read.
func (sh *shell) report(err error, origin string) {
	var se *syntaxErr
	if !errors.As(err, &se) {
		sh.errorf("%v", err)
		return
	}
	name := ""
	switch {
	case origin == "" && sh.commandString:
		name = "-c: "
	case origin == "eval" || origin == "trap":
		name = origin + ": "
	}
	lines := []string{se.msg}
	if se.text != "" {
		lines = append(lines, "`"+se.text+"'")
	}
	for _, l := range lines {
		sh.stderr(sh.errorName() + ": " + name + "line " + itoa(se.line) + ": " + l + "\n")
	}
}
