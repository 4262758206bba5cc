package shell

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The parser checks at once what bash checks when it runs the line: the
// inside of arithmetic, of subscripts and of ${...}. When it refuses such a
// place, the place is blanked in the copy that the parser sees and the line is
// parsed again. What is evaluated is always the original text, by bash's
// rules.

// patch changes what the parser sees around a parse error and reports
// whether there was something to change.
func (src *source) patch(err error, base int) bool {
	var pe syntax.ParseError
	var le syntax.LangError
	var pos syntax.Pos
	text := ""
	switch {
	case errors.As(err, &pe):
		pos, text = pe.Pos, pe.Text
	case errors.As(err, &le):
		pos, text = le.Pos, le.Error()
	default:
		return false
	}
	at := min(base+int(pos.Offset()), len(src.patched))
	switch {
	case strings.Contains(text, "invalid var name"):
		return src.patchWord(at)
	case strings.Contains(text, "inline variables cannot be arrays"):
		return src.patchEnvArray(at)
	case strings.Contains(text, "must be followed by `=`"):
		return src.patchAppend(at, base)
	case strings.Contains(text, "parameter") || strings.Contains(text, "`${`"):
		if src.patchBrace(at, base) {
			return true
		}
	}
	return src.patchArith(at, base) || src.patchBrace(at, base) || src.patchLet(at, base)
}

// isPatched tells whether text[i:j] is not what the parser saw.
func (src *source) isPatched(i, j int) bool {
	return src.changed && i >= 0 && j <= len(src.text) && src.text[i:j] != src.patched[i:j]
}

// insert puts a blank before offset i in both texts.
func (src *source) insert(i int) {
	src.text = src.text[:i] + " " + src.text[i:]
	src.patched = src.patched[:i] + " " + src.patched[i:]
}

const patchReach = 8192 // how far back a construct may begin

// patchArith blanks the arithmetic or subscript that holds at. An (( that is
// not closed by )) is two subshells.
func (src *source) patchArith(at, base int) bool {
	s := src.patched
	for i := min(at+2, len(s)-1); i >= max(base, at-patchReach); i-- {
		switch {
		case s[i] == '[':
			end := skipTo(s, i+1, '[', ']')
			if end <= at || s[end-1] != ']' {
				continue
			}
			name := i > 0 && (isNameByte(s[i-1]) || s[i-1] == '$' && (i < 2 || s[i-2] != '$'))
			elem := i > 0 && strings.IndexByte("( \t\n", s[i-1]) >= 0 && end < len(s) && (s[end] == '=' || s[end] == '+')
			if (name || elem) && src.blank(i+1, end-1) {
				return true
			}
		case s[i] == '(' && i > base && s[i-1] == '(':
			end := skipTo(s, i+1, '(', ')')
			if end <= at && end < len(s) {
				continue
			}
			if end < len(s) && s[end-1] == ')' && s[end] == ')' {
				if src.blank(i+1, end-1) {
					return true
				}
				continue
			}
			src.insert(i)
			return true
		}
	}
	return false
}

// patchBrace blanks the ${...} that holds at; it becomes a bad substitution
// when it is expanded, if at all.
func (src *source) patchBrace(at, base int) bool {
	s := src.patched
	for i := min(at, len(s)-2); i >= max(base, at-patchReach); i-- {
		if s[i] != '$' || s[i+1] != '{' {
			continue
		}
		end := skipTo(s, i+2, '{', '}')
		if end <= at || s[end-1] != '}' || end-i < 4 {
			continue
		}
		b := []byte(s)
		changed := false
		for k := i + 2; k < end-1; k++ {
			if b[k] != '\n' && b[k] != '_' {
				b[k] = '_'
				changed = true
			}
		}
		if changed {
			src.patched, src.changed = string(b), true
			return true
		}
	}
	return false
}

// patchWord makes export a-b=c an ordinary word.
func (src *source) patchWord(at int) bool {
	s := src.patched
	for i := at; i < len(s) && strings.IndexByte(" \t\n;|&", s[i]) < 0; i++ {
		if s[i] == '=' {
			return src.blank(i, i+1)
		}
	}
	return false
}

// patchEnvArray makes a=(b c) in front of a command one word, as bash takes it.
func (src *source) patchEnvArray(at int) bool {
	i := strings.Index(src.patched[at:], "=(")
	if i < 0 {
		return false
	}
	i += at + 1
	return src.blank(i, skipTo(src.patched, i+1, '(', ')'))
}

// patchAppend makes [k]+=v in an array literal [k]=_v; the _ is taken off
// again later.
func (src *source) patchAppend(at, base int) bool {
	i := strings.Index(src.patched[max(base, at-1):], "]+=")
	if i < 0 {
		return false
	}
	i += max(base, at-1)
	src.patched, src.changed = src.patched[:i]+"]=_"+src.patched[i+3:], true
	return true
}

// patchLet makes let an ordinary command where its arguments are no
// arithmetic that the parser knows.
func (src *source) patchLet(at, base int) bool {
	s := src.patched
	start := max(base, strings.LastIndexByte(s[:at], '\n')+1)
	i := strings.LastIndex(s[start:at], "let ")
	if i < 0 {
		return false
	}
	i += start
	if i > 0 && isNameByte(s[i-1]) {
		return false
	}
	return src.blank(i+2, i+3)
}

// blank replaces patched[i:j] by zeros; newlines and semicolons stay.
func (src *source) blank(i, j int) bool {
	b := []byte(src.patched)
	changed := false
	for k := i; k < j; k++ {
		if b[k] != '\n' && b[k] != '0' && b[k] != ';' {
			b[k] = '0'
			changed = true
		}
	}
	if changed {
		src.patched, src.changed = string(b), true
	}
	return changed
}

// closeHeredoc ends a here-document that the text leaves open, as bash does,
// with a warning.
func (src *source) closeHeredoc(sh *shell, err error) bool {
	var pe syntax.ParseError
	if !errors.As(err, &pe) || !strings.HasPrefix(pe.Text, "unclosed here-document") {
		return false
	}
	end, _ := quotedWord(pe.Text)
	if end == "" || strings.Contains(end, "\n") {
		return false
	}
	sh.stderr(sh.errorName() + ": line " + itoa(src.lineAt(len(src.text)-1)) + ": warning: here-document at line " +
		itoa(src.lineAt(0)+int(pe.Pos.Line())-1) + " delimited by end-of-file (wanted `" + end + "')\n")
	src.text += end + "\n"
	src.patched += end + "\n"
	return true
}
