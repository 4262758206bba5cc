package find

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
	"github.com/donax-sh/donax/wasm/box/applet/internal/posixre"
)

func always(*finder, *entry) bool { return true }

// primary parses the predicate name; its arguments follow.
func (p *parser) primary(name string) (node, error) {
	if len(name) < 2 || name[0] != '-' {
		msg := "paths must precede expression: `" + name + "'"
		if _, err := os.Lstat(name); err == nil && p.prev != "" {
			msg += "\nfind: possible unquoted pattern after predicate `" + p.prev + "'?"
		}
		return nil, errors.New(msg)
	}
	switch name {
	case "-true", "-follow", "-noleaf", "-warn", "-nowarn", "-ignore_readdir_race", "-noignore_readdir_race":
		return test(always), nil
	case "-false":
		return test(func(*finder, *entry) bool { return false }), nil
	case "-depth", "-d":
		p.f.depth = true
		return test(always), nil
	case "-mount", "-xdev":
		p.f.mount = true
		return test(always), nil
	case "-daystart":
		p.f.daystart = true
		return test(always), nil
	case "-empty":
		return test(isEmpty), nil
	case "-nouser", "-nogroup":
		return test(func(*finder, *entry) bool { return false }), nil
	case "-readable", "-writable", "-executable":
		bit := map[string]uint32{"-readable": 0o400, "-writable": 0o200, "-executable": 0o100}[name]
		return test(func(f *finder, e *entry) bool {
			fi, err := os.Stat(e.path)
			return err == nil && applet.UnixMode(fi.Mode())&bit != 0
		}), nil
	case "-prune":
		return test(func(f *finder, e *entry) bool { e.prune = true; return true }), nil
	case "-quit":
		return test(func(f *finder, e *entry) bool { f.quit = true; return true }), nil
	case "-help", "--help", "-version", "--version":
		return nil, errors.New("the predicate `" + name + "' must come first")
	case "-ok", "-okdir":
		return nil, errors.New("the predicate `" + name + "' asks at a terminal, and there is none")
	}
	if n, ok, err := p.action(name); ok || err != nil {
		return n, err
	}
	if strings.HasPrefix(name, "-newer") && len(name) == 8 {
		return p.newerXY(name)
	}
	make, ok := withArg[name]
	if !ok {
		return nil, errors.New("unknown predicate `" + name + "'")
	}
	arg, err := p.arg(name)
	if err != nil {
		return nil, err
	}
	return make(p, name, arg)
}

type maker func(p *parser, name, arg string) (node, error)

// withArg are the predicates with one argument.
var withArg = map[string]maker{
	"-name": nameTest, "-iname": nameTest,
	"-path": pathTest, "-ipath": pathTest, "-wholename": pathTest, "-iwholename": pathTest,
	"-lname": linkTest, "-ilname": linkTest,
	"-regex": regexTest, "-iregex": regexTest, "-regextype": regexType,
	"-type": typeTest, "-xtype": typeTest,
	"-size": sizeTest, "-perm": permTest,
	"-user": ownerTest, "-group": ownerTest, "-uid": idTest, "-gid": idTest,
	"-links": numTest(func(fi fs.FileInfo) int64 { return int64(applet.Stat(fi).Nlink) }),
	"-inum":  numTest(func(fi fs.FileInfo) int64 { return int64(applet.Stat(fi).Ino) }),
	"-mtime": ageTest, "-atime": ageTest, "-ctime": ageTest, "-mmin": ageTest, "-amin": ageTest, "-cmin": ageTest,
	"-used": usedTest, "-newer": newerTest, "-anewer": newerTest, "-cnewer": newerTest,
	"-samefile": sameTest, "-maxdepth": depthOption, "-mindepth": depthOption,
}

func nameTest(p *parser, name, arg string) (node, error) {
	opt := glob.Options{Fold: name == "-iname"}
	return test(func(f *finder, e *entry) bool { return glob.Match(arg, e.base, opt) }), nil
}

func pathTest(p *parser, name, arg string) (node, error) {
	opt := glob.Options{Fold: name[1] == 'i'}
	return test(func(f *finder, e *entry) bool { return glob.Match(arg, e.path, opt) }), nil
}

func linkTest(p *parser, name, arg string) (node, error) {
	opt := glob.Options{Fold: name[1] == 'i'}
	return test(func(f *finder, e *entry) bool {
		if e.mode()&fs.ModeSymlink == 0 {
			return false
		}
		to, err := os.Readlink(e.path)
		return err == nil && glob.Match(arg, to, opt)
	}), nil
}

