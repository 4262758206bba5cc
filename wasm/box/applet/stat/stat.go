// Package stat is the command stat.
package stat

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is stat.
var Command = applet.Command{
	Name:     "stat",
	Synopsis: "[OPTION]... FILE...",
	Summary:  "display file status",
	Help: `  -L, --dereference     follow links
  -c, --format=FORMAT   use the specified FORMAT instead of the default;
                          output a newline after each use of FORMAT
      --printf=FORMAT   like --format, but interpret backslash escapes, and
                          do not output a mandatory trailing newline
  -t, --terse           print the information in terse form
Sequences: %a %A %b %B %d %D %f %F %g %G %h %i %m %n %N %o %s %t %T %u %U
%w %W %x %X %y %Y %z %Z`,
	Run: run,
}

const (
	long = `  File: %N
  Size: %-10s	Blocks: %-10b IO Block: %-6o %F
Device: %Hd,%Ld	Inode: %-10i  Links: %h
Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)
Access: %x
Modify: %y
Change: %z
 Birth: %w
`
	terse = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n"
)

func run(c *applet.Ctx) int {
	var follow, short, escapes bool
	format, hasFormat := "", false
	names, status, ok := c.Parse(1,
		applet.Bool(&follow, 'L', "dereference"),
		applet.Func(func(v string) error { format, hasFormat, escapes = v+"\n", true, false; return nil }, 'c', "format"),
		applet.Func(func(v string) error { format, hasFormat, escapes = v, true, true; return nil }, 0, "printf"),
		applet.Bool(&short, 't', "terse"),
	)
	if !ok {
		return status
	}
	if len(names) == 0 {
		return c.Usage("missing operand")
	}
	switch {
	case hasFormat:
	case short:
		format = terse
	default:
		format = long
	}
	for _, name := range names {
		stat := os.Lstat
		if follow {
			stat = os.Stat
		}
		fi, err := stat(name)
		if name == "-" {
			if f, isFile := c.Stdin.(interface{ Stat() (fs.FileInfo, error) }); isFile {
				fi, err = f.Stat()
			}
		}
		if err != nil {
			what := "cannot statx "
			if name == "-" {
				what = "cannot stat standard input"
				c.Warn(what, ": ", applet.Reason(err))
			} else {
				c.Warn(what, applet.Quote(name), ": ", applet.Reason(err))
			}
			ok = false
			continue
		}
		p := printer{name: name, fi: fi, quoteName: !hasFormat}
		out, bad := p.format(format, escapes)
		if bad != "" {
			c.Warn(applet.Curly(bad), ": invalid directive")
			return 1
		}
		if _, err := c.Stdout.Write(out); err != nil {
			return 1
		}
	}
	return applet.Status(ok)
}

type printer struct {
	name      string
	fi        fs.FileInfo
	quoteName bool // the default form leaves plain names as they are
}

func (p *printer) format(f string, escapes bool) (out []byte, bad string) {
	for f != "" {
		switch {
		case f[0] == '\\' && escapes:
			var n int
			if out, n, _ = cformat.Escape(out, f[1:], false); n == 0 {
				out = append(out, '\\')
			}
			f = f[1+n:]
			continue
		case f[0] != '%':
			out = append(out, f[0])
			f = f[1:]
			continue
		case strings.HasPrefix(f, "%%"):
			out = append(out, '%')
			f = f[2:]
			continue
		}
		s := cformat.Spec{Prec: -1}
		rest := s.Flags(f[1:])
		s.Width, rest = cformat.Number(rest)
		if strings.HasPrefix(rest, ".") {
			s.Prec, rest = cformat.Number(rest[1:])
		}
		part := byte(0)
		if len(rest) > 1 && (rest[0] == 'H' || rest[0] == 'L') && strings.IndexByte("dr", rest[1]) >= 0 {
			part = rest[0]
			rest = rest[1:]
		}
		if rest == "" {
			return out, f
		}
		var ok bool
		if out, ok = p.directive(out, s, part, rest[0]); !ok {
			out = append(out, '?')
		}
		f = rest[1:]
	}
	return out, ""
}

