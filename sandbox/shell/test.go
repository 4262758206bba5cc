package shell

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// runTest runs [[ ... ]].
func (c *testCmd) run(sh *shell) {
	sh.line = c.line
	sh.debugTrap(c.text)
	defer sh.arithErrors("[[: ")
	sh.condError = false
	r := sh.cond(c.x)
	sh.status = int(b2i(!r))
	if sh.condError {
		sh.status = 2
	}
}

func (sh *shell) cond(x testExpr) bool { return sh.condTerm(x, "") }

// condTerm is cond; not is what set -x shows before it.
func (sh *shell) condTerm(x testExpr, not string) bool {
	sh.tick()
	switch x := x.(type) {
	case *testAnd:
		return sh.cond(x.x) && sh.cond(x.y)
	case *testOr:
		return sh.cond(x.x) || sh.cond(x.y)
	case *testNot:
		return !sh.condTerm(x.x, "! ")
	case *testUnary:
		s := sh.str(x.x)
		if sh.opts.has(optXtrace) {
			sh.trace("[[ " + not + x.op + " " + testOperand(s) + " ]]")
		}
		return sh.unaryTest(x.op, s)
	case *testBinary:
		return sh.condBinary(x, not)
	}
	return false
}

// testOperand is an operand as set -x shows it: not quoted, but seen.
func testOperand(s string) string {
	if s == "" {
		return "''"
	}
	return s
}

func (sh *shell) condBinary(x *testBinary, not string) bool {
	a := sh.str(x.x)
	trace := func(b string) {
		if sh.opts.has(optXtrace) {
			sh.trace("[[ " + not + testOperand(a) + " " + x.op + " " + b + " ]]")
		}
	}
	switch x.op {
	case "=", "==", "!=":
		pat := sh.pattern(x.y)
		trace(pat)
		return sh.compilePattern(pat).match(a) == (x.op != "!=")
	case "=~":
		re := sh.regex(x.y)
		trace(re)
		return sh.matchRegex(a, re)
	}
	b := sh.str(x.y)
	trace(testOperand(b))
	if len(x.op) == 3 && strings.Contains("-eq -ne -lt -le -gt -ge", x.op) {
		return compareInts(x.op, sh.arithString(a), sh.arithString(b))
	}
	return sh.compare(x.op, a, b)
}

func compareInts(op string, a, b int64) bool {
	switch op {
	case "-eq":
		return a == b
	case "-ne":
		return a != b
	case "-lt":
		return a < b
	case "-le":
		return a <= b
	case "-gt":
		return a > b
	}
	return a >= b
}

// compare is <, >, -nt, -ot and -ef.
func (sh *shell) compare(op, a, b string) bool {
	switch op {
	case "<":
		return a < b
	case ">":
		return a > b
	}
	x, err1 := sh.stat(a)
	y, err2 := sh.stat(b)
	switch op {
	case "-nt":
		return err1 == nil && (err2 != nil || x.ModTime().After(y.ModTime()))
	case "-ot":
		return err2 == nil && (err1 != nil || x.ModTime().Before(y.ModTime()))
	}
	if err1 != nil || err2 != nil {
		return false
	}
	s, ok1 := x.Sys().(*vfs.Stat)
	t, ok2 := y.Sys().(*vfs.Stat)
	if ok1 && ok2 && s != nil && t != nil {
		return s.Dev == t.Dev && s.Ino == t.Ino
	}
	return sh.abs(a) == sh.abs(b)
}

// stat looks at a file, also behind /dev/fd.
func (sh *shell) stat(name string) (fs.FileInfo, error) {
	if name == "" {
		return nil, fs.ErrNotExist
	}
	if f := sh.openDev(name); f != nil {
		defer f.release()
		if f.file != nil {
			return f.file.Stat()
		}
		return pipeInfo{}, nil
	}
	fi, err := sh.run.host.Stat(sh.ctx, sh.abs(name))
	if err != nil {
		if isFatal(err) {
			throw(err)
		}
		return nil, err
	}
	if strings.HasSuffix(name, "/") && !fi.IsDir() {
		return nil, fs.ErrNotExist
	}
	return fi, nil
}

// A pipeInfo describes a descriptor that is no file.
type pipeInfo struct{}

func (pipeInfo) Name() string       { return "pipe" }
func (pipeInfo) Size() int64        { return 0 }
func (pipeInfo) Mode() fs.FileMode  { return fs.ModeNamedPipe | 0o600 }
func (pipeInfo) ModTime() time.Time { return time.Time{} }
func (pipeInfo) IsDir() bool        { return false }
func (pipeInfo) Sys() any           { return nil }

// unaryTest is a unary operator of [[ and [.
func (sh *shell) unaryTest(op, s string) bool {
	switch op {
	case "-n":
		return s != ""
	case "-z":
		return s == ""
	case "-v":
		return sh.isSetRef(s)
	case "-R":
		v := sh.lookup(s)
		return v.has(attrNameref) && v.attr&attrSet != 0
	case "-o":
		x, ok := findOption(s, false)
		return ok && sh.opts.has(x)
	case "-t":
		return false // nothing in the sandbox is a terminal
	case "-L", "-h":
		if s == "" {
			return false
		}
		fi, err := sh.run.host.Lstat(sh.ctx, sh.abs(s))
		return err == nil && fi.Mode()&fs.ModeSymlink != 0
	case "-r", "-w", "-x":
		if s == "" {
			return false
		}
		if f := sh.openDev(s); f != nil {
			f.release()
			return op != "-x"
		}
		mode := map[string]int{"-r": 4, "-w": 2, "-x": 1}[op]
		err := sh.run.host.Access(sh.ctx, sh.abs(s), mode)
		if err != nil && isFatal(err) && !errors.Is(err, ErrDenied) {
			throw(err)
		}
		return err == nil
	}
	fi, err := sh.stat(s)
	if err != nil {
		return false
	}
	m := fi.Mode()
	switch op {
	case "-e", "-a":
		return true
	case "-f":
		return m.IsRegular()
	case "-d":
		return m.IsDir()
	case "-s":
		return fi.Size() > 0
	case "-b":
		return m&fs.ModeDevice != 0 && m&fs.ModeCharDevice == 0
	case "-O", "-G":
		return true // every file belongs to the one user
	case "-N":
		if st, ok := fi.Sys().(*vfs.Stat); ok && st != nil {
			return fi.ModTime().After(st.Atime)
		}
		return false
	}
	bits := map[string]fs.FileMode{"-p": fs.ModeNamedPipe, "-S": fs.ModeSocket, "-c": fs.ModeCharDevice, "-g": fs.ModeSetgid, "-u": fs.ModeSetuid, "-k": fs.ModeSticky}
	return m&bits[op] != 0
}

// isSetRef is -v: a variable, an element, or a parameter by number.
func (sh *shell) isSetRef(s string) bool {
	name, sub, ok := sh.parseRef(s)
	if !ok {
		return false
	}
	if sub == nil {
		if !isName(name) {
			return sh.paramValue(name, nil).set
		}
		r, ok := sh.resolve(name)
		if !ok {
			return false
		}
		if r.hasSub {
			_, set := sh.refValue(r)
			return set
		}
		_, set := sh.getSet(r.name)
		return set
	}
	name = sh.resolved(name)
	v := sh.lookup(name)
	if sub.all != 0 {
		if v.has(attrAssoc) {
			_, ok := v.assoc.get(sub.raw)
			return ok
		}
		return len(sh.elements(name)) > 0
	}
	_, set := sh.element(name, sub)
	return set
}
