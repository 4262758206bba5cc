// Package cp holds the commands cp, mv and install, which share how files are
// copied.
package cp

import (
	"io/fs"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Cp is the command cp.
var Cp = applet.Command{
	Name:     "cp",
	Synopsis: "[OPTION]... SOURCE... DEST",
	Summary:  "copy SOURCE to DEST, or multiple SOURCE(s) to a directory",
	Help: `  -a, --archive                same as -dR --preserve=all
      --attributes-only        don't copy the file data, just the attributes
  -d                           same as --no-dereference --preserve=links
  -f, --force                  if an existing destination file cannot be
                                 opened, remove it and try again
  -i, --interactive            prompt before overwrite
  -H                           follow command-line symbolic links in SOURCE
  -l, --link                   hard link files instead of copying
  -L, --dereference            always follow symbolic links in SOURCE
  -n, --no-clobber             do not overwrite an existing file
  -P, --no-dereference         never follow symbolic links in SOURCE
  -p                           same as --preserve=mode,ownership,timestamps
      --preserve[=ATTR_LIST]   preserve mode, ownership, timestamps, links, all
      --no-preserve=ATTR_LIST  don't preserve the specified attributes
      --parents                use full source file name under DIRECTORY
  -R, -r, --recursive          copy directories recursively
      --reflink[=WHEN]         (accepted, no effect)
      --remove-destination     remove each existing destination file first
      --sparse=WHEN            (accepted, no effect)
      --strip-trailing-slashes remove trailing slashes from each SOURCE
  -s, --symbolic-link          make symbolic links instead of copying
  -t, --target-directory=DIR   copy all SOURCE arguments into DIRECTORY
  -T, --no-target-directory    treat DEST as a normal file
  -u, --update                 copy only when SOURCE is newer
  -v, --verbose                explain what is being done
  -x, --one-file-system        (accepted, there is one)` + backupHelp,
	Run: cp,
}

// copier is one run of cp, mv or install.
type copier struct {
	c *applet.Ctx

	recursive, force, ask, noClobber, update, verbose bool
	attrsOnly, link, symlink, removeFirst             bool
	keepMode, keepTimes, keepLinks                    bool
	noMode                                            bool // --no-preserve=mode
	follow                                            follow
	move                                              bool
	backups                                           backups
	backup                                            string // of the present destination

	made  map[string]bool    // destinations made by this run
	links map[inode]string   // of files with several names, where the first went
	above []fs.FileInfo      // folders being copied, to find loops
	dest  map[inode]struct{} // folders made, which must not be copied into themselves
}

type inode struct{ dev, ino uint64 }

func inodeOf(fi fs.FileInfo) inode {
	s := applet.Stat(fi)
	return inode{s.Dev, s.Ino}
}

// follow is which symlinks in the sources are followed.
type follow uint8

const (
	followDefault follow = iota // all, or none with -r
	followNone
	followArgs
	followAll
)

// target is where the operands go.
type target struct {
	dir    string // -t
	noDir  bool   // -T
	slash  bool   // --strip-trailing-slashes
	parent bool   // --parents
}

func (k *copier) preserve(list string, on bool) error {
	for _, attr := range strings.Split(list, ",") {
		i, err := applet.Choose(map[bool]string{true: "--preserve", false: "--no-preserve"}[on], attr,
			[]string{"mode"}, []string{"timestamps"}, []string{"ownership"}, []string{"links"}, []string{"context"}, []string{"xattr"}, []string{"all"})
		if err != nil {
			return err
		}
		if i == 0 || i == 6 {
			k.keepMode, k.noMode = on, !on
		}
		if i == 1 || i == 6 {
			k.keepTimes = on
		}
		if i == 3 || i == 6 {
			k.keepLinks = on
		}
	}
	return nil
}

func cp(c *applet.Ctx) int {
	k := copier{c: c}
	var to target
	var ignored bool
	word := func(v string, given bool) error {
		if given {
			_, err := applet.Choose("--reflink", v, []string{"auto"}, []string{"always"}, []string{"never"})
			return err
		}
		return nil
	}
	args, status, ok := c.Parse(1, append(k.backups.options(),
		applet.Do(func() {
			k.follow, k.recursive, k.keepMode, k.keepTimes, k.keepLinks = followNone, true, true, true, true
		}, 'a', "archive"),
		applet.Bool(&k.attrsOnly, 0, "attributes-only"),
		applet.Do(func() { k.follow, k.keepLinks = followNone, true }, 'd', ""),
		applet.Bool(&k.force, 'f', "force"),
		applet.Do(func() { k.ask, k.noClobber = true, false }, 'i', "interactive"),
		applet.Do(func() { k.follow = followArgs }, 'H', ""),
		applet.Bool(&k.link, 'l', "link"),
		applet.Do(func() { k.follow = followAll }, 'L', "dereference"),
		applet.Do(func() { k.noClobber, k.ask = true, false }, 'n', "no-clobber"),
		applet.Do(func() { k.follow = followNone }, 'P', "no-dereference"),
		applet.Do(func() { k.keepMode, k.keepTimes = true, true }, 'p', ""),
		applet.Optional(func(v string, given bool) error {
			if !given {
				v = "mode,timestamps"
			}
			return k.preserve(v, true)
		}, 0, "preserve"),
		applet.Func(func(v string) error { return k.preserve(v, false) }, 0, "no-preserve"),
		applet.Bool(&to.parent, 0, "parents"),
		applet.Bool(&k.recursive, 'r', "recursive"),
		applet.Bool(&k.recursive, 'R', ""),
		applet.Optional(word, 0, "reflink"),
		applet.Bool(&k.removeFirst, 0, "remove-destination"),
		applet.Func(func(v string) error { return word(v, true) }, 0, "sparse"),
		applet.Bool(&to.slash, 0, "strip-trailing-slashes"),
		applet.Bool(&k.symlink, 's', "symbolic-link"),
		applet.String(&to.dir, 't', "target-directory"),
		applet.Bool(&to.noDir, 'T', "no-target-directory"),
		applet.Bool(&k.update, 'u', "update"),
		applet.Bool(&k.verbose, 'v', "verbose"),
		applet.Bool(&ignored, 'x', "one-file-system"),
	)...)
	if !ok {
		return status
	}
	if k.follow == followDefault {
		k.follow = followAll
		if k.recursive && !k.link {
			k.follow = followNone
		}
	}
	return k.operands(args, to)
}

// operands finds out where the sources go and copies or moves each.
func (k *copier) operands(args []string, to target) int {
	c := k.c
	switch {
	case len(args) == 0:
		return c.Usage("missing file operand")
	case to.dir == "" && len(args) == 1:
		return c.Usage("missing destination file operand after ", applet.Quote(args[0]))
	case to.dir != "" && to.noDir:
		c.Warn("cannot combine --target-directory (-t) and --no-target-directory (-T)")
		return 1
	case to.noDir && len(args) > 2:
		return c.Usage("extra operand ", applet.Quote(args[2]))
	case k.backups.on && k.noClobber:
		return c.Usage("options --backup and --no-clobber are mutually exclusive")
	case !k.backups.settle(c):
		return 1
	}
	k.made, k.links, k.dest = map[string]bool{}, map[inode]string{}, map[inode]struct{}{}
	dir := to.dir
	if dir == "" {
		last := args[len(args)-1]
		fi, err := os.Stat(last)
		if !to.noDir && err == nil && fi.IsDir() {
			dir = last
		} else if len(args) > 2 || to.parent {
			if to.parent && len(args) == 2 {
				return c.Usage("with --parents, the destination must be a directory")
			}
			if err == nil {
				c.Warn("target ", applet.Quote(last), ": Not a directory")
			} else {
				c.Warn("target ", applet.Quote(last), ": ", applet.Reason(err))
			}
			return 1
		}
		args = args[:len(args)-1]
		if dir == "" {
			return applet.Status(k.one(strip(args[0], to.slash), last))
		}
	} else if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		if err == nil {
			c.Warn("target directory ", applet.Quote(dir), ": Not a directory")
		} else {
			c.Warn("target directory ", applet.Quote(dir), ": ", applet.Reason(err))
		}
		return 1
	}
	ok := true
	for _, a := range args {
		a = strip(a, to.slash)
		if to.parent {
			dst := join(dir, strings.TrimLeft(strings.TrimRight(a, "/"), "/"))
			ok = k.parents(dir, a) && k.one(a, dst) && ok
			continue
		}
		base := applet.Base(a)
		dst := join(dir, base)
		if base == ".." || base == "/" {
			dst = dir
		}
		ok = k.one(a, dst) && ok
	}
	return applet.Status(ok)
}