var dialects = map[string]posixre.Dialect{
	"findutils-default": posixre.Emacs, "emacs": posixre.Emacs,
	"posix-basic": posixre.PosixBasic, "posix-minimal-basic": posixre.PosixBasic, "ed": posixre.PosixBasic, "sed": posixre.PosixBasic, "grep": posixre.GrepBasic,
	"posix-extended": posixre.PosixExtended, "posix-egrep": posixre.GrepExtended, "egrep": posixre.GrepExtended,
	"awk": posixre.PosixExtended, "posix-awk": posixre.PosixExtended, "gnu-awk": posixre.PosixExtended,
}

func regexType(p *parser, name, arg string) (node, error) {
	if _, ok := dialects[arg]; !ok {
		return nil, errors.New("Unknown regular expression type " + quote(arg) + "; valid types are ‘findutils-default’, ‘ed’, ‘emacs’, ‘gnu-awk’, ‘grep’, ‘posix-awk’, ‘awk’, ‘posix-basic’, ‘posix-egrep’, ‘egrep’, ‘posix-extended’, ‘posix-minimal-basic’, ‘sed’.")
	}
	p.f.regextype = arg
	return test(always), nil
}

func regexTest(p *parser, name, arg string) (node, error) {
	re, err := posixre.Compile([]string{arg}, posixre.Options{Dialect: dialects[p.f.regextype], Fold: name == "-iregex", Line: true})
	if err != nil {
		return nil, errors.New("failed to compile regular expression '" + arg + "': " + err.Error())
	}
	return test(func(f *finder, e *entry) bool {
		ok, err := re.Match([]byte(e.path))
		if err != nil {
			f.warn(quote(e.path), ": ", err.Error())
		}
		return ok
	}), nil
}

func typeTest(p *parser, name, arg string) (node, error) {
	var want [256]bool
	parts := strings.Split(arg, ",")
	for _, t := range parts {
		if len(t) != 1 || !strings.Contains("bcdpfls", t) {
			switch {
			case arg == "":
				return nil, errors.New("Arguments to " + name + " should contain at least one letter")
			case t == "":
				return nil, errors.New("Last file type in list argument to " + name + " is missing, i.e., list is ending on: ','")
			case len(t) > 1:
				return nil, errors.New("Must separate multiple arguments to " + name + " using: ','")
			}
			return nil, errors.New("Unknown argument to " + name + ": " + t)
		}
		want[t[0]] = true
	}
	if name == "-xtype" {
		return test(func(f *finder, e *entry) bool {
			var fi fs.FileInfo
			var err error
			if f.follow == 'L' {
				fi, err = os.Lstat(e.path)
			} else if fi, err = os.Stat(e.path); err != nil {
				fi, err = os.Lstat(e.path) // a broken link is a link
			}
			return err == nil && want[applet.TypeLetter(fi.Mode())]
		}), nil
	}
	return test(func(f *finder, e *entry) bool { return want[applet.TypeLetter(e.mode())] }), nil
}

func sizeTest(p *parser, name, arg string) (node, error) {
	unit := int64(512)
	num := arg
	if arg != "" {
		switch c := arg[len(arg)-1]; c {
		case 'b', 'c', 'w', 'k', 'M', 'G':
			unit = map[byte]int64{'b': 512, 'c': 1, 'w': 2, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}[c]
			num = arg[:len(arg)-1]
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		default:
			return nil, errors.New("invalid -size type `" + string(c) + "'")
		}
	}
	c, ok := parseCount(num)
	if !ok {
		return nil, errors.New("Invalid argument `" + arg + "' to -size")
	}
	return test(func(f *finder, e *entry) bool {
		fi, err := e.stat()
		if err != nil {
			return false
		}
		n := fi.Size()
		if unit > 1 {
			n = (n + unit - 1) / unit
		}
		return c.holds(n)
	}), nil
}

func ownerTest(p *parser, name, arg string) (node, error) {
	mine := arg == applet.UserName
	if !mine {
		id, err := strconv.Atoi(arg)
		if err != nil {
			if name == "-user" {
				return nil, errors.New(quote(arg) + " is not the name of a known user")
			}
			return nil, errors.New(quote(arg) + " is not the name of an existing group")
		}
		mine = id == applet.UserID
	}
	return test(func(*finder, *entry) bool { return mine }), nil
}

