package shell

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/sandbox/vfs"
	"mvdan.cc/sh/v3/syntax"
)

// fd returns an open description, or nil.
func (sh *shell) fd(n int) *File {
	if n < 0 || n >= len(sh.fds) {
		return nil
	}
	return sh.fds[n]
}

// setFd makes descriptor n refer to f, taking over the reference.
func (sh *shell) setFd(n int, f *File) {
	for len(sh.fds) <= n {
		sh.fds = append(sh.fds, nil)
	}
	old := sh.fds[n]
	sh.fds[n] = f
	old.release()
}

// freeFd finds the lowest free descriptor from 10 on.
func (sh *shell) freeFd(from int) int {
	for n := from; n < sh.run.lim.Files; n++ {
		if sh.fd(n) == nil {
			return n
		}
	}
	throw(&LimitError{What: itoa(sh.run.lim.Files) + " open files"})
	return 0
}

// redirect applies redirections; undo puts the old descriptors back. When one
// fails its message is printed, the status is 1 and ok is false.
func (sh *shell) redirect(rs []*redir) (undo func(), ok bool) {
	type saved struct {
		n int
		f *File
	}
	var old []saved
	undo = func() {
		for i := len(old) - 1; i >= 0; i-- {
			sh.setFd(old[i].n, old[i].f)
		}
	}
	st := sh.status
	ok = sh.protect(func() {
		for _, r := range rs {
			sh.redirectOne(r, func(n int) {
				f := sh.fd(n)
				if f != nil {
					f.ref()
				}
				old = append(old, saved{n, f})
			})
		}
		sh.status = st // what the command may see as $?
	})
	return undo, ok
}

// redirectOne applies one redirection. save is called before a descriptor
// that the redirection is undone for changes; {name}> is never undone.
func (sh *shell) redirectOne(r *redir, save func(int)) {
	sh.line = r.line
	n := r.fd
	if n < 0 {
		n = defaultFd(r.op)
	}
	if n >= sh.run.lim.Files {
		failf(errCommand, 1, "%d: Bad file descriptor", n)
	}
	set := func(f *File) {
		if r.fdVar != "" {
			n = sh.freeFd(10)
			sh.setFd(n, f)
			sh.assignTo(r.fdVar, r.fdSub, itoa(n), false)
			return
		}
		save(n)
		sh.setFd(n, f)
	}
	switch r.op {
	case syntax.Hdoc, syntax.DashHdoc:
		set(sh.textFile(sh.heredoc(r.hdoc)))
		return
	case syntax.WordHdoc:
		set(sh.textFile(sh.strIn(r.word, true) + "\n"))
		return
	case syntax.DplIn, syntax.DplOut:
		sh.duplicate(r, n, set, save)
		return
	}
	name := sh.redirTarget(r.word)
	switch r.op {
	case syntax.RdrAll, syntax.AppAll:
		flag := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC
		if r.op == syntax.AppAll {
			flag = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
		}
		f := sh.openFile(name, flag, r.op == syntax.RdrAll)
		save(1)
		save(2)
		sh.setFd(1, f)
		sh.setFd(2, f.ref())
	case syntax.RdrOut:
		set(sh.openFile(name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, true))
	case syntax.RdrClob:
		set(sh.openFile(name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, false))
	case syntax.AppOut:
		set(sh.openFile(name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_APPEND, false))
	case syntax.RdrIn:
		set(sh.openFile(name, syscall.O_RDONLY, false))
	case syntax.RdrInOut:
		set(sh.openFile(name, syscall.O_RDWR|syscall.O_CREAT, false))
	default:
		failf(errCommand, 2, "%s: unsupported redirection", r.op.String())
	}
}

func defaultFd(op syntax.RedirOperator) int {
	switch op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return 0
	}
	return 1
}

// heredoc expands the body of a here-document.
func (sh *shell) heredoc(w *word) string {
	if w.isLit {
		return w.lit
	}
	b := &builder{sh: sh, mode: buildString, heredoc: true}
	sh.parts(b, w.parts, true)
	return string(b.buf)
}

// redirTarget expands the file name of a redirection to exactly one word.
func (sh *shell) redirTarget(w *word) string {
	if w.isLit {
		return w.lit
	}
	f := sh.fields([]*word{w})
	if len(f) != 1 {
		failf(errCommand, 1, "%s: ambiguous redirect", w.raw)
	}
	return f[0]
}

