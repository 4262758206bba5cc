package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

// An abort is the private panic that unwinds an expansion or a builtin to
// the command it belongs to.
type abort struct{ err error }

func throw(err error) { panic(abort{err}) }

// A cmdError is an error of the script's own making.
type cmdError struct {
	msg    string
	status int
	kind   errKind
	quiet  bool
}

type errKind uint8

const (
	errCommand errKind = iota // the command fails, the script goes on
	errDiscard                // everything up to the reading loop is dropped
	errExit                   // a shell that reads a script exits
)

func (e *cmdError) Error() string { return e.msg }

func failf(kind errKind, status int, format string, args ...any) {
	throw(&cmdError{msg: fmt.Sprintf(format, args...), status: status, kind: kind})
}

func itoa(n int) string { return strconv.Itoa(n) }

func itoa64(n int64) string { return strconv.FormatInt(n, 10) }

// catch runs f and returns the error of an abort inside it.
func catch(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a, ok := p.(abort)
			if !ok {
				panic(p)
			}
			err = a.err
		}
	}()
	f()
	return nil
}

// protect runs f and tells whether it came to its end; an abort inside it
// becomes the shell's flow, and its message goes to stderr.
func (sh *shell) protect(f func()) bool {
	defer sh.recovered() // not catch: each command goes through here
	f()
	return true
}

func (sh *shell) recovered() {
	if p := recover(); p != nil {
		a, ok := p.(abort)
		if !ok {
			panic(p)
		}
		sh.caught(a.err)
	}
}

// caught turns an error into a message, a status and a flow.
func (sh *shell) caught(err error) {
	if isFatal(err) || sh.run.stop.Load() {
		if !isFatal(err) {
			err = sh.run.cause() // the script is ending for another reason
		}
		sh.run.fatal(err)
		sh.flow = flowFatal
		sh.status = 137
		return
	}
	var ce *cmdError
	if !errors.As(err, &ce) {
		sh.errorf("%v", err)
		sh.status = 1
		return
	}
	if !ce.quiet && ce.msg != "" {
		sh.errorf("%s", ce.msg)
	}
	sh.status = ce.status
	switch ce.kind {
	case errDiscard:
		sh.flow = flowDiscard
	case errExit:
		sh.flow = flowExit
		if sh.commandString && !sh.isSubshell && !ce.quiet && ce.status == 1 && !sh.opts.has(optErrexit) {
			sh.status = 127
		}
	}
}

// errorf prints a message the way bash does: name, line, text.
func (sh *shell) errorf(format string, args ...any) {
	line := ""
	if sh.line > 0 {
		line = "line " + itoa(sh.line) + ": "
	}
	sh.stderr(sh.errorName() + ": " + line + fmt.Sprintf(format, args...) + "\n")
}

func (sh *shell) errorName() string {
	return firstOf(sh.topSource(), sh.name0)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// stderr writes to descriptor 2, ignoring errors.
func (sh *shell) stderr(s string) {
	if f := sh.fd(2); f != nil {
		_, _ = f.WriteString(sh.ctx, s)
	}
}

// errText is the text of a file error as C's strerror gives it.
func errText(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return capital(no.Error())
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	switch err {
	case fs.ErrNotExist:
		return "No such file or directory"
	case fs.ErrExist:
		return "File exists"
	case fs.ErrPermission:
		return "Permission denied"
	case fs.ErrClosed:
		return "Bad file descriptor"
	}
	return err.Error() // the host's own words
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
