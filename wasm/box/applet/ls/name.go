package ls

import (
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// quoting is how names are written; the values are in the order of the words
// of --quoting-style.
type quoting int

const (
	literal quoting = iota
	shell
	shellAlways
	shellEscape
	shellEscapeAlways
	cStyle
	escape
	locale
	clocale
)

func (l *lister) quoteName(name string) string {
	switch l.quoting {
	case shell, shellEscape:
		return applet.Name(name)
	case shellAlways, shellEscapeAlways:
		return applet.Quote(name)
	case cStyle, clocale:
		return `"` + escaped(name, `"`) + `"`
	case escape:
		return escaped(name, " ")
	case locale:
		return applet.Curly(name)
	}
	if l.questions {
		return strings.Map(func(r rune) rune {
			if r == utf8.RuneError || !strconv.IsPrint(r) {
				return '?'
			}
			return r
		}, name)
	}
	return name
}

// escaped writes name with C's escapes; also is escaped, too.
func escaped(name, also string) string {
	if strings.IndexFunc(name, func(r rune) bool {
		return r == utf8.RuneError || !strconv.IsPrint(r) || r == '\\' || strings.ContainsRune(also, r)
	}) < 0 {
		return name
	}
	var b []byte
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && n == 1 || !strconv.IsPrint(r):
			for _, c := range []byte(name[i : i+n]) {
				if k := strings.IndexByte("\a\b\f\n\r\t\v", c); k >= 0 {
					b = append(b, '\\', "abfnrtv"[k])
				} else {
					b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
				}
			}
		case r == '\\' || strings.ContainsRune(also, r):
			b = append(b, '\\', byte(r))
		default:
			b = append(b, name[i:i+n]...)
		}
		i += n
	}
	return string(b)
}

func displayWidth(s string) int {
	w := 0
	for _, r := range s {
		if strconv.IsPrint(r) {
			w += applet.RuneWidth(r)
		}
	}
	return w
}

// indicatorOf returns the mark after a name of that mode, or 0.
func (l *lister) indicatorOf(mode fs.FileMode) byte {
	switch {
	case l.indicator == noIndicator:
		return 0
	case mode.IsDir():
		return '/'
	case l.indicator == slash:
		return 0
	}
	switch mode.Type() {
	case fs.ModeSymlink:
		return '@'
	case fs.ModeNamedPipe:
		return '|'
	case fs.ModeSocket:
		return '='
	case 0:
		if l.indicator == classify && mode&0o111 != 0 {
			return '*'
		}
	}
	return 0
}

// colorOf returns the code of the built-in colours, "" for none.
func colorOf(f *file) string {
	m := f.mode
	switch m.Type() {
	case fs.ModeDir:
		switch {
		case m&fs.ModeSticky != 0 && m&0o002 != 0:
			return "30;42"
		case m&0o002 != 0:
			return "34;42"
		case m&fs.ModeSticky != 0:
			return "37;44"
		}
		return "01;34"
	case fs.ModeSymlink:
		return "01;36"
	case fs.ModeNamedPipe:
		return "33"
	case fs.ModeSocket:
		return "01;35"
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		return "01;33"
	}
	switch {
	case m&fs.ModeSetuid != 0:
		return "37;41"
	case m&fs.ModeSetgid != 0:
		return "30;43"
	case m&0o111 != 0:
		return "01;32"
	}
	return ""
}

// appendColored appends a name in its colour.
func (l *lister) appendColored(b []byte, name, code string) []byte {
	if !l.color || code == "" {
		return append(b, name...)
	}
	if !l.colored {
		b = append(b, "\x1b[0m"...)
		l.colored = true
	}
	b = append(append(append(b, "\x1b["...), code...), 'm')
	return append(append(b, name...), "\x1b[0m"...)
}
