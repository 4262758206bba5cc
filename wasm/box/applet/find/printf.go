package find

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// piece is one part of a -printf format: text, or a directive.
type piece struct {
	text  string
	verb  byte
	sub   byte // of %A %C %T
	left  bool
	zero  bool
	width int
	prec  int // -1: none
}

// printf compiles -printf.
func (p *parser) printf(w *bufio.Writer, format string) expr {
	pieces, stop := p.format(format)
	return func(e *entry) bool {
		var b []byte
		for _, pc := range pieces {
			if pc.verb == 0 {
				b = append(b, pc.text...)
				continue
			}
			b = appendField(b, pc, e.field(pc))
		}
		w.Write(b)
		if stop {
			w.Flush()
		}
		return true
	}
}

const verbs = "abcdDfFgGhHiklmMnpPsStuUyY"

// format takes a format apart; stop when \c ended it.
func (p *parser) format(s string) (pieces []piece, stop bool) {
	var text []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			c := s[i]
			if at := strings.IndexByte(`abfnrtv\`, c); at >= 0 {
				text = append(text, "\a\b\f\n\r\t\v\\"[at])
				continue
			}
			switch {
			case c == 'c':
				return append(pieces, piece{text: string(text)}), true
			case c >= '0' && c <= '7':
				n := 0
				for k := 0; k < 3 && i < len(s) && s[i] >= '0' && s[i] <= '7'; k++ {
					n = n*8 + int(s[i]-'0')
					i++
				}
				i--
				text = append(text, byte(n))
			default:
				p.f.c.Warn("warning: unrecognized escape `\\", string(rune(c)), "'")
				text = append(text, '\\', c)
			}
		case s[i] == '%':
			if i+1 < len(s) && s[i+1] == '%' {
				text = append(text, '%')
				i++
				continue
			}
			pc, next, ok := directive(s, i)
			if !ok {
				if next == len(s) && pc.verb == 0 {
					p.fail("error: ", s, " at end of format string")
				}
				p.f.c.Warn("warning: unrecognized format directive `", s[i:next+1], "'")
				text = append(text, s[i:next+1]...)
				i = next
				continue
			}
			pieces = append(pieces, piece{text: string(text)}, pc)
			text = nil
			i = next
		default:
			text = append(text, s[i])
		}
	}
	return append(pieces, piece{text: string(text)}), false
}

// directive reads the one at s[i]; next is its last byte.
func directive(s string, i int) (pc piece, next int, ok bool) {
	pc.prec = -1
	i++
	for ; i < len(s) && strings.IndexByte("-+ #0", s[i]) >= 0; i++ {
		pc.left = pc.left || s[i] == '-'
		pc.zero = pc.zero || s[i] == '0'
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		pc.width = min(pc.width*10+int(s[i]-'0'), 4096)
	}
	if i < len(s) && s[i] == '.' {
		pc.prec = 0
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			pc.prec = min(pc.prec*10+int(s[i]-'0'), 4096)
		}
	}
	if i >= len(s) {
		return piece{}, len(s), false
	}
	pc.verb = s[i]
	switch {
	case strings.IndexByte("ACT", pc.verb) >= 0 && i+1 < len(s):
		pc.sub = s[i+1]
		return pc, i + 1, strings.IndexByte("@HIklMprSTXZaAbBcdDhjmUwWxyY+sFGguVnt", pc.sub) >= 0
	case strings.IndexByte(verbs, pc.verb) >= 0:
		return pc, i, true
	}
	return pc, i, false
}

// appendField writes a value in its width and precision, which counts bytes
// of text as the C library does.
func appendField(b []byte, pc piece, v string) []byte {
	if pc.prec >= 0 && pc.prec < len(v) && strings.IndexByte("fFgGhHlMpPuy", pc.verb) >= 0 {
		v = v[:pc.prec]
	}
	pad := pc.width - len(v)
	fill := byte(' ')
	if pc.zero && !pc.left && strings.IndexByte("bdDGiknsUm", pc.verb) >= 0 {
		fill = '0'
	}
	if !pc.left {
		for ; pad > 0; pad-- {
			b = append(b, fill)
		}
	}
	b = append(b, v...)
	for ; pad > 0; pad-- {
		b = append(b, ' ')
	}
	return b
}