func strip(name string, on bool) string {
	if t := strings.TrimRight(name, "/"); on && t != "" {
		return t
	}
	return name
}

func join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// parents makes the folders of source under dir.
func (k *copier) parents(dir, source string) bool {
	parent := applet.Dir(source)
	if parent == "." || parent == "/" {
		return true
	}
	path, from := dir, ""
	if strings.HasPrefix(parent, "/") {
		from = "/"
	}
	for _, part := range strings.Split(strings.Trim(parent, "/"), "/") {
		path = join(path, part)
		if from == "" || from == "/" {
			from += part
		} else {
			from = from + "/" + part
		}
		if fi, err := os.Stat(path); err == nil {
			if !fi.IsDir() {
				k.c.Warn(applet.Quote(path), " exists but is not a directory")
				return false
			}
			continue
		}
		if err := os.Mkdir(path, 0o777); err != nil {
			k.c.Warn("cannot make directory ", applet.Quote(path), ": ", applet.Reason(err))
			return false
		}
		if k.verbose {
			k.c.Out().WriteString(from + " -> " + path + "\n")
		}
	}
	return true
}

// one copies or moves one operand.
func (k *copier) one(from, to string) bool {
	if k.move {
		return k.moveOne(from, to)
	}
	return k.copy(from, to, true)
}