// duplicate does n>&m, n<&m, n>&- and n>&m-.
func (sh *shell) duplicate(r *redir, n int, set func(*File), save func(int)) {
	t := sh.redirTarget(r.word)
	move := false
	if t != "-" && strings.HasSuffix(t, "-") {
		move = true
		t = t[:len(t)-1]
	}
	if t == "-" {
		if r.fdVar != "" {
			v := sh.paramValue(r.fdVar, r.fdSub)
			if m, ok := atoi(v.s); ok && sh.fd(int(m)) != nil {
				sh.setFd(int(m), nil)
			}
			return
		}
		if sh.fd(n) != nil {
			save(n)
			sh.setFd(n, nil)
		}
		return
	}
	m, ok := atoi(t)
	if !ok || m < 0 {
		if r.op == syntax.DplOut && r.fd < 0 && r.fdVar == "" {
			// >&word is &>word.
			f := sh.openFile(t, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, true)
			save(1)
			save(2)
			sh.setFd(1, f)
			sh.setFd(2, f.ref())
			return
		}
		failf(errCommand, 1, "%s: ambiguous redirect", r.word.raw)
	}
	f := sh.fd(int(m))
	if f == nil {
		failf(errCommand, 1, "%s: Bad file descriptor", t)
	}
	if int(m) == n && r.fdVar == "" {
		return
	}
	set(f.ref())
	if move && int(m) != n {
		save(int(m))
		sh.setFd(int(m), nil)
	}
}

// openFile opens a file for a redirection. clobber says that noclobber counts.
func (sh *shell) openFile(name string, flag int, clobber bool) *File {
	f, err := sh.open(name, flag, clobber && sh.opts.has(optNoclobber))
	if err != nil {
		if isFatal(err) {
			throw(err)
		}
		if errors.Is(err, ErrDenied) {
			failf(errCommand, 126, "%s: %v", name, err)
		}
		failf(errCommand, 1, "%s: %s", name, errText(err))
	}
	return f
}

func (sh *shell) open(name string, flag int, excl bool) (*File, error) {
	if name == "" {
		return nil, syscall.ENOENT
	}
	if strings.IndexByte(name, 0) >= 0 {
		return nil, syscall.EINVAL
	}
	if f := sh.openDev(name); f != nil {
		return f, nil
	}
	p := sh.abs(name)
	if strings.HasPrefix(p, "/dev/fd/") {
		return nil, syscall.ENOENT
	}
	if excl {
		if fi, err := sh.run.host.Stat(sh.ctx, p); err == nil && fi.Mode().IsRegular() {
			return nil, textError("cannot overwrite existing file")
		}
	}
	count := 0
	for _, f := range sh.fds {
		if f != nil {
			count++
		}
	}
	if count >= sh.run.lim.Files {
		throw(&LimitError{What: itoa(sh.run.lim.Files) + " open files"})
	}
	var vf vfs.File
	var err error
	vf, err = sh.run.host.Open(sh.ctx, p, flag, fs.FileMode(0o666&^sh.mask))
	if err != nil {
		return nil, err
	}
	if flag&(syscall.O_WRONLY|syscall.O_RDWR) != 0 {
		if fi, err := vf.Stat(); err == nil && fi.IsDir() {
			_ = vf.Close()
			return nil, syscall.EISDIR
		}
	} else if strings.HasSuffix(name, "/") {
		if fi, err := vf.Stat(); err == nil && !fi.IsDir() {
			_ = vf.Close()
			return nil, syscall.ENOTDIR
		}
	}
	return newFile(&File{file: vf, name: name, ctx: sh.ctx}), nil
}

// openDev opens /dev/fd/N, /dev/stdin, ... : another reference to an open
// description.
func (sh *shell) openDev(name string) *File {
	n := slices.Index([]string{"/dev/stdin", "/dev/stdout", "/dev/stderr"}, name)
	if rest, ok := strings.CutPrefix(name, "/dev/fd/"); ok {
		if m, ok := atoi(rest); ok {
			n = int(m)
		}
	}
	if f := sh.fd(n); f != nil {
		return f.ref()
	}
	return nil
}