func idTest(p *parser, name, arg string) (node, error) {
	c, ok := parseCount(arg)
	if !ok {
		return nil, errors.New("non-numeric argument to " + name + ": " + quote(arg))
	}
	return test(func(*finder, *entry) bool { return c.holds(applet.UserID) }), nil
}

func numTest(value func(fs.FileInfo) int64) maker {
	return func(p *parser, name, arg string) (node, error) {
		c, ok := parseCount(arg)
		if !ok {
			return nil, errors.New("invalid argument `" + arg + "' to `" + name + "'")
		}
		return test(func(f *finder, e *entry) bool {
			fi, err := e.stat()
			return err == nil && c.holds(value(fi))
		}), nil
	}
}

// timeOf returns the time that a letter names: a, c or m.
func timeOf(fi fs.FileInfo, which byte) time.Time {
	switch which {
	case 'a':
		return applet.Stat(fi).Atime
	case 'c':
		return applet.Stat(fi).Ctime
	}
	return fi.ModTime()
}

func ageTest(p *parser, name, arg string) (node, error) {
	num, frac := arg, 0.0
	whole := true
	if i := strings.IndexByte(arg, '.'); i >= 0 {
		f, err := strconv.ParseFloat("0"+arg[i:], 64)
		if err != nil {
			return nil, errors.New("invalid argument `" + arg + "' to `" + name + "'")
		}
		num, frac, whole = arg[:i], f, false
	}
	c, ok := parseCount(num)
	if !ok {
		return nil, errors.New("invalid argument `" + arg + "' to `" + name + "'")
	}
	now := p.f.now
	if p.f.daystart {
		y, m, d := now.Date()
		now = time.Date(y, m, d+1, 0, 0, 0, 0, now.Location())
	}
	unit := 24 * time.Hour
	if strings.HasSuffix(name, "min") {
		unit = time.Minute
	}
	limit := time.Duration((float64(c.n) + frac) * float64(unit))
	which := name[1]
	return test(func(f *finder, e *entry) bool {
		fi, err := e.stat()
		if err != nil {
			return false
		}
		age := now.Sub(timeOf(fi, which))
		if unit == time.Minute { // a minute begun counts
			switch c.sign {
			case '+':
				return age > limit
			case '-':
				return age < limit
			}
			return age <= limit && age > limit-unit
		}
		if whole {
			days := int64(age / unit)
			if age < 0 {
				days--
			}
			return c.holds(days)
		}
		switch c.sign {
		case '+':
			return age >= limit+unit
		case '-':
			return age < limit
		}
		return age >= limit && age < limit+unit
	}), nil
}

func usedTest(p *parser, name, arg string) (node, error) {
	c, ok := parseCount(arg)
	if !ok {
		return nil, errors.New("non-numeric argument to -used: " + quote(arg))
	}
	return test(func(f *finder, e *entry) bool {
		fi, err := e.stat()
		if err != nil {
			return false
		}
		info := applet.Stat(fi)
		return c.holds(int64(info.Atime.Sub(info.Ctime) / (24 * time.Hour)))
	}), nil
}

func newerTest(p *parser, name, arg string) (node, error) {
	which := byte('m')
	if name != "-newer" {
		which = name[1]
	}
	return p.newer(which, 'm', arg)
}

func (p *parser) newerXY(name string) (node, error) {
	x, y := name[6], name[7]
	if !strings.ContainsRune("acm", rune(x)) || !strings.ContainsRune("acmt", rune(y)) {
		return nil, errors.New("invalid predicate `" + name + "'")
	}
	arg, err := p.arg(name)
	if err != nil {
		return nil, err
	}
	if y != 't' {
		return p.newer(x, y, arg)
	}
	loc, err := gnudate.Location(os.Getenv("TZ"))
	if err != nil {
		loc = time.UTC
	}
	t, err := gnudate.Parse(arg, p.f.now.In(loc))
	if err != nil {
		return nil, errors.New("I cannot figure out how to interpret " + quote(arg) + " as a date or time")
	}
	return newerThan(x, t), nil
}

func (p *parser) newer(x, y byte, file string) (node, error) {
	fi, err := p.statArg(file)
	if err != nil {
		return nil, err
	}
	return newerThan(x, timeOf(fi, y)), nil
}

