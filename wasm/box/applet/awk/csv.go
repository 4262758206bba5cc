package awk

import (
	"bytes"
	"strings"
)

// nextCSV reads a record of --csv: a newline between quotes does not end it.
func (m *machine) nextCSV(r *reader) (rec, rt string, ok bool) {
	quoted := false
	for from := 0; ; {
		data := r.buf[r.s:r.e]
		for from < len(data) {
			c := data[from]
			if c == '"' {
				quoted = !quoted
			} else if c == '\n' && !quoted {
				end := len(bytes.TrimSuffix(data[:from], []byte("\r")))
				rec = r.take(end)
				return rec, r.take(from + 1 - end), true
			}
			from++
		}
		if !r.fill() {
			n := r.e - r.s
			return r.take(n), "", n > 0
		}
	}
}

// splitCSV finds the fields of a record of --csv, without their quotes.
func splitCSV(fields []value, s string) []value {
	if s == "" {
		return fields
	}
	for {
		var f string
		if strings.HasPrefix(s, `"`) {
			end := 1
			for end < len(s) && (s[end] != '"' || end+1 < len(s) && s[end+1] == '"') {
				if s[end] == '"' {
					end++
				}
				end++
			}
			end = min(end, len(s))
			f = strings.ReplaceAll(s[1:end], `""`, `"`)
			s = s[min(end+1, len(s)):]
			if i := strings.IndexByte(s, ','); i != 0 && s != "" { // text behind the quotes
				if i < 0 {
					i = len(s)
				}
				f, s = f+s[:i], s[i:]
			}
		} else if i := strings.IndexByte(s, ','); i >= 0 {
			f, s = s[:i], s[i:]
		} else {
			f, s = s, ""
		}
		fields = append(fields, value{s: f, k: input})
		if s == "" {
			return fields
		}
		s = s[1:] // the comma
	}
}
