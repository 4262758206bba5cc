package applettest

import (
	"fmt"
	"strconv"
	"strings"
)

// stage is one command of a pipeline.
type stage struct {
	args     []string
	in, out  string // redirections
	appendTo bool
	errToOut bool
}

// parseLine parses a pipeline.
func parseLine(line string) ([]stage, error) {
	tokens, err := tokenize(line)
	if err != nil {
		return nil, err
	}
	stages := []stage{{}}
	for i := 0; i < len(tokens); i++ {
		cur := &stages[len(stages)-1]
		t := tokens[i]
		if !t.operator {
			cur.args = append(cur.args, t.text)
			continue
		}
		switch t.text {
		case "|":
			stages = append(stages, stage{})
			continue
		case "2>&1":
			cur.errToOut = true
			continue
		}
		i++
		if i == len(tokens) || tokens[i].operator {
			return nil, fmt.Errorf("%s without a name", t.text)
		}
		switch t.text {
		case "<":
			cur.in = tokens[i].text
		case ">", ">>":
			cur.out, cur.appendTo = tokens[i].text, t.text == ">>"
		}
	}
	for _, s := range stages {
		if len(s.args) == 0 {
			return nil, fmt.Errorf("no command in %q", line)
		}
	}
	return stages, nil
}

type token struct {
	text     string
	operator bool
}

func tokenize(s string) (tokens []token, err error) {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return tokens, nil
		}
		op := ""
		for _, o := range []string{"2>&1", ">>", ">", "<", "|"} {
			if strings.HasPrefix(s, o) {
				op = o
				break
			}
		}
		if op != "" {
			tokens = append(tokens, token{op, true})
			s = s[len(op):]
			continue
		}
		var w string
		if w, s, err = word(s); err != nil {
			return nil, err
		}
		tokens = append(tokens, token{w, false})
	}
}

// word reads one word from the front of s.
func word(s string) (w, rest string, err error) {
	var b strings.Builder
	for s != "" && !strings.ContainsRune(" \t|<>", rune(s[0])) {
		switch {
		case s[0] == '\'':
			end := strings.IndexByte(s[1:], '\'')
			if end < 0 {
				return "", "", fmt.Errorf("quote without end: %s", s)
			}
			b.WriteString(s[1 : 1+end])
			s = s[end+2:]
		case strings.HasPrefix(s, "$'"):
			i := 2
			for i < len(s) && s[i] != '\'' {
				if s[i] == '\\' {
					i++
				}
				i++
			}
			if i >= len(s) {
				return "", "", fmt.Errorf("quote without end: %s", s)
			}
			text, err := unescape(s[2:i])
			if err != nil {
				return "", "", err
			}
			b.WriteString(text)
			s = s[i+1:]
		case s[0] == '"':
			i := 1
			for i < len(s) && s[i] != '"' {
				if s[i] == '\\' && i+1 < len(s) && strings.ContainsRune(`"\$`, rune(s[i+1])) {
					i++
				}
				b.WriteByte(s[i])
				i++
			}
			if i >= len(s) {
				return "", "", fmt.Errorf("quote without end: %s", s)
			}
			s = s[i+1:]
		case s[0] == '\\' && len(s) > 1:
			b.WriteByte(s[1])
			s = s[2:]
		case s[0] == '$' || s[0] == '*' || s[0] == ';' || s[0] == '&':
			return "", "", fmt.Errorf("%q must be quoted: this is no shell", s[0])
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	return b.String(), s, nil
}

// unescape reads the escapes of $'...': those of Go, and octal ones of one to
// three digits.
func unescape(s string) (string, error) {
	var b strings.Builder
	for s != "" {
		if s[0] != '\\' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if n := octal(s[1:]); n > 0 {
			v, err := strconv.ParseUint(s[1:1+n], 8, 8)
			if err != nil {
				return "", err
			}
			b.WriteByte(byte(v))
			s = s[1+n:]
			continue
		}
		r, multi, rest, err := strconv.UnquoteChar(s, '\'')
		if err != nil {
			return "", fmt.Errorf("escape %q: %w", s, err)
		}
		if multi {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		s = rest
	}
	return b.String(), nil
}

func octal(s string) int {
	n := 0
	for n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
		n++
	}
	return n
}
