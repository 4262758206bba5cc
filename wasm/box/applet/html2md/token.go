package html2md

import (
	"strconv"
	"strings"
)

// token is a piece of HTML: text, or a tag.
type token struct {
	text string // of text, decoded
	name string // of a tag, lower case
	end  bool   // </name>
	attr string // what stands after the name
}

// raw elements end only at their own end tags.
var raw = map[string]bool{"script": true, "style": true, "textarea": true, "title": true, "noscript": true, "template": true, "svg": true, "math": true}

// next cuts a token from the front of s, which is not empty.
func next(s string) (t token, rest string) {
	if s[0] != '<' {
		end := strings.IndexByte(s, '<')
		if end < 0 {
			end = len(s)
		}
		return token{text: unescape(s[:end])}, s[end:]
	}
	switch {
	case strings.HasPrefix(s, "<!--"):
		end := strings.Index(s[4:], "-->")
		if end < 0 {
			return token{name: "!"}, ""
		}
		return token{name: "!"}, s[4+end+3:]
	case len(s) > 1 && (s[1] == '!' || s[1] == '?'):
		end := strings.IndexByte(s, '>')
		if end < 0 {
			return token{name: "!"}, ""
		}
		return token{name: "!"}, s[end+1:]
	}
	at := 1
	if len(s) > 1 && s[1] == '/' {
		t.end, at = true, 2
	}
	if at >= len(s) || s[at]|32 < 'a' || s[at]|32 > 'z' {
		return token{text: "<"}, s[1:]
	}
	n := at
	for n < len(s) && !strings.ContainsRune(" \t\r\n\f/>", rune(s[n])) {
		n++
	}
	t.name = strings.ToLower(s[at:n])
	quote := byte(0)
	end := n
	for ; end < len(s) && (quote != 0 || s[end] != '>'); end++ {
		switch c := s[end]; {
		case quote == 0 && (c == '"' || c == '\'') && end > 0 && s[end-1] == '=':
			quote = c
		case c == quote:
			quote = 0
		}
	}
	t.attr = s[n:end]
	return t, s[min(end+1, len(s)):]
}

// value returns an attribute of a tag.
func (t token) value(name string) (string, bool) {
	s := t.attr
	for {
		s = strings.TrimLeft(s, " \t\r\n\f/")
		if s == "" {
			return "", false
		}
		n := 0
		for n < len(s) && !strings.ContainsRune(" \t\r\n\f/=", rune(s[n])) {
			n++
		}
		if n == 0 {
			s = s[1:]
			continue
		}
		key := strings.ToLower(s[:n])
		s = strings.TrimLeft(s[n:], " \t\r\n\f")
		value := ""
		if strings.HasPrefix(s, "=") {
			s = strings.TrimLeft(s[1:], " \t\r\n\f")
			switch {
			case s != "" && (s[0] == '"' || s[0] == '\''):
				end := strings.IndexByte(s[1:], s[0])
				if end < 0 {
					value, s = s[1:], ""
				} else {
					value, s = s[1:1+end], s[end+2:]
				}
			default:
				end := strings.IndexAny(s, " \t\r\n\f")
				if end < 0 {
					end = len(s)
				}
				value, s = s[:end], s[end:]
			}
		}
		if key == name {
			return unescape(value), true
		}
	}
}

// entities are the names that pages use most; numbers work for all the others.
var entities = map[string]string{
	"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'", "nbsp": " ", "copy": "©", "reg": "®", "trade": "™",
	"hellip": "…", "mdash": "—", "ndash": "–", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "laquo": "«", "raquo": "»",
	"bull": "•", "middot": "·", "times": "×", "divide": "÷", "deg": "°", "plusmn": "±", "euro": "€", "pound": "£", "yen": "¥", "cent": "¢",
	"sect": "§", "para": "¶", "larr": "←", "rarr": "→", "uarr": "↑", "darr": "↓", "harr": "↔", "le": "≤", "ge": "≥", "ne": "≠",
	"auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß", "eacute": "é", "egrave": "è", "agrave": "à",
	"ccedil": "ç", "ntilde": "ñ", "frac12": "½", "sup2": "²", "check": "✓", "zwnj": "", "zwj": "", "shy": "", "ensp": " ", "emsp": " ", "thinsp": " ",
}

// unescape decodes entities; what is none stays.
func unescape(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s, ';')
		text, ok := "", false
		if end > 1 && end < 12 {
			text, ok = entity(s[1:end])
		}
		if !ok {
			b.WriteByte('&')
			s = s[1:]
			continue
		}
		b.WriteString(text)
		s = s[end+1:]
	}
}

func entity(name string) (string, bool) {
	if number, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if strings.HasPrefix(number, "x") || strings.HasPrefix(number, "X") {
			number, base = number[1:], 16
		}
		n, err := strconv.ParseUint(number, base, 21)
		if err != nil || n == 0 || n > 0x10ffff {
			return "", false
		}
		return string(rune(n)), true
	}
	text, ok := entities[name]
	return text, ok
}