func newerThan(x byte, t time.Time) node {
	return test(func(f *finder, e *entry) bool {
		fi, err := e.stat()
		return err == nil && timeOf(fi, x).After(t)
	})
}

func (p *parser) statArg(file string) (fs.FileInfo, error) {
	stat := os.Lstat
	if p.f.follow != 'P' {
		stat = os.Stat
	}
	fi, err := stat(file)
	if err != nil {
		return nil, errors.New(quote(file) + ": " + applet.Reason(err))
	}
	return fi, nil
}

func sameTest(p *parser, name, arg string) (node, error) {
	fi, err := p.statArg(arg)
	if err != nil {
		return nil, err
	}
	return test(func(f *finder, e *entry) bool {
		other, err := e.stat()
		return err == nil && os.SameFile(fi, other)
	}), nil
}

func depthOption(p *parser, name, arg string) (node, error) {
	n, err := strconv.ParseUint(arg, 10, 31)
	if err != nil {
		return nil, errors.New("Expected a positive decimal integer argument to " + name + ", but got " + quote(arg))
	}
	if name == "-maxdepth" {
		p.f.maxDepth = int(n)
	} else {
		p.f.minDepth = int(n)
	}
	return test(always), nil
}

func isEmpty(f *finder, e *entry) bool {
	switch m := e.mode(); {
	case m.IsDir():
		list, err := os.ReadDir(e.path)
		if err != nil {
			f.warn(quote(e.path), ": ", applet.Reason(err))
			return false
		}
		return len(list) == 0
	case m.IsRegular():
		fi, err := e.stat()
		return err == nil && fi.Size() == 0
	}
	return false
}

func permTest(p *parser, name, arg string) (node, error) {
	bad := errors.New("invalid mode " + quote(arg))
	if arg == "" {
		return nil, bad
	}
	kind, text := byte(0), arg
	if arg[0] == '-' || arg[0] == '/' {
		kind, text = arg[0], arg[1:]
	}
	dirs, files, ok := parseMode(text)
	if !ok {
		return nil, bad
	}
	return test(func(f *finder, e *entry) bool {
		fi, err := e.stat()
		if err != nil {
			return false
		}
		want := files
		if fi.IsDir() {
			want = dirs
		}
		have := applet.UnixMode(fi.Mode())
		switch kind {
		case '-':
			return have&want == want
		case '/':
			return want == 0 || have&want != 0
		}
		return have == want
	}), nil
}

// parseMode reads a mode, octal or as u=rwx,g+x on top of no permissions;
// X depends on whether it is for folders.
func parseMode(s string) (dirs, files uint32, ok bool) {
	if n, err := strconv.ParseUint(s, 8, 32); err == nil && n <= 0o7777 {
		return uint32(n), uint32(n), true
	}
	dirs, ok1 := symbolic(s, true)
	files, ok2 := symbolic(s, false)
	return dirs, files, ok1 && ok2
}

func symbolic(s string, dir bool) (bits uint32, ok bool) {
	for _, clause := range strings.Split(s, ",") {
		who := uint32(0)
		for clause != "" && strings.IndexByte("ugoa", clause[0]) >= 0 {
			who |= map[byte]uint32{'u': 0o4700, 'g': 0o2070, 'o': 0o1007, 'a': 0o7777}[clause[0]]
			clause = clause[1:]
		}
		if who == 0 {
			who = 0o7777
		}
		if clause == "" {
			return 0, false
		}
		for clause != "" {
			op := clause[0]
			if op != '+' && op != '-' && op != '=' {
				return 0, false
			}
			clause = clause[1:]
			var v uint32
			for clause != "" && strings.IndexByte("rwxXstugo", clause[0]) >= 0 {
				switch clause[0] {
				case 'r':
					v |= 0o444
				case 'w':
					v |= 0o222
				case 'x':
					v |= 0o111
				case 'X':
					if dir || bits&0o111 != 0 {
						v |= 0o111
					}
				case 's':
					v |= 0o6000
				case 't':
					v |= 0o1000
				case 'u':
					v |= bits >> 6 & 7 * 0o111
				case 'g':
					v |= bits >> 3 & 7 * 0o111
				case 'o':
					v |= bits & 7 * 0o111
				}
				clause = clause[1:]
			}
			switch v &= who; op {
			case '+':
				bits |= v
			case '-':
				bits &^= v
			case '=':
				bits = bits&^(who&0o777) | v
			}
		}
	}
	return bits, true
}
