// Package mktemp is the command mktemp.
package mktemp

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is mktemp.
var Command = applet.Command{
	Name:     "mktemp",
	Synopsis: "[OPTION]... [TEMPLATE]",
	Summary:  "create a temporary file or directory, safely, and print its name",
	Help: `  -d, --directory     create a directory, not a file
  -u, --dry-run       do not create anything; merely print a name (unsafe)
  -q, --quiet         suppress diagnostics about file/dir-creation failure
      --suffix=SUFF   append SUFF to TEMPLATE; SUFF must not contain a slash
  -p DIR, --tmpdir[=DIR]  interpret TEMPLATE relative to DIR; if DIR is not
                        specified, use $TMPDIR if set, else /tmp
  -t                  interpret TEMPLATE as a single file name component,
                        relative to a directory`,
	Run: run,
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func run(c *applet.Ctx) int {
	var dir, dry, quiet, inTmp, single, hasSuffix bool
	suffix, tmp := "", ""
	args, status, ok := c.Parse(1,
		applet.Bool(&dir, 'd', "directory"),
		applet.Bool(&dry, 'u', "dry-run"),
		applet.Bool(&quiet, 'q', "quiet"),
		applet.Func(func(v string) error { suffix, hasSuffix = v, true; return nil }, 0, "suffix"),
		applet.Func(func(v string) error { tmp, inTmp = v, true; return nil }, 'p', ""),
		applet.Optional(func(v string, given bool) error { tmp, inTmp = v, true; return nil }, 0, "tmpdir"),
		applet.Do(func() { inTmp, single = true, true }, 't', ""),
	)
	if !ok {
		return status
	}
	if len(args) > 1 {
		return c.Usage("too many templates")
	}
	template := "tmp.XXXXXXXXXX"
	if len(args) == 0 {
		inTmp = true
	} else {
		template = args[0]
	}
	if hasSuffix {
		if !strings.HasSuffix(template, "X") {
			c.Warn("with --suffix, template ", applet.Curly(template), " must end in X")
			return 1
		}
	} else if i := strings.LastIndexByte(template, 'X'); i >= 0 {
		template, suffix = template[:i+1], template[i+1:]
	}
	if strings.Contains(suffix, "/") {
		c.Warn("invalid suffix ", applet.Curly(suffix), ", contains directory separator")
		return 1
	}
	fixed := strings.TrimRight(template, "X")
	n := len(template) - len(fixed)
	if n < 3 {
		c.Warn("too few X's in template ", applet.Curly(template+suffix))
		return 1
	}
	if inTmp {
		if single {
			if t := os.Getenv("TMPDIR"); t != "" {
				tmp = t
			} else if tmp == "" {
				tmp = "/tmp"
			}
			if strings.Contains(fixed, "/") {
				c.Warn("invalid template, ", applet.Curly(template+suffix), ", contains directory separator")
				return 1
			}
		} else {
			if tmp == "" {
				if tmp = os.Getenv("TMPDIR"); tmp == "" {
					tmp = "/tmp"
				}
			}
			if strings.HasPrefix(fixed, "/") {
				c.Warn("invalid template, ", applet.Curly(template+suffix), "; with --tmpdir, it may not be absolute")
				return 1
			}
		}
		fixed = strings.TrimRight(tmp, "/") + "/" + fixed
	}
	for try := 0; ; try++ {
		name := fixed + random(n) + suffix
		err := create(name, dir, dry)
		if err == nil {
			c.Out().WriteString(name + "\n")
			return 0
		}
		if !errors.Is(err, fs.ErrExist) || try > 100 {
			if !quiet {
				what := "failed to create file via template "
				if dir {
					what = "failed to create directory via template "
				}
				c.Warn(what, applet.Curly(fixed+strings.Repeat("X", n)+suffix), ": ", applet.Reason(err))
			}
			return 1
		}
	}
}

func create(name string, dir, dry bool) error {
	switch {
	case dry:
		if _, err := os.Lstat(name); err == nil {
			return fs.ErrExist
		}
		return nil
	case dir:
		return os.Mkdir(name, 0o700)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func random(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}
