// Package mkdir holds the commands mkdir and rmdir.
package mkdir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/filemode"
)

// Mkdir is the command mkdir.
var Mkdir = applet.Command{
	Name:     "mkdir",
	Synopsis: "[OPTION]... DIRECTORY...",
	Summary:  "create the DIRECTORY(ies), if they do not already exist",
	Help: `  -m, --mode=MODE   set file mode (as in chmod), not a=rwx - umask
  -p, --parents     no error if existing, make parent directories as needed
  -v, --verbose     print a message for each created directory`,
	Run: mkdir,
}

// Rmdir is the command rmdir.
var Rmdir = applet.Command{
	Name:     "rmdir",
	Synopsis: "[OPTION]... DIRECTORY...",
	Summary:  "remove the DIRECTORY(ies), if they are empty",
	Help: `      --ignore-fail-on-non-empty
                    ignore each failure that is solely because a directory
                    is non-empty
  -p, --parents     remove DIRECTORY and its ancestors
  -v, --verbose     output a diagnostic for every directory processed`,
	Run: rmdir,
}

type maker struct {
	c       *applet.Ctx
	mode    filemode.Mode
	verbose bool
}

func mkdir(c *applet.Ctx) int {
	m := maker{c: c}
	parents := false
	names, status, ok := c.Parse(1,
		applet.Func(func(v string) error {
			mode, ok := filemode.Parse(v)
			m.mode = mode
			if !ok {
				return errors.New("invalid mode " + applet.Curly(v))
			}
			return nil
		}, 'm', "mode"),
		applet.Bool(&parents, 'p', "parents"),
		applet.Bool(&m.verbose, 'v', "verbose"),
	)
	if !ok {
		return status
	}
	if len(names) == 0 {
		return c.Usage("missing operand")
	}
	ok = true
	for _, name := range names {
		if parents {
			ok = m.all(name) && ok
		} else {
			ok = m.one(name, true) && ok
		}
	}
	return applet.Status(ok)
}

func (m *maker) one(name string, last bool) bool {
	if err := os.Mkdir(name, 0o777); err != nil {
		m.c.Warn("cannot create directory ", applet.Curly(name), ": ", applet.Reason(err))
		return false
	}
	if m.verbose {
		io.WriteString(m.c.Stdout, "mkdir: created directory "+applet.Quote(name)+"\n")
	}
	if last && m.mode != nil {
		bits := m.mode.Apply(0o777, true, applet.Umask())
		if err := os.Chmod(name, applet.FromUnix(bits)); err != nil {
			m.c.Warn("cannot set permissions of ", applet.Quote(name), ": ", applet.Reason(err))
			return false
		}
	}
	return true
}

// all makes a folder and those above it.
func (m *maker) all(name string) bool {
	end := 0
	for {
		for end < len(name) && name[end] == '/' {
			end++
		}
		next := strings.IndexByte(name[end:], '/')
		last := next < 0 || strings.Trim(name[end+next:], "/") == ""
		part := name
		if !last {
			end += next
			part = name[:end]
		}
		fi, err := os.Stat(part)
		switch {
		case err == nil && fi.IsDir():
		case err == nil:
			reason := "File exists"
			if !last {
				reason = "Not a directory"
			}
			m.c.Warn("cannot create directory ", applet.Curly(part), ": ", reason)
			return false
		case errors.Is(err, fs.ErrNotExist):
			if !m.one(part, last) {
				return false
			}
		default:
			m.c.Warn("cannot create directory ", applet.Curly(part), ": ", applet.Reason(err))
			return false
		}
		if last {
			return true
		}
	}
}

func rmdir(c *applet.Ctx) int {
	var ignore, parents, verbose bool
	names, status, ok := c.Parse(1,
		applet.Bool(&ignore, 0, "ignore-fail-on-non-empty"),
		applet.Bool(&parents, 'p', "parents"),
		applet.Bool(&parents, 0, "path"),
		applet.Bool(&verbose, 'v', "verbose"),
	)
	if !ok {
		return status
	}
	if len(names) == 0 {
		return c.Usage("missing operand")
	}
	ok = true
	for _, name := range names {
		what := "failed to remove "
		for {
			if verbose {
				io.WriteString(c.Stdout, "rmdir: removing directory, "+applet.Quote(name)+"\n")
			}
			if err := syscall.Rmdir(name); err != nil {
				full := errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
				if !ignore || !full {
					c.Warn(what, applet.Quote(name), ": ", applet.Reason(err))
					ok = false
				}
				break
			}
			name = strings.TrimRight(name, "/")
			up := strings.LastIndexByte(name, '/')
			if !parents || up <= 0 {
				break
			}
			name = strings.TrimRight(name[:up], "/")
			what = "failed to remove directory "
		}
	}
	return applet.Status(ok)
}
