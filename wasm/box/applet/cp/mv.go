package cp

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Mv is the command mv.
var Mv = applet.Command{
	Name:     "mv",
	Synopsis: "[OPTION]... SOURCE... DEST",
	Summary:  "rename SOURCE to DEST, or move SOURCE(s) to a directory",
	Help: `  -f, --force                  do not prompt before overwriting
  -i, --interactive            prompt before overwrite
  -n, --no-clobber             do not overwrite an existing file
      --strip-trailing-slashes remove trailing slashes from each SOURCE
  -t, --target-directory=DIR   move all SOURCE arguments into DIRECTORY
  -T, --no-target-directory    treat DEST as a normal file
  -u, --update                 move only when SOURCE is newer
  -v, --verbose                explain what is being done` + backupHelp,
	Run: mv,
}

func mv(c *applet.Ctx) int {
	k := copier{c: c, move: true, recursive: true, follow: followNone, keepMode: true, keepTimes: true, keepLinks: true}
	var to target
	args, status, ok := c.Parse(1, append(k.backups.options(),
		applet.Do(func() { k.force, k.ask, k.noClobber = true, false, false }, 'f', "force"),
		applet.Do(func() { k.ask, k.force, k.noClobber = true, false, false }, 'i', "interactive"),
		applet.Do(func() { k.noClobber, k.ask, k.force = true, false, false }, 'n', "no-clobber"),
		applet.Bool(&to.slash, 0, "strip-trailing-slashes"),
		applet.String(&to.dir, 't', "target-directory"),
		applet.Bool(&to.noDir, 'T', "no-target-directory"),
		applet.Bool(&k.update, 'u', "update"),
		applet.Bool(&k.verbose, 'v', "verbose"),
	)...)
	if !ok {
		return status
	}
	return k.operands(args, to)
}

func (k *copier) moveOne(from, to string) bool {
	src, err := os.Lstat(from)
	if err != nil {
		return k.fail(err, "cannot stat ", applet.Quote(from))
	}
	dst, err := os.Lstat(to)
	k.backup = ""
	if err == nil {
		switch {
		case os.SameFile(src, dst) && sameName(from, to):
			return k.fail(nil, applet.Quote(from), " and ", applet.Quote(to), " are the same file")
		case k.noClobber:
			return true
		case !src.IsDir() && dst.IsDir():
			return k.fail(nil, "cannot overwrite directory ", applet.Quote(to), " with non-directory")
		case src.IsDir() && !dst.IsDir():
			return k.fail(nil, "cannot overwrite non-directory ", applet.Quote(to), " with directory ", applet.Quote(from))
		case k.made[to]:
			return k.fail(nil, "will not overwrite just-created ", applet.Quote(to), " with ", applet.Quote(from))
		case k.update && !src.ModTime().After(dst.ModTime()):
			return true
		case k.ask && !k.c.Ask("overwrite ", applet.Quote(to), "?"):
			return true
		}
		if os.SameFile(src, dst) { // two names of one file: one goes
			if err := syscall.Unlink(from); err != nil {
				return k.fail(err, "cannot remove ", applet.Quote(from))
			}
			k.renamed(from, to)
			return true
		}
	}
	if err == nil {
		if _, ok := k.aside(from, to, src); !ok {
			return false
		}
	}
	if src.IsDir() && inside(from, to) {
		return k.fail(nil, "cannot move ", applet.Quote(from), " to a subdirectory of itself, ", applet.Quote(to))
	}
	err = syscall.Rename(from, to)
	switch {
	case err == nil:
		k.made[to] = true
		k.renamed(from, to)
		return true
	case !errors.Is(err, syscall.EXDEV):
		if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(to, "/") && !src.IsDir() {
			err = syscall.ENOTDIR
		}
		return k.fail(err, "cannot move ", applet.Quote(from), " to ", applet.Quote(to))
	}
	// Another mount: copy, then remove.
	if src.IsDir() {
		if err := syscall.Rmdir(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return k.fail(err, "inter-device move failed: ", applet.Quote(from), " to ", applet.Quote(to), "; unable to remove target")
		}
	}
	verbose := k.verbose
	k.verbose = false
	ok := k.copy(from, to, true)
	k.verbose = verbose
	if !ok {
		return false
	}
	if err := os.RemoveAll(strings.TrimRight(from, "/")); err != nil {
		return k.fail(err, "cannot remove ", applet.Quote(from))
	}
	if k.verbose {
		k.c.Out().WriteString("copied " + applet.Quote(from) + " -> " + applet.Quote(to) + "\nremoved " + applet.Quote(from) + "\n")
	}
	return true
}

func (k *copier) renamed(from, to string) {
	if k.verbose {
		k.c.Out().WriteString("renamed " + applet.Quote(from) + " -> " + applet.Quote(to) + k.backupNote() + "\n")
	}
}
