package find

import (
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/filemode"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

// nameTest compiles the tests on names.
func (p *parser) nameTest(name string) (expr, bool) {
	fold := strings.HasPrefix(name, "-i") && name != "-inum"
	switch name {
	case "-name", "-iname":
		pat := p.arg(name)
		return func(e *entry) bool { return glob.Match(pat, e.name(), glob.Options{Fold: fold}) }, true
	case "-path", "-ipath", "-wholename", "-iwholename":
		pat := p.arg(name)
		return func(e *entry) bool { return glob.Match(pat, e.path, glob.Options{Fold: fold}) }, true
	case "-lname", "-ilname":
		pat := p.arg(name)
		return func(e *entry) bool {
			to, err := os.Readlink(e.path)
			return err == nil && glob.Match(pat, to, glob.Options{Fold: fold})
		}, true
	case "-regex", "-iregex":
		pat := p.arg(name)
		re, err := posixre.Compile([]string{pat}, posixre.Options{Dialect: p.regex, Fold: fold, Line: true, Strict: p.strict})
		if err != nil {
			p.fail("failed to compile regular expression '", pat, "': ", err.Error())
		}
		return func(e *entry) bool {
			ok, err := re.Match([]byte(e.path))
			if err != nil {
				e.f.warn(e.path, err)
			}
			return ok
		}, true
	}
	return nil, false
}

// compare is a number with a sign: +n more, -n less, n exactly.
type compare struct {
	sign byte // '+', '-' or 0
	n    int64
}

func (c compare) test(v int64) bool {
	switch c.sign {
	case '+':
		return v > c.n
	case '-':
		return v < c.n
	}
	return v == c.n
}

// number reads N, +N or -N and what follows the digits.
func number(s string) (c compare, rest string, ok bool) {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		c.sign, s = s[0], s[1:]
	}
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	c.n = n
	return c, s[end:], err == nil
}

func (p *parser) compare(name string) compare {
	v := p.arg(name)
	c, rest, ok := number(v)
	if !ok || rest != "" {
		p.fail("invalid argument `", v, "' to `", name, "'")
	}
	return c
}

// fileTest compiles the tests on what a file is.
func (p *parser) fileTest(name string) (expr, bool) {
	switch name {
	case "-true":
		return always, true
	case "-false":
		return func(*entry) bool { return false }, true
	case "-type", "-xtype":
		return p.typeTest(name), true
	case "-size":
		return p.sizeTest(), true
	case "-perm":
		return p.permTest(), true
	case "-empty":
		return isEmpty, true
	case "-links":
		c := p.compare(name)
		return func(e *entry) bool { return c.test(int64(applet.Stat(e.info).Nlink)) }, true
	case "-inum":
		c := p.compare(name)
		return func(e *entry) bool { return c.test(int64(applet.Stat(e.info).Ino)) }, true
	case "-uid", "-gid":
		c := p.compare(name)
		return func(*entry) bool { return c.test(applet.UserID) }, true
	case "-user", "-group":
		return p.ownerTest(name), true
	case "-nouser", "-nogroup":
		return func(*entry) bool { return false }, true
	case "-readable":
		return ownerMay(0o400), true
	case "-writable":
		return ownerMay(0o200), true
	case "-executable":
		return ownerMay(0o100), true
	case "-samefile":
		v := p.arg(name)
		fi, err := p.f.stat(v, 0)
		if err != nil {
			p.fail(applet.Curly(v), ": ", applet.Reason(err))
		}
		return func(e *entry) bool { return os.SameFile(fi, e.info) }, true
	}
	return nil, false
}

func (p *parser) typeTest(name string) expr {
	v := p.arg(name)
	var types [256]bool
	for i, t := range strings.Split(v, ",") {
		if len(t) != 1 || !strings.Contains("bcdpflsD", t) {
			if t == "" || i > 0 && len(t) != 1 {
				p.fail("Last file type in list argument to ", name, " is missing, i.e., list is ending on: ','")
			}
			if len(t) > 1 {
				p.fail("Must separate multiple arguments to ", name, " using: ','")
			}
			p.fail("Unknown argument to ", name, ": ", v)
		}
		types[t[0]] = true
	}
	if name == "-type" {
		return func(e *entry) bool { return types[typeLetter(e.info.Mode())] }
	}
	// -xtype looks at the other end of a symlink, or with -L at the link.
	return func(e *entry) bool {
		fi, err := os.Stat(e.path)
		if e.f.follow == followAll || err != nil {
			fi, err = os.Lstat(e.path)
		}
		return err == nil && types[typeLetter(fi.Mode())]
	}
}

func typeLetter(m fs.FileMode) byte {
	switch m.Type() {
	case fs.ModeDir:
		return 'd'
	case fs.ModeSymlink:
		return 'l'
	case fs.ModeNamedPipe:
		return 'p'
	case fs.ModeSocket:
		return 's'
	case fs.ModeDevice:
		return 'b'
	case fs.ModeDevice | fs.ModeCharDevice:
		return 'c'
	case 0:
		return 'f'
	}
	return 'U'
}

// sizeTest compares sizes in units, rounded up.
func (p *parser) sizeTest() expr {
	v := p.arg("-size")
	c, rest, ok := number(v)
	if !ok {
		p.fail("Invalid argument `", v, "' to -size")
	}
	unit := int64(512)
	switch rest {
	case "", "b":
	case "c":
		unit = 1
	case "w":
		unit = 2
	case "k":
		unit = 1 << 10
	case "M":
		unit = 1 << 20
	case "G":
		unit = 1 << 30
	default:
		p.fail("invalid -size type `", rest, "'")
	}
	return func(e *entry) bool { return c.test((e.info.Size() + unit - 1) / unit) }
}

func (p *parser) permTest() expr {
	v := p.arg("-perm")
	kind, text := byte(0), v
	if v != "" && (v[0] == '-' || v[0] == '/') {
		kind, text = v[0], v[1:]
	}
	m, ok := filemode.Parse(text)
	if !ok {
		p.fail("invalid mode ", applet.Curly(v))
	}
	want := m.Apply(0, false)
	return func(e *entry) bool {
		bits := applet.UnixMode(e.info)
		switch kind {
		case '-':
			return bits&want == want
		case '/':
			return want == 0 || bits&want != 0
		}
		return bits == want
	}
}

func isEmpty(e *entry) bool {
	switch {
	case e.info.Mode().IsRegular():
		return e.info.Size() == 0
	case e.info.IsDir():
		list, err := os.ReadDir(e.path)
		if err != nil {
			e.f.warn(e.path, err)
			return false
		}
		return len(list) == 0
	}
	return false
}

// ownerTest knows the one user of the sandbox.
func (p *parser) ownerTest(name string) expr {
	v := p.arg(name)
	if v == applet.UserName {
		return always
	}
	c, rest, ok := number(v)
	if !ok || rest != "" {
		what := "a known user"
		if name == "-group" {
			what = "an existing group"
		}
		p.fail(applet.Curly(v), " is not the name of ", what)
	}
	return func(*entry) bool { return c.test(applet.UserID) }
}

func ownerMay(bit uint32) expr {
	return func(e *entry) bool {
		fi := e.info
		if fi.Mode().Type() == fs.ModeSymlink {
			var err error
			if fi, err = os.Stat(e.path); err != nil {
				return false
			}
		}
		return applet.UnixMode(fi)&bit != 0
	}
}
