package awk

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet/internal/scan"
)

// splitter is how a record becomes fields: FS, FPAT or FIELDWIDTHS.
type splitter struct {
	how    byte // ' ' blanks, 1 a byte, 'r' a regex, 'c' characters, 'p' a pattern of fields, 'w' widths, ',' CSV
	sep    byte
	re     *regex
	widths []fieldWidth
}

// fieldWidth is an element of FIELDWIDTHS: "skip:n".
type fieldWidth struct{ skip, n int }

// fieldWidths reads a value of FIELDWIDTHS.
func (m *machine) fieldWidths(s string) []fieldWidth {
	var out []fieldWidth
	words := strings.Fields(s)
	for i, f := range words {
		skip, width, both := strings.Cut(f, ":")
		if !both {
			skip, width = "0", f
		}
		before, e1 := strconv.Atoi(skip)
		n, e2 := strconv.Atoi(width)
		if width == "*" {
			if n, e2 = maxFields, nil; i+1 < len(words) {
				m.fatal("`*' must be the last designator in FIELDWIDTHS")
			}
		}
		if e1 != nil || e2 != nil || before < 0 || n < 1 {
			m.fatal("invalid FIELDWIDTHS value, for field " + itoa(i+1) + ", near `" + strings.Join(words[i:], " ") + "'")
		}
		out = append(out, fieldWidth{before, n})
	}
	return out
}

// splitterFor is what a value of FS asks for.
func (m *machine) splitterFor(fs string, para bool) splitter {
	switch {
	case fs == " ":
		return splitter{how: ' '}
	case fs == "":
		return splitter{how: 'c'}
	case len(fs) == 1 && fs != "\\" && !(m.fold && isLetter(fs[0])):
		if para && fs != "\n" { // a newline separates too, but for a regex
			return splitter{how: 'r', re: m.dynamic("[" + fs + "\n]")}
		}
		return splitter{how: 1, sep: fs[0]}
	case fs == "\\":
		return splitter{how: 1, sep: '\\'}
	}
	return splitter{how: 'r', re: m.dynamic(fs)}
}

// nextField finds the field that starts at pos of s: its end, and where the
// next one starts, -1 after the last. ok is false when there is none at all.
func (m *machine) nextField(sp *splitter, s string, pos int) (start, end, next int, ok bool) {
	switch sp.how {
	case ' ':
		for pos < len(s) && (s[pos] == ' ' || s[pos] == '\t' || s[pos] == '\n') {
			pos++
		}
		if pos == len(s) {
			return pos, pos, -1, false
		}
		end = scan.Blank(s, pos)
		return pos, end, end, true
	case 1:
		if i := strings.IndexByte(s[pos:], sp.sep); i >= 0 {
			return pos, pos + i, pos + i + 1, true
		}
		return pos, len(s), -1, pos > 0 || s != ""
	case 'c':
		if pos == len(s) {
			return pos, pos, -1, false
		}
		_, n := utf8.DecodeRuneInString(s[pos:])
		return pos, pos + n, pos + n, true
	}
	// A separator is not empty.
	for from := pos; s != ""; {
		a, b, found := m.find(sp.re, s, from)
		if !found {
			break
		}
		if a < b {
			return pos, a, b, true
		}
		if from = b + 1; from > len(s) {
			break
		}
	}
	return pos, len(s), -1, s != ""
}

// setRecord makes s the record; its fields are found when they are asked for.
func (m *machine) setRecord(s string) {
	m.record, m.stale = s, false
	m.fields = m.fields[:0]
	m.at, m.nf = 0, -1
	if m.split.how == 'p' || m.split.how == 'w' || m.split.how == ',' {
		m.special(s)
	}
}

// special finds fields by FPAT, FIELDWIDTHS or as CSV.
func (m *machine) special(s string) {
	switch m.split.how {
	case ',':
		m.fields = splitCSV(m.fields, s)
	case 'w':
		for _, w := range m.split.widths {
			if s == "" {
				break
			}
			s = s[charOffset(s, w.skip):]
			n := charOffset(s, w.n)
			m.fields = append(m.fields, value{s: s[:n], k: input})
			s = s[n:]
		}
	default:
		m.eachField(m.split.re, s, func(text, _ string) { m.fields = append(m.fields, value{s: text, k: input}) })
	}
	m.nf = len(m.fields)
}

// eachField calls f for what re matches in s, and for what stands before it.
func (m *machine) eachField(re *regex, s string, f func(text, sep string)) (rest string) {
	last, any := 0, false
	for from := 0; from <= len(s); {
		a, b, ok := m.find(re, s, from)
		if !ok {
			break
		}
		if a == b && any && a == last { // the empty string right behind a field
			if from = b + 1; from > len(s) {
				break
			}
			continue
		}
		f(s[a:b], s[last:a])
		last, any = b, true
		from = b
		if a == b {
			from++
		}
	}
	return s[last:]
}

// know finds fields until n of them are known, or all when n is negative.
func (m *machine) know(n int) {
	if m.nf >= 0 {
		return
	}
	s := m.record
	for n < 0 || len(m.fields) < n {
		start, end, next, ok := m.nextField(&m.split, s, m.at)
		if ok {
			m.fields = append(m.fields, value{s: s[start:end], k: input})
		}
		if m.at = next; next < 0 || !ok {
			m.nf = len(m.fields)
			return
		}
	}
}

func (m *machine) countFields() int {
	m.know(-1)
	return m.nf
}

func (m *machine) field(i int) value {
	switch {
	case i == 0:
		return value{s: m.text(), k: input}
	case i < 0:
		m.fatal("attempt to access field " + itoa(i))
	case len(m.fields) < i:
		if m.know(i); len(m.fields) < i {
			return value{k: input} // as gawk: no number
		}
	}
	return m.fields[i-1]
}

// text is $0: put together anew when a field has changed.
func (m *machine) text() string {
	if m.stale {
		b := make([]byte, 0, len(m.record)+16)
		for i := range m.fields {
			if i > 0 {
				b = append(b, m.ofs...)
			}
			b = m.append(b, &m.fields[i], m.convfmt)
		}
		m.record, m.stale = string(b), false
	}
	return m.record
}

func (m *machine) setField(i int, v value) {
	switch {
	case i == 0:
		m.setRecord(m.str(&v))
		return
	case i < 0:
		m.fatal("attempt to access field " + itoa(i))
	}
	m.know(-1)
	if i > m.nf {
		m.resize(i)
	}
	m.fields[i-1] = v
	m.stale = true
}

// maxFields bounds NF.
const maxFields = 1 << 24

func (m *machine) resize(n int) {
	switch {
	case n < 0:
		m.fatal("NF set to negative value")
	case n > maxFields:
		m.fatal("NF set to a value that is too large")
	}
	m.know(-1)
	for len(m.fields) < n {
		m.fields = append(m.fields, value{k: text})
	}
	m.fields = m.fields[:n]
	m.nf, m.stale = n, true
}

// charOffset is where the character with the number n, from 0, starts in s.
func charOffset(s string, n int) int {
	if isASCII(s) {
		return min(n, len(s))
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func charCount(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}
