// Package rm is the command rm.
package rm

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is rm.
var Command = applet.Command{
	Name:     "rm",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "remove (unlink) the FILE(s)",
	Help: `  -f, --force           ignore nonexistent files and arguments, never prompt
  -i                    prompt before every removal
  -I                    prompt once before removing more than three files, or
                          when removing recursively
      --interactive[=WHEN]  prompt according to WHEN: never, once (-I), or
                          always (-i)
      --one-file-system (accepted, there is one)
      --no-preserve-root  do not treat '/' specially
      --preserve-root[=all]  do not remove '/' (default)
  -r, -R, --recursive   remove directories and their contents recursively
  -d, --dir             remove empty directories
  -v, --verbose         explain what is being done`,
	Run: run,
}

type remover struct {
	c                                    *applet.Ctx
	force, ask, once, recursive, emptied bool
	verbose                              bool
	ok                                   bool
}

func run(c *applet.Ctx) int {
	r := remover{c: c, ok: true}
	root, oneFS := true, false
	always := func() { r.ask, r.once, r.force = true, false, false }
	once := func() { r.ask, r.once, r.force = false, true, false }
	names, status, ok := c.Parse(1,
		applet.Do(func() { r.force, r.ask, r.once = true, false, false }, 'f', "force"),
		applet.Do(always, 'i', ""),
		applet.Do(once, 'I', ""),
		applet.Optional(func(v string, given bool) error {
			if !given {
				always()
				return nil
			}
			i, err := applet.Choose("--interactive", v, []string{"never", "no", "none"}, []string{"once"}, []string{"always", "yes"})
			switch i {
			case 0:
				r.ask, r.once = false, false
			case 1:
				once()
			case 2:
				always()
			}
			return err
		}, 0, "interactive"),
		applet.Bool(&oneFS, 0, "one-file-system"),
		applet.Do(func() { root = false }, 0, "no-preserve-root"),
		applet.Optional(func(v string, given bool) error {
			root = true
			if given && v != "all" {
				return errors.New("unrecognized --preserve-root argument: " + applet.Quote(v))
			}
			return nil
		}, 0, "preserve-root"),
		applet.Bool(&r.recursive, 'r', "recursive"),
		applet.Bool(&r.recursive, 'R', ""),
		applet.Bool(&r.emptied, 'd', "dir"),
		applet.Bool(&r.verbose, 'v', "verbose"),
	)
	if !ok {
		return status
	}
	if len(names) == 0 {
		if r.force {
			return 0
		}
		return c.Usage("missing operand")
	}
	if r.once && (r.recursive || len(names) > 3) {
		n := string(applet.AppendNum(nil, int64(len(names)), 0))
		word := map[bool]string{true: " argument", false: " arguments"}[len(names) == 1]
		rec := map[bool]string{true: " recursively", false: ""}[r.recursive]
		if !c.Ask("remove ", n, word, rec, "?") {
			return 0
		}
	}
	for _, name := range names {
		last := applet.Base(name)
		if r.recursive && (last == "." || last == "..") {
			c.Warn("refusing to remove '.' or '..' directory: skipping ", applet.Quote(name))
			r.ok = false
			continue
		}
		// Guards against rm -rf / and every other name that leads there.
		if r.recursive && root && isRoot(name) {
			if name == "/" {
				c.Warn("it is dangerous to operate recursively on '/'")
			} else {
				c.Warn("it is dangerous to operate recursively on ", applet.Quote(name), " (same as '/')")
			}
			c.Warn("use --no-preserve-root to override this failsafe")
			r.ok = false
			continue
		}
		r.remove(name)
	}
	return applet.Status(r.ok)
}

func isRoot(name string) bool {
	fi, err := os.Lstat(name)
	if err != nil || !fi.IsDir() {
		return false
	}
	root, err := os.Lstat("/")
	if err != nil || !os.SameFile(fi, root) {
		return false
	}
	full, err := applet.Resolve(name, applet.MustExist)
	return err == nil && full == "/"
}

func (r *remover) fail(name string, err error) bool {
	if r.force && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return false
	}
	r.c.Warn("cannot remove ", applet.Quote(name), ": ", applet.Reason(err))
	r.ok = false
	return false
}

// remove removes name and tells whether it is gone.
func (r *remover) remove(name string) bool {
	fi, err := os.Lstat(name)
	if err == nil && strings.HasSuffix(name, "/") && fi.Mode()&fs.ModeSymlink != 0 {
		err = syscall.ENOTDIR
	}
	if err == nil && strings.HasSuffix(name, "/") && !fi.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return r.fail(name, err)
	}
	if !fi.IsDir() {
		if r.ask && !r.c.Ask("remove ", kindOf(fi), " ", applet.Quote(name), "?") {
			return false
		}
		if err := syscall.Unlink(name); err != nil {
			return r.fail(name, err)
		}
		r.say("removed ", name)
		return true
	}
	if !r.recursive {
		if !r.emptied {
			return r.fail(name, syscall.EISDIR)
		}
		if r.ask && !r.c.Ask("remove directory ", applet.Quote(name), "?") {
			return false
		}
		return r.rmdir(name)
	}
	d, err := os.Open(name)
	if err != nil {
		return r.fail(name, err)
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		return r.fail(name, err)
	}
	if r.ask && len(entries) > 0 && !r.c.Ask("descend into directory ", applet.Quote(name), "?") {
		return false
	}
	empty := true
	prefix := strings.TrimRight(name, "/") + "/"
	for _, e := range entries {
		empty = r.remove(prefix+e.Name()) && empty
	}
	if !empty && !r.ask {
		return false
	}
	if r.ask && !r.c.Ask("remove directory ", applet.Quote(name), "?") {
		return false
	}
	return r.rmdir(name)
}

func (r *remover) rmdir(name string) bool {
	if err := syscall.Rmdir(name); err != nil {
		return r.fail(name, err)
	}
	r.say("removed directory ", name)
	return true
}

func (r *remover) say(what, name string) {
	if r.verbose {
		io.WriteString(r.c.Stdout, what+applet.Quote(name)+"\n")
	}
}

func kindOf(fi fs.FileInfo) string {
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		return "symbolic link"
	case !fi.Mode().IsRegular():
		return "special file"
	case fi.Size() == 0:
		return "regular empty file"
	}
	return "regular file"
}