// field is the value of a directive.
func (e *entry) field(pc piece) string {
	st := applet.Stat(e.info)
	num := func(n int64) string { return strconv.FormatInt(n, 10) }
	loc := e.f.now.Location()
	switch pc.verb {
	case 'a', 'c', 't':
		which := map[byte]byte{'a': 'a', 'c': 'c', 't': 'm'}[pc.verb]
		t := timeOf(which, e).In(loc)
		return string(applet.AppendTime(nil, "%a %b %e %H:%M:", t)) + seconds(t) + string(applet.AppendTime(nil, " %Y", t))
	case 'A', 'C', 'T':
		which := map[byte]byte{'A': 'a', 'C': 'c', 'T': 'm'}[pc.verb]
		return timeField(timeOf(which, e).In(loc), pc.sub)
	case 'b':
		return num(applet.Blocks(e.info))
	case 'd':
		return num(int64(e.depth))
	case 'D':
		return strconv.FormatUint(st.Dev, 10)
	case 'f':
		return e.name()
	case 'F':
		return "donax" // the one kind of file system here
	case 'g', 'u':
		return applet.UserName
	case 'G', 'U':
		return num(applet.UserID)
	case 'h':
		if i := strings.LastIndexByte(strings.TrimRight(e.path, "/"), '/'); i > 0 {
			return e.path[:i]
		} else if i == 0 {
			return ""
		}
		return "."
	case 'H':
		return e.start
	case 'i':
		return strconv.FormatUint(st.Ino, 10)
	case 'k':
		return num(applet.Blocks(e.info) / 2)
	case 'l':
		to, err := os.Readlink(e.path)
		if err != nil {
			return ""
		}
		return to
	case 'm':
		return strconv.FormatUint(uint64(applet.UnixMode(e.info)), 8)
	case 'M':
		return applet.ModeString(e.mode())
	case 'n':
		return strconv.FormatUint(st.Nlink, 10)
	case 'p':
		return e.path
	case 'P':
		return strings.TrimPrefix(strings.TrimPrefix(e.path, e.start), "/")
	case 's':
		return num(e.info.Size())
	case 'S':
		return sparseness(e)
	case 'y':
		return string(typeLetter(e.info.Mode()))
	}
	return otherEnd(e) // Y
}

// sparseness is the share of a file's size that its blocks hold.
func sparseness(e *entry) string {
	if e.info.Size() == 0 {
		return "1"
	}
	v := float64(applet.Blocks(e.info)) * 512 / float64(e.info.Size())
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// otherEnd is the type of what a symlink leads to: N when it leads nowhere, L
// in a circle.
func otherEnd(e *entry) string {
	if e.info.Mode()&os.ModeSymlink == 0 {
		return string(typeLetter(e.info.Mode()))
	}
	fi, err := os.Stat(e.path)
	switch {
	case err == nil:
		return string(typeLetter(fi.Mode()))
	case strings.Contains(strings.ToLower(err.Error()), "too many") || strings.Contains(strings.ToLower(err.Error()), "loop"):
		return "L"
	}
	return "N"
}

// seconds prints seconds with the ten digits of fraction that find has.
func seconds(t time.Time) string {
	frac := strconv.Itoa(t.Nanosecond())
	return string(applet.AppendTime(nil, "%S.", t)) + strings.Repeat("0", 9-len(frac)) + frac + "0"
}

func timeField(t time.Time, sub byte) string {
	format := func(f string) string { return string(applet.AppendTime(nil, f, t)) }
	switch sub {
	case '@':
		frac := strconv.Itoa(t.Nanosecond())
		return strconv.FormatInt(t.Unix(), 10) + "." + strings.Repeat("0", 9-len(frac)) + frac + "0"
	case '+':
		return format("%Y-%m-%d+%H:%M:") + seconds(t)
	case 'S':
		return seconds(t)
	case 'T', 'X':
		return format("%H:%M:") + seconds(t)
	case 'r':
		return format("%I:%M:") + seconds(t) + format(" %p")
	case 'c':
		return format("%a %b %e %H:%M:") + seconds(t) + format(" %Y")
	}
	return format("%" + string(rune(sub)))
}
