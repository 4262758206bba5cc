package cp

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

func (k *copier) fail(err error, parts ...string) bool {
	if err != nil {
		parts = append(parts, ": ", applet.Reason(err))
	}
	k.c.Warn(parts...)
	return false
}

func (k *copier) say(from, to string) {
	if k.verbose {
		k.c.Out().WriteString(applet.Quote(from) + " -> " + applet.Quote(to) + k.backupNote() + "\n")
	}
}

// copy copies from to to, whatever it is. argument tells that from stands on
// the command line.
func (k *copier) copy(from, to string, argument bool) bool {
	deref := k.follow == followAll || k.follow == followArgs && argument || k.follow == followNone && argument && strings.HasSuffix(from, "/")
	stat := os.Lstat
	if deref {
		stat = os.Stat
	}
	src, err := stat(from)
	if err != nil {
		return k.fail(err, "cannot stat ", applet.Quote(from))
	}
	if src.IsDir() && !k.recursive {
		return k.fail(nil, "-r not specified; omitting directory ", applet.Quote(from))
	}
	dst, err := os.Lstat(to)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k.fail(err, "cannot stat ", applet.Quote(to))
	}
	if exists && dst.Mode()&fs.ModeSymlink != 0 && !src.IsDir() && src.Mode()&fs.ModeSymlink == 0 && !k.removeFirst && !k.link && !k.symlink {
		// Writing goes through a symlink to where it leads.
		if there, err := os.Stat(to); err == nil {
			dst = there
		} else if !k.force {
			return k.fail(nil, "not writing through dangling symlink ", applet.Quote(to))
		}
	}
	k.backup = ""
	if exists {
		if done, ok := k.over(from, to, src, dst, argument); done {
			return ok
		}
		if !src.IsDir() {
			aside, ok := k.aside(from, to, src)
			if !ok {
				return false
			}
			exists = !aside
		}
	}
	if src.IsDir() {
		return k.dir(from, to, src, dst, exists)
	}
	k.made[to] = true
	if k.keepLinks && !k.link && !k.symlink && applet.Stat(src).Nlink > 1 && !src.IsDir() {
		id := inodeOf(src)
		if first, ok := k.links[id]; ok {
			if exists {
				syscall.Unlink(to)
			}
			if err := os.Link(first, to); err != nil {
				return k.fail(err, "cannot create hard link ", applet.Quote(to), " to ", applet.Quote(first))
			}
			k.say(from, to)
			return true
		}
		k.links[id] = to
	}
	switch {
	case k.symlink:
		if !strings.HasPrefix(from, "/") && applet.Dir(to) != "." {
			return k.fail(nil, applet.Name(to), ": can make relative symbolic links only in current directory")
		}
		if exists && (k.force || k.removeFirst) {
			syscall.Unlink(to)
		}
		if err := os.Symlink(from, to); err != nil {
			return k.fail(err, "cannot create symbolic link ", applet.Quote(to), " to ", applet.Quote(from))
		}
		k.say(from, to)
		return true
	case k.link:
		if exists && (k.force || k.removeFirst) {
			syscall.Unlink(to)
		}
		if err := os.Link(from, to); err != nil {
			return k.fail(err, "cannot create hard link ", applet.Quote(to), " to ", applet.Quote(from))
		}
		k.say(from, to)
		return true
	case src.Mode()&fs.ModeSymlink != 0:
		return k.symlinkCopy(from, to, exists)
	case src.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 && k.recursive:
		return k.fail(errors.ErrUnsupported, "cannot create special file ", applet.Quote(to))
	}
	return k.file(from, to, src, dst, exists)
}

// over decides what becomes of a destination that exists. done tells that
// nothing is left to do.
func (k *copier) over(from, to string, src, dst fs.FileInfo, argument bool) (done, ok bool) {
	if os.SameFile(src, dst) && !(src.IsDir() && !argument) {
		if k.link {
			return true, true
		}
		if k.removeFirst && sameName(from, to) || !k.removeFirst && !k.force || sameName(from, to) {
			return true, k.fail(nil, applet.Quote(from), " and ", applet.Quote(to), " are the same file")
		}
	}
	switch {
	case src.IsDir() && !dst.IsDir():
		if k.noClobber {
			return true, true
		}
		return true, k.fail(nil, "cannot overwrite non-directory ", applet.Quote(to), " with directory ", applet.Quote(from))
	case !src.IsDir() && dst.IsDir():
		return true, k.fail(nil, "cannot overwrite directory ", applet.Quote(to), " with non-directory")
	case src.IsDir():
		return false, true
	case k.made[to]:
		return true, k.fail(nil, "will not overwrite just-created ", applet.Quote(to), " with ", applet.Quote(from))
	case k.noClobber:
		return true, true
	case k.update && !src.ModTime().After(dst.ModTime()):
		return true, true
	case k.ask && !k.c.Ask("overwrite ", applet.Quote(to), "?"):
		return true, true
	}
	if k.removeFirst {
		if err := syscall.Unlink(to); err != nil {
			return true, k.fail(err, "cannot remove ", applet.Quote(to))
		}
		if k.verbose {
			k.c.Out().WriteString("removed " + applet.Quote(to) + "\n")
		}
	}
	return false, true
}

func sameName(a, b string) bool {
	da, err1 := os.Stat(applet.Dir(a))
	db, err2 := os.Stat(applet.Dir(b))
	return err1 == nil && err2 == nil && os.SameFile(da, db) && applet.Base(a) == applet.Base(b)
}

