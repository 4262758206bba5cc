package find

import (
	"errors"
	"github.com/donax-sh/donax/wasm/box/applet"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

// piece is a part of a -printf format: text, or a directive.
type piece struct {
	text  string
	c     byte // 0: text
	time  byte // of %A %C %T: the directive of the time
	left  bool
	zero  bool
	alt   bool
	plus  bool
	width int
	prec  int
	stop  bool // \c
}

type format []piece

func parseFormat(s string, warn func(...string)) (format, error) {
	var out format
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			out = append(out, piece{text: text.String()})
			text.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 >= len(s) {
				text.WriteByte('\\')
				continue
			}
			i++
			if k := strings.IndexByte(`abfnrtv\`, s[i]); k >= 0 {
				text.WriteByte("\a\b\f\n\r\t\v\\"[k])
			} else if s[i] == 'c' {
				flush()
				return append(out, piece{stop: true}), nil
			} else if '0' <= s[i] && s[i] <= '7' {
				v, n := 0, 0
				for n < 3 && i+n < len(s) && '0' <= s[i+n] && s[i+n] <= '7' {
					v = v*8 + int(s[i+n]-'0')
					n++
				}
				text.WriteByte(byte(v))
				i += n - 1
			} else {
				warn("warning: unrecognized escape `\\", s[i:i+1], "'")
				text.WriteString(s[i-1 : i+1])
			}
		case '%':
			p := piece{prec: -1}
			j := i + 1
			if j < len(s) && s[j] == '%' {
				text.WriteByte('%')
				i = j
				continue
			}
		flags:
			for ; j < len(s); j++ {
				switch s[j] {
				case '-':
					p.left = true
				case '0':
					p.zero = true
				case '+':
					p.plus = true
				case '#':
					p.alt = true
				case ' ':
				default:
					break flags
				}
			}
			for ; j < len(s) && '0' <= s[j] && s[j] <= '9'; j++ {
				p.width = min(p.width*10+int(s[j]-'0'), 10000)
			}
			if j < len(s) && s[j] == '.' {
				p.prec = 0
				for j++; j < len(s) && '0' <= s[j] && s[j] <= '9'; j++ {
					p.prec = min(p.prec*10+int(s[j]-'0'), 10000)
				}
			}
			if j >= len(s) {
				return nil, errors.New("error: % at end of format string")
			}
			p.c = s[j]
			switch {
			case strings.IndexByte("ACTB", p.c) >= 0:
				if j+1 >= len(s) {
					return nil, errors.New("error: %" + string(p.c) + " at end of format string")
				}
				j++
				p.time = s[j]
			case strings.IndexByte("abcdDfFgGhHiklmMnpPsStuUyYZ", p.c) < 0:
				if strings.IndexByte("{[(", p.c) >= 0 {
					return nil, errors.New("error: the format directive `%" + string(p.c) + "' is reserved for future use")
				}
				warn("warning: unrecognized format directive `%", s[j:j+1], "'")
				text.WriteString(s[i : j+1])
				i = j
				continue
			}
			flush()
			out = append(out, p)
			i = j
		default:
			text.WriteByte(s[i])
		}
	}
	flush()
	return out, nil
}

func (fm format) expand(f *finder, e *entry) string {
	var b strings.Builder
	for i := range fm {
		p := &fm[i]
		if p.stop {
			break
		}
		if p.c == 0 {
			b.WriteString(p.text)
			continue
		}
		v, num := p.value(f, e)
		if !num && p.prec >= 0 && p.prec < len(v) {
			v = v[:p.prec]
		}
		if p.alt && p.c == 'm' {
			v = "0" + v
		}
		if num && p.plus {
			v = "+" + v
		}
		if n := p.width - len(v); n > 0 {
			switch {
			case p.left:
				v += strings.Repeat(" ", n)
			case p.zero && (p.c == 'd' || p.c == 'm'):
				v = strings.Repeat("0", n) + v
			default:
				v = strings.Repeat(" ", n) + v
			}
		}
		b.WriteString(v)
	}
	return b.String()
}

