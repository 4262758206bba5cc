package column

import (
	"errors"
	"strconv"
)

// asJSON prints rows as objects, which hold the columns that are shown.
func (l *layout) asJSON(rows [][]string, shown []int) ([]byte, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	out := append(appendQuoted([]byte("{\n   "), l.name), ": [\n      "...)
	for n, r := range rows {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, '{')
		for k, i := range shown {
			if i >= len(l.names) {
				return nil, errors.New("line " + strconv.Itoa(n+2) + ": for JSON the name of the column " + strconv.Itoa(i+1) + " is required")
			}
			if k > 0 {
				out = append(out, ',')
			}
			out = append(appendQuoted(append(out, "\n         "...), l.names[i]), ": "...)
			if i < len(r) && r[i] != "" {
				out = appendQuoted(out, r[i])
			} else {
				out = append(out, "null"...)
			}
		}
		out = append(out, "\n      }"...)
	}
	return append(out, "\n   ]\n}\n"...), nil
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