// dir copies a folder and what it holds.
func (k *copier) dir(from, to string, src, dst fs.FileInfo, exists bool) bool {
	for _, a := range k.above {
		if os.SameFile(a, src) {
			return k.fail(nil, "cannot copy cyclic symbolic link ", applet.Quote(from))
		}
	}
	if _, ok := k.dest[inodeOf(src)]; ok {
		// The copy itself: cp -r d d/x must not go on for ever.
		return k.fail(nil, "cannot copy a directory, ", applet.Quote(from), ", into itself, ", applet.Quote(to))
	}
	d, err := os.Open(from)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = d.ReadDir(-1)
		d.Close()
	}
	if err != nil {
		return k.fail(err, "cannot access ", applet.Quote(from))
	}
	if inside(from, to) {
		// Guards against filling the file system with d/d/d/...
		if !exists {
			if err := os.Mkdir(to, 0o777); err == nil {
				if fi, err := os.Lstat(to); err == nil {
					k.dest[inodeOf(fi)] = struct{}{}
				}
			}
		}
		return k.fail(nil, "cannot copy a directory, ", applet.Quote(from), ", into itself, ", applet.Quote(to))
	}
	if !exists {
		if err := os.Mkdir(to, 0o777); err != nil {
			return k.fail(err, "cannot create directory ", applet.Quote(to))
		}
		k.say(from, to)
		if fi, err := os.Lstat(to); err == nil {
			k.dest[inodeOf(fi)] = struct{}{}
		}
	} else if dst.Mode()&fs.ModeSymlink != 0 {
		if fi, err := os.Stat(to); err != nil || !fi.IsDir() {
			return k.fail(nil, "cannot overwrite non-directory ", applet.Quote(to), " with directory ", applet.Quote(from))
		}
	}
	k.above = append(k.above, src)
	ok := true
	for _, e := range entries {
		ok = k.copy(join(from, e.Name()), join(to, e.Name()), false) && ok
	}
	k.above = k.above[:len(k.above)-1]
	return k.attributes(from, to, src, !exists) && ok
}

// inside tells whether to lies in the folder from.
func inside(from, to string) bool {
	a, err := applet.Resolve(from, applet.MustExist)
	if err != nil {
		return false
	}
	b, err := applet.Resolve(to, applet.MayBeMissing)
	return err == nil && strings.HasPrefix(b, strings.TrimSuffix(a, "/")+"/")
}

func (k *copier) symlinkCopy(from, to string, exists bool) bool {
	target, err := os.Readlink(from)
	if err != nil {
		return k.fail(err, "cannot read symbolic link ", applet.Quote(from))
	}
	if exists {
		if err := syscall.Unlink(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return k.fail(err, "cannot remove ", applet.Quote(to))
		}
	}
	if err := os.Symlink(target, to); err != nil {
		return k.fail(err, "cannot create symbolic link ", applet.Quote(to))
	}
	k.say(from, to)
	return true
}

// file copies a file's text.
func (k *copier) file(from, to string, src, dst fs.FileInfo, exists bool) bool {
	in, err := os.Open(from)
	if err != nil {
		return k.fail(err, "cannot open ", applet.Quote(from), " for reading")
	}
	defer in.Close()
	k.say(from, to)
	if k.attrsOnly && exists {
		return k.attributes(from, to, src, false)
	}
	exists = exists && !k.removeFirst
	perm := src.Mode().Perm()
	if k.noMode {
		perm = 0o666
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if exists {
		flag = os.O_WRONLY | os.O_TRUNC
	}
	out, err := os.OpenFile(to, flag, perm)
	if err != nil && exists && k.force {
		// A destination that cannot be opened is removed and made anew.
		if rerr := syscall.Unlink(to); rerr != nil {
			return k.fail(rerr, "cannot remove ", applet.Quote(to))
		}
		exists = false
		out, err = os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	}
	if err != nil && !exists && errors.Is(err, fs.ErrExist) {
		out, err = os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	}
	if err != nil {
		if strings.HasSuffix(to, "/") && errors.Is(err, syscall.EISDIR) {
			err = syscall.ENOTDIR
		}
		return k.fail(err, "cannot create regular file ", applet.Quote(to))
	}
	if !k.attrsOnly {
		err = copyText(out, in)
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	var re readError
	switch {
	case errors.As(err, &re):
		return k.fail(re.error, "error reading ", applet.Quote(from))
	case err != nil:
		return k.fail(err, "error writing ", applet.Quote(to))
	}
	return k.attributes(from, to, src, !exists)
}

// readError tells a failed read from a failed write.
type readError struct{ error }

func copyText(w io.Writer, r io.Reader) error {
	buf := make([]byte, 2*applet.BufSize)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return werr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return readError{err}
		}
	}
}

// attributes gives a copy the source's times and permissions. A new copy has
// the source's permissions, less the umask, in any case.
func (k *copier) attributes(from, to string, src fs.FileInfo, made bool) bool {
	ok := true
	mode := src.Mode()
	switch {
	case k.keepMode:
		if err := os.Chmod(to, mode); err != nil {
			ok = k.fail(err, "preserving permissions for ", applet.Quote(to))
		}
	case made && !k.noMode:
		if err := os.Chmod(to, mode.Perm()&^applet.Umask()); err != nil {
			ok = k.fail(err, "setting permissions for ", applet.Quote(to))
		}
	}
	if k.keepTimes {
		if err := os.Chtimes(to, atime(src), src.ModTime()); err != nil {
			ok = k.fail(err, "preserving times for ", applet.Quote(to))
		}
	}
	return ok
}

func atime(fi fs.FileInfo) time.Time { return applet.Stat(fi).Atime }
