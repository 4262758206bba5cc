// Package ln holds the commands ln, link and unlink.
package ln

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Ln is the command ln.
var Ln = applet.Command{
	Name:     "ln",
	Synopsis: "[OPTION]... TARGET... LINK_NAME",
	Summary:  "make links between files",
	Help: `  -f, --force                 remove existing destination files
  -i, --interactive           prompt whether to remove destinations
  -L, --logical               dereference TARGETs that are symbolic links
  -n, --no-dereference        treat LINK_NAME as a normal file if it is a
                                symbolic link to a directory
  -P, --physical              make hard links directly to symbolic links
  -r, --relative              with -s, create links relative to link location
  -s, --symbolic              make symbolic links instead of hard links
  -t, --target-directory=DIR  specify the DIRECTORY in which to create the links
  -T, --no-target-directory   treat LINK_NAME as a normal file always
  -v, --verbose               print name of each linked file`,
	Run: ln,
}

// Link is the command link.
var Link = applet.Command{
	Name:     "link",
	Synopsis: "FILE1 FILE2",
	Summary:  "create a link named FILE2 to an existing FILE1",
	Run:      link,
}

// Unlink is the command unlink.
var Unlink = applet.Command{
	Name:     "unlink",
	Synopsis: "FILE",
	Summary:  "remove the specified FILE",
	Run:      unlink,
}

type linker struct {
	c                                                *applet.Ctx
	force, ask, logical, noDeref, relative, symbolic bool
	verbose                                          bool
}

func ln(c *applet.Ctx) int {
	l := linker{c: c}
	dir, noDir := "", false
	args, status, ok := c.Parse(1,
		applet.Do(func() { l.force, l.ask = true, false }, 'f', "force"),
		applet.Do(func() { l.ask, l.force = true, false }, 'i', "interactive"),
		applet.Do(func() { l.logical = true }, 'L', "logical"),
		applet.Bool(&l.noDeref, 'n', "no-dereference"),
		applet.Do(func() { l.logical = false }, 'P', "physical"),
		applet.Bool(&l.relative, 'r', "relative"),
		applet.Bool(&l.symbolic, 's', "symbolic"),
		applet.String(&dir, 't', "target-directory"),
		applet.Bool(&noDir, 'T', "no-target-directory"),
		applet.Bool(&l.verbose, 'v', "verbose"),
	)
	if !ok {
		return status
	}
	switch {
	case len(args) == 0:
		return c.Usage("missing file operand")
	case l.relative && !l.symbolic:
		c.Warn("cannot do --relative without --symbolic")
		return 1
	case noDir && dir != "":
		c.Warn("cannot combine --target-directory and --no-target-directory")
		return 1
	case noDir && len(args) != 2:
		if len(args) < 2 {
			return c.Usage("missing destination file operand after ", applet.Quote(args[0]))
		}
		return c.Usage("extra operand ", applet.Quote(args[2]))
	}
	if noDir {
		return applet.Status(l.one(args[0], args[1]))
	}
	if dir == "" && len(args) == 1 {
		dir = "."
	} else if dir == "" {
		last := args[len(args)-1]
		stat := os.Stat
		if l.noDeref {
			stat = os.Lstat
		}
		fi, err := stat(last)
		if err != nil || !fi.IsDir() {
			if len(args) > 2 {
				if err == nil {
					err = syscall.ENOTDIR
				}
				c.Warn("target ", applet.Quote(last), ": ", applet.Reason(err))
				return 1
			}
			return applet.Status(l.one(args[0], last))
		}
		dir, args = last, args[:len(args)-1]
	} else if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		if err == nil {
			err = syscall.ENOTDIR
		}
		c.Warn("target directory ", applet.Quote(dir), ": ", applet.Reason(err))
		return 1
	}
	ok = true
	for _, a := range args {
		name := applet.Base(a)
		if dir != "." {
			name = strings.TrimSuffix(dir, "/") + "/" + name
		} else {
			name = "./" + name
		}
		ok = l.one(a, name) && ok
	}
	return applet.Status(ok)
}

