// Package chmod is the command chmod.
package chmod

import (
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/filemode"
)

// Command is chmod.
var Command = applet.Command{
	Name:     "chmod",
	Synopsis: "[OPTION]... MODE[,MODE]... FILE...",
	Summary:  "change the mode of each FILE to MODE",
	Help: `  -c, --changes          like verbose but report only when a change is made
  -f, --silent, --quiet  suppress most error messages
  -v, --verbose          output a diagnostic for every file processed
      --no-preserve-root  do not treat '/' specially (the default)
      --preserve-root    fail to operate recursively on '/'
      --reference=RFILE  use RFILE's mode instead of specifying MODE values
  -R, --recursive        change files and directories recursively
MODE is of the form '[ugoa]*([-+=]([rwxXst]*|[ugo]))+|[-+=][0-7]+'.`,
	Run: run,
}

type changer struct {
	c                                        *applet.Ctx
	mode                                     filemode.Mode
	changes, quiet, verbose, root, recursive bool
	ok                                       bool
}

func run(c *applet.Ctx) int {
	k := changer{c: c, ok: true}
	reference, hasReference := "", false
	mode := takeMode(c)
	args, status, ok := c.Parse(1,
		applet.Bool(&k.changes, 'c', "changes"),
		applet.Bool(&k.quiet, 'f', "silent"),
		applet.Bool(&k.quiet, 0, "quiet"),
		applet.Bool(&k.verbose, 'v', "verbose"),
		applet.Do(func() { k.root = false }, 0, "no-preserve-root"),
		applet.Bool(&k.root, 0, "preserve-root"),
		applet.Func(func(v string) error { reference, hasReference = v, true; return nil }, 0, "reference"),
		applet.Bool(&k.recursive, 'R', "recursive"),
	)
	if !ok {
		return status
	}
	if mode == "" && !hasReference {
		if len(args) == 0 {
			return c.Usage("missing operand")
		}
		mode, args = args[0], args[1:]
	}
	switch {
	case len(args) == 0 && hasReference:
		return c.Usage("missing operand")
	case len(args) == 0:
		return c.Usage("missing operand after ", applet.Curly(mode))
	}
	if hasReference {
		fi, err := os.Stat(reference)
		if err != nil {
			c.Warn("failed to get attributes of ", applet.Quote(reference), ": ", applet.Reason(err))
			return 1
		}
		mode = "0" + strconv.FormatUint(uint64(applet.UnixMode(fi.Mode())), 8)
	}
	if k.mode, ok = filemode.Parse(mode); !ok {
		return c.Usage("invalid mode: ", applet.Curly(mode))
	}
	for _, name := range args {
		if k.recursive && k.root && strings.Trim(name, "/") == "" && name != "" {
			c.Warn("it is dangerous to operate recursively on '/'")
			c.Warn("use --no-preserve-root to override this failsafe")
			k.ok = false
			continue
		}
		k.change(name, true)
	}
	return applet.Status(k.ok)
}

// takeMode takes a mode that begins with a dash, such as -x, from the
// arguments.
func takeMode(c *applet.Ctx) string {
	for i, a := range c.Args {
		if a == "--" {
			return ""
		}
		if len(a) > 1 && a[0] == '-' && strings.IndexByte("rwxXstugoa=+,01234567", a[1]) >= 0 {
			c.Args = append(append([]string{}, c.Args[:i]...), c.Args[i+1:]...)
			return a
		}
	}
	return ""
}

func (k *changer) fail(parts ...string) {
	k.ok = false
	if !k.quiet {
		k.c.Warn(parts...)
	}
}

func (k *changer) change(name string, argument bool) {
	fi, err := os.Stat(name)
	if link, lerr := os.Lstat(name); lerr == nil && link.Mode()&fs.ModeSymlink != 0 {
		if !argument {
			if k.verbose {
				k.c.Out().WriteString("neither symbolic link " + applet.Quote(name) + " nor referent has been changed\n")
			}
			return
		}
		if err != nil {
			k.fail("cannot operate on dangling symlink ", applet.Quote(name))
			return
		}
	}
	if err != nil {
		k.fail("cannot access ", applet.Quote(name), ": ", applet.Reason(err))
		return
	}
	old := applet.UnixMode(fi.Mode())
	bits := k.mode.Apply(old, fi.IsDir(), applet.Umask())
	if bits != old {
		if err := os.Chmod(name, applet.FromUnix(bits)); err != nil {
			k.fail("changing permissions of ", applet.Quote(name), ": ", applet.Reason(err))
			return
		}
	}
	switch {
	case bits != old && (k.verbose || k.changes):
		k.c.Out().WriteString("mode of " + applet.Quote(name) + " changed from " + describe(old) + " to " + describe(bits) + "\n")
	case k.verbose:
		k.c.Out().WriteString("mode of " + applet.Quote(name) + " retained as " + describe(bits) + "\n")
	}
	if !k.recursive || !fi.IsDir() {
		return
	}
	d, err := os.Open(name)
	if err != nil {
		k.fail("cannot read directory ", applet.Quote(name), ": ", applet.Reason(err))
		return
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		k.fail("cannot read directory ", applet.Quote(name), ": ", applet.Reason(err))
		return
	}
	for _, e := range entries {
		k.change(strings.TrimSuffix(name, "/")+"/"+e.Name(), false)
	}
}

// describe writes 0644 (rw-r--r--).
func describe(bits uint32) string {
	octal := strconv.FormatUint(uint64(bits), 8)
	return strings.Repeat("0", 4-len(octal)) + octal + " (" + applet.ModeString(applet.FromUnix(bits))[1:] + ")"
}
