package cp

import (
	"os"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/filemode"
)

// Install is the command install.
var Install = applet.Command{
	Name:     "install",
	Synopsis: "[OPTION]... SOURCE... DEST",
	Summary:  "copy files and set attributes, or create directories with -d",
	Help: `  -c                  (ignored)
  -d, --directory     treat all arguments as directory names; create all
                        components of the specified directories
  -D                  create all leading components of DEST except the last
  -m, --mode=MODE     set permission mode (as in chmod), instead of rwxr-xr-x
  -p, --preserve-timestamps   apply timestamps of SOURCE files
  -t, --target-directory=DIR  copy all SOURCE arguments into DIRECTORY
  -T, --no-target-directory   treat DEST as a normal file
  -v, --verbose       print the name of each created file or directory`,
	Run: install,
}

type installer struct {
	c                       *applet.Ctx
	mode                    uint32
	times, leading, verbose bool
}

func install(c *applet.Ctx) int {
	k := installer{c: c, mode: 0o755}
	var dirs, ignored, noDir bool
	mode, dir := "", ""
	args, status, ok := c.Parse(1,
		applet.Bool(&ignored, 'c', ""),
		applet.Bool(&dirs, 'd', "directory"),
		applet.Bool(&k.leading, 'D', ""),
		applet.String(&mode, 'm', "mode"),
		applet.Bool(&k.times, 'p', "preserve-timestamps"),
		applet.String(&dir, 't', "target-directory"),
		applet.Bool(&noDir, 'T', "no-target-directory"),
		applet.Bool(&k.verbose, 'v', "verbose"),
	)
	if !ok {
		return status
	}
	if mode != "" {
		m, ok := filemode.Parse(mode)
		if !ok {
			c.Warn("invalid mode ", applet.Curly(mode))
			return 1
		}
		k.mode = m.Apply(0, dirs, 0)
	}
	switch {
	case dirs && len(args) > 0:
		for _, a := range args {
			ok = k.dir(a, applet.FromUnix(k.mode)) && ok
		}
		return applet.Status(ok)
	case len(args) == 0:
		return c.Usage("missing file operand")
	case len(args) == 1 && dir == "":
		return c.Usage("missing destination file operand after ", applet.Quote(args[0]))
	case noDir && len(args) > 2:
		return c.Usage("extra operand ", applet.Quote(args[2]))
	}
	if dir == "" {
		last := args[len(args)-1]
		args = args[:len(args)-1]
		fi, err := os.Stat(last)
		if noDir || err != nil || !fi.IsDir() {
			if len(args) > 1 {
				if err == nil {
					err = syscall.ENOTDIR
				}
				c.Warn("target ", applet.Quote(last), ": ", applet.Reason(err))
				return 1
			}
			if parent := applet.Dir(last); k.leading && !k.dir(parent, 0o755) {
				return 1
			}
			return applet.Status(k.file(args[0], last))
		}
		dir = last
	} else if k.leading && !k.dir(dir, 0o755) {
		return 1
	}
	for _, a := range args {
		ok = k.file(a, join(dir, applet.Base(a))) && ok
	}
	return applet.Status(ok)
}

// dir makes a folder and those above it; the mode is that of the last.
func (k *installer) dir(name string, mode os.FileMode) bool {
	if fi, err := os.Stat(name); err == nil {
		if !fi.IsDir() {
			k.c.Warn("cannot create directory ", applet.Quote(name), ": File exists")
		}
		return fi.IsDir()
	}
	path := ""
	if strings.HasPrefix(name, "/") {
		path = "/"
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	for i, part := range parts {
		path += part
		if _, err := os.Stat(path); err != nil {
			if err := os.Mkdir(path, 0o755); err != nil {
				k.c.Warn("cannot create directory ", applet.Quote(path), ": ", applet.Reason(err))
				return false
			}
			if k.verbose {
				k.c.Out().WriteString("install: creating directory " + applet.Quote(path) + "\n")
			}
			bits := os.FileMode(0o755)
			if i == len(parts)-1 {
				bits = mode
			}
			os.Chmod(path, bits) // whatever the umask
		}
		path += "/"
	}
	return true
}

func (k *installer) file(from, to string) bool {
	fi, err := os.Stat(from)
	if err != nil {
		k.c.Warn("cannot stat ", applet.Quote(from), ": ", applet.Reason(err))
		return false
	}
	if fi.IsDir() {
		k.c.Warn("omitting directory ", applet.Quote(from))
		return false
	}
	old, err := os.Lstat(to)
	if err == nil && os.SameFile(fi, old) {
		k.c.Warn(applet.Quote(from), " and ", applet.Quote(to), " are the same file")
		return false
	}
	if err == nil {
		if old.IsDir() {
			k.c.Warn("cannot overwrite directory ", applet.Quote(to), " with non-directory")
			return false
		}
		if k.verbose {
			k.c.Out().WriteString("removed " + applet.Quote(to) + "\n")
		}
		syscall.Unlink(to)
	}
	c := copier{c: k.c, follow: followAll, noMode: true, keepTimes: k.times, verbose: k.verbose, made: map[string]bool{}}
	if !c.copy(from, to, true) {
		return false
	}
	if err := os.Chmod(to, applet.FromUnix(k.mode)); err != nil {
		k.c.Warn("cannot change permissions of ", applet.Quote(to), ": ", applet.Reason(err))
		return false
	}
	return true
}