func (l *linker) fail(err error, parts ...string) bool {
	l.c.Warn(append(parts, ": "+applet.Reason(err))...)
	return false
}

func (l *linker) one(target, name string) bool {
	kind := "hard link "
	if l.symbolic {
		kind = "symbolic link "
	} else {
		fi, err := os.Lstat(target)
		if l.logical {
			fi, err = os.Stat(target)
		}
		if err != nil {
			return l.fail(err, "failed to access ", applet.Quote(target))
		}
		if fi.IsDir() {
			l.c.Warn(applet.Name(target), ": hard link not allowed for directory")
			return false
		}
		if l.logical {
			if full, err := applet.Resolve(target, applet.MustExist); err == nil {
				target = full
			}
		}
	}
	text := target
	if l.relative {
		text = relative(target, name)
	}
	if old, err := os.Lstat(name); err == nil && (l.force || l.ask) {
		if old.IsDir() {
			l.c.Warn(applet.Name(name), ": cannot overwrite directory")
			return false
		}
		if src, err := os.Stat(target); err == nil && !l.symbolic && os.SameFile(src, old) {
			if sameEntry(target, name) {
				l.c.Warn(applet.Quote(target), " and ", applet.Quote(name), " are the same file")
				return false
			}
		}
		if l.ask && !l.c.Ask("replace ", applet.Quote(name), "?") {
			return true
		}
		if err := syscall.Unlink(name); err != nil {
			return l.fail(err, "cannot remove ", applet.Quote(name))
		}
	}
	var err error
	if l.symbolic {
		err = os.Symlink(text, name)
	} else {
		err = os.Link(target, name)
	}
	if err != nil {
		to := ""
		if !l.symbolic && !errors.Is(err, syscall.EEXIST) {
			to = " => " + applet.Quote(target)
		} else if l.symbolic && text == "" {
			to = " -> " + applet.Quote(text)
		}
		return l.fail(err, "failed to create ", kind, applet.Quote(name), to)
	}
	if l.verbose {
		arrow := " => "
		if l.symbolic {
			arrow = " -> "
		}
		l.c.Out().WriteString(applet.Quote(name) + arrow + applet.Quote(text) + "\n")
	}
	return true
}

func sameEntry(a, b string) bool {
	da, err1 := os.Stat(applet.Dir(a))
	db, err2 := os.Stat(applet.Dir(b))
	return err1 == nil && err2 == nil && os.SameFile(da, db) && applet.Base(a) == applet.Base(b)
}

// relative returns target as seen from the folder that holds name.
func relative(target, name string) string {
	to, err1 := applet.Resolve(target, applet.MayBeMissing)
	from, err2 := applet.Resolve(applet.Dir(name), applet.MayBeMissing)
	if err1 != nil || err2 != nil {
		return target
	}
	return applet.Relative(from, to)
}

func link(c *applet.Ctx) int {
	args, status, ok := c.Bare()
	switch {
	case !ok:
		return status
	case len(args) < 2:
		return c.MissingOperand(args)
	case len(args) > 2:
		return c.ExtraOperand(args[2])
	}
	if err := os.Link(args[0], args[1]); err != nil {
		c.Warn("cannot create link ", applet.Quote(args[1]), " to ", applet.Quote(args[0]), ": ", applet.Reason(err))
		return 1
	}
	return 0
}

func unlink(c *applet.Ctx) int {
	args, status, ok := c.Bare()
	switch {
	case !ok:
		return status
	case len(args) == 0:
		return c.MissingOperand(args)
	case len(args) > 1:
		return c.ExtraOperand(args[1])
	}
	if err := syscall.Unlink(args[0]); err != nil {
		c.Warn("cannot unlink ", applet.Quote(args[0]), ": ", applet.Reason(err))
		return 1
	}
	return 0
}