// value returns what a directive stands for and whether it is a number.
func (p *piece) value(f *finder, e *entry) (v string, num bool) {
	switch p.c {
	case 'p':
		return e.path, false
	case 'f':
		if e.depth == 0 { // with the slashes it was given with
			trimmed := strings.TrimRight(e.path, "/")
			return e.path[strings.LastIndexByte(trimmed, '/')+1:], false
		}
		return e.base, false
	case 'h':
		i := strings.LastIndexByte(e.path, '/')
		if i < 0 {
			return ".", false
		}
		return e.path[:i], false
	case 'P':
		return strings.TrimPrefix(strings.TrimPrefix(e.path, e.root), "/"), false
	case 'H':
		return e.root, false
	case 'd':
		return strconv.Itoa(e.depth), true
	case 'y':
		return string(applet.TypeLetter(e.mode())), false
	case 'Y':
		if e.mode()&fs.ModeSymlink == 0 {
			return string(applet.TypeLetter(e.mode())), false
		}
		fi, err := os.Stat(e.path)
		switch {
		case err == nil:
			return string(applet.TypeLetter(fi.Mode())), false
		case errors.Is(err, fs.ErrNotExist):
			return "N", false
		}
		return "L", false
	case 'l':
		if e.mode()&fs.ModeSymlink == 0 {
			return "", false
		}
		to, _ := os.Readlink(e.path)
		return to, false
	case 'u', 'g':
		return applet.UserName, false
	case 'U', 'G':
		return strconv.Itoa(applet.UserID), true
	case 'F':
		return "donax", false
	case 'Z':
		return "", false
	}
	fi, err := e.stat()
	if err != nil {
		return "", false
	}
	info := applet.Stat(fi)
	dec := func(n int64) (string, bool) { return strconv.FormatInt(n, 10), true }
	switch p.c {
	case 's':
		return dec(fi.Size())
	case 'b':
		return dec(applet.Blocks(fi))
	case 'k':
		return dec((applet.Blocks(fi) + 1) / 2)
	case 'S':
		if fi.Size() == 0 {
			return "1", false
		}
		return strconv.FormatFloat(float64(512*applet.Blocks(fi))/float64(fi.Size()), 'g', 6, 64), false
	case 'i':
		return strconv.FormatUint(info.Ino, 10), true
	case 'D':
		return strconv.FormatUint(info.Dev, 10), true
	case 'n':
		return strconv.FormatUint(info.Nlink, 10), true
	case 'm':
		return strconv.FormatUint(uint64(applet.UnixMode(fi.Mode())), 8), true
	case 'M':
		return applet.ModeString(fi.Mode()), false
	case 't':
		return full("%a %b %e %H:%M:%S.", fi.ModTime().In(f.zone())), false
	case 'a':
		return full("%a %b %e %H:%M:%S.", info.Atime.In(f.zone())), false
	case 'c':
		return full("%a %b %e %H:%M:%S.", info.Ctime.In(f.zone())), false
	case 'T', 'A', 'C':
		return timeValue(p.time, timeOf(fi, map[byte]byte{'T': 'm', 'A': 'a', 'C': 'c'}[p.c]).In(f.zone())), false
	}
	return "", false
}

// full is a time as ctime prints it, with a fraction of ten digits.
func full(layout string, t time.Time) string {
	return gnudate.Format(layout+"%N0 %Y", t)
}

// timeValue is %Tk for the letter k.
func timeValue(k byte, t time.Time) string {
	switch k {
	case '@':
		return gnudate.Format("%s.%N0", t)
	case '+':
		return gnudate.Format("%F+%T.%N0", t)
	case 'T', 'X':
		return gnudate.Format("%T.%N0", t)
	case 'S':
		return gnudate.Format("%S.%N0", t)
	}
	return gnudate.Format("%"+string(k), t)
}