func (p *printer) directive(out []byte, s cformat.Spec, part, verb byte) ([]byte, bool) {
	info := applet.Stat(p.fi)
	text := func(v string) ([]byte, bool) {
		s.Verb = 's'
		return s.String(out, v), true
	}
	num := func(v uint64) ([]byte, bool) {
		s.Verb = 'u'
		return s.Uint(out, v), true
	}
	base := func(verb byte, v uint64) ([]byte, bool) {
		s.Verb = verb
		return s.Uint(out, v), true
	}
	switch verb {
	case 'a':
		return base('o', uint64(applet.UnixMode(p.fi.Mode())))
	case 'A':
		return text(applet.ModeString(p.fi.Mode()))
	case 'b':
		return num(uint64(applet.Blocks(p.fi)))
	case 'B':
		return num(512)
	case 'C':
		return text("?")
	case 'd':
		switch part {
		case 'H':
			return num(info.Dev >> 8 & 0xfff)
		case 'L':
			return num(info.Dev & 0xff)
		}
		return num(info.Dev)
	case 'D':
		return base('x', info.Dev)
	case 'f':
		return base('x', uint64(rawMode(p.fi.Mode())))
	case 'F':
		return text(kind(p.fi))
	case 'g', 'u':
		return num(applet.UserID)
	case 'G', 'U':
		return text(applet.UserName)
	case 'h':
		return num(info.Nlink)
	case 'i':
		return num(info.Ino)
	case 'm':
		return text("/")
	case 'n':
		return text(p.name)
	case 'N':
		q := applet.Quote(p.name)
		if p.quoteName {
			q = applet.Name(p.name)
		}
		if p.fi.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(p.name)
			if p.quoteName {
				q += " -> " + applet.Name(target)
			} else {
				q += " -> " + applet.Quote(target)
			}
		}
		return text(q)
	case 'o':
		return num(4096)
	case 's':
		return num(uint64(p.fi.Size()))
	case 'r', 't', 'T', 'R':
		return num(0)
	case 'w':
		return text("-")
	case 'W':
		return num(0)
	case 'x', 'X':
		return p.time(out, s, verb == 'X', info.Atime)
	case 'y', 'Y':
		return p.time(out, s, verb == 'Y', p.fi.ModTime())
	case 'z', 'Z':
		return p.time(out, s, verb == 'Z', info.Ctime)
	}
	return out, false
}

func (p *printer) time(out []byte, s cformat.Spec, seconds bool, t time.Time) ([]byte, bool) {
	s.Verb = 's'
	if !seconds {
		return s.String(out, string(cformat.AppendTime(nil, "%Y-%m-%d %H:%M:%S.%N %z", t.In(time.Local)))), true
	}
	text := strconv.FormatInt(t.Unix(), 10)
	if s.Prec > 0 {
		frac := strconv.FormatInt(int64(t.Nanosecond())+1e9, 10)[1:]
		text += "." + (frac + strings.Repeat("0", max(0, s.Prec-9)))[:s.Prec]
	}
	s.Prec = -1
	return s.String(out, text), true
}

func kind(fi fs.FileInfo) string {
	switch fi.Mode().Type() {
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symbolic link"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	case fs.ModeDevice:
		return "block special file"
	case fs.ModeDevice | fs.ModeCharDevice:
		return "character special file"
	}
	if fi.Size() == 0 {
		return "regular empty file"
	}
	return "regular file"
}

// rawMode returns st_mode.
func rawMode(m fs.FileMode) uint32 {
	bits := applet.UnixMode(m)
	switch m.Type() {
	case fs.ModeDir:
		return bits | 0o040000
	case fs.ModeSymlink:
		return bits | 0o120000
	case fs.ModeNamedPipe:
		return bits | 0o010000
	case fs.ModeSocket:
		return bits | 0o140000
	case fs.ModeDevice:
		return bits | 0o060000
	case fs.ModeDevice | fs.ModeCharDevice:
		return bits | 0o020000
	}
	return bits | 0o100000
}
