// Package readlink holds the commands readlink and realpath.
package readlink

import (
	"os"
	"path"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Readlink is the command readlink.
var Readlink = applet.Command{
	Name:     "readlink",
	Synopsis: "[OPTION]... FILE...",
	Summary:  "print value of a symbolic link or canonical file name",
	Help: `  -f, --canonicalize            follow every symlink in every component;
                                  all but the last must exist
  -e, --canonicalize-existing   likewise; all components must exist
  -m, --canonicalize-missing    likewise, without requirements
  -n, --no-newline              do not output the trailing delimiter
  -q, --quiet, -s, --silent     suppress most error messages (on by default)
  -v, --verbose                 report error messages
  -z, --zero                    end each output line with NUL, not newline`,
	Run: readlink,
}

// Realpath is the command realpath.
var Realpath = applet.Command{
	Name:     "realpath",
	Synopsis: "[OPTION]... FILE...",
	Summary:  "print the resolved absolute file name",
	Help: `  -e, --canonicalize-existing  all components of the path must exist
  -m, --canonicalize-missing   no path components need exist
  -L, --logical                resolve '..' components before symlinks
  -P, --physical               resolve symlinks as encountered (default)
  -q, --quiet                  suppress most error messages
      --relative-to=DIR        print the resolved path relative to DIR
      --relative-base=DIR      print absolute paths unless paths below DIR
  -s, --strip, --no-symlinks   don't expand symlinks
  -z, --zero                   end each output line with NUL, not newline`,
	Run: realpath,
}

func readlink(c *applet.Ctx) int {
	var noNewline, verbose, zero bool
	demand := -1
	set := func(v int) func() { return func() { demand = v } }
	names, status, ok := c.Parse(1,
		applet.Do(set(applet.ParentsExist), 'f', "canonicalize"),
		applet.Do(set(applet.MustExist), 'e', "canonicalize-existing"),
		applet.Do(set(applet.MayBeMissing), 'm', "canonicalize-missing"),
		applet.Bool(&noNewline, 'n', "no-newline"),
		applet.Do(func() { verbose = false }, 'q', "quiet"),
		applet.Do(func() { verbose = false }, 's', "silent"),
		applet.Bool(&verbose, 'v', "verbose"),
		applet.Bool(&zero, 'z', "zero"),
	)
	if !ok {
		return status
	}
	if len(names) == 0 {
		return c.Usage("missing operand")
	}
	if len(names) > 1 && noNewline {
		c.Warn("ignoring --no-newline with multiple arguments")
		noNewline = false
	}
	for _, name := range names {
		var target string
		var err error
		if demand < 0 {
			target, err = os.Readlink(name)
		} else {
			target, err = applet.Resolve(name, demand)
		}
		if err != nil {
			ok = false
			if verbose {
				c.WarnName(name, err)
			}
			continue
		}
		put(c, target, zero, noNewline)
	}
	return applet.Status(ok)
}

func put(c *applet.Ctx, text string, zero, none bool) {
	end := "\n"
	if zero {
		end = "\x00"
	}
	if none {
		end = ""
	}
	c.Out().WriteString(text + end)
}

func realpath(c *applet.Ctx) int {
	var quiet, strip, logical, zero bool
	to, base := "", ""
	demand := applet.ParentsExist
	names, status, ok := c.Parse(1,
		applet.Do(func() { demand = applet.MustExist }, 'e', "canonicalize-existing"),
		applet.Do(func() { demand = applet.MayBeMissing }, 'm', "canonicalize-missing"),
		applet.Do(func() { logical, strip = true, false }, 'L', "logical"),
		applet.Do(func() { logical, strip = false, false }, 'P', "physical"),
		applet.Bool(&quiet, 'q', "quiet"),
		applet.String(&to, 0, "relative-to"),
		applet.String(&base, 0, "relative-base"),
		applet.Do(func() { strip = true }, 's', "strip"),
		applet.Do(func() { strip = true }, 0, "no-symlinks"),
		applet.Bool(&zero, 'z', "zero"),
	)
	if !ok {
		return status
	}
	if len(names) == 0 {
		return c.Usage("missing operand")
	}
	resolve := func(name string, demand int) (string, error) {
		if name != "" && (strip || logical) {
			full := name
			if !strings.HasPrefix(full, "/") {
				wd, err := os.Getwd()
				if err != nil {
					return "", err
				}
				full = wd + "/" + full
			}
			clean := path.Clean(full)
			if strip {
				_, err := applet.Resolve(name, demand)
				return clean, err
			}
			name = clean
		}
		return applet.Resolve(name, demand)
	}
	for _, dir := range []*string{&to, &base} {
		if *dir == "" {
			continue
		}
		full, err := resolve(*dir, demand)
		if fi, serr := os.Stat(*dir); err == nil && demand == applet.MustExist && serr == nil && !fi.IsDir() {
			c.Warn(applet.Name(*dir), ": Not a directory")
			return 1
		}
		if err != nil {
			c.WarnName(*dir, err)
			return 1
		}
		*dir = full
	}
	if base != "" && to == "" {
		to = base
	} else if base != "" && !below(base, to) {
		to, base = "", "" // then all names are absolute
	}
	for _, name := range names {
		full, err := resolve(name, demand)
		if err != nil {
			ok = false
			if !quiet {
				c.WarnName(name, err)
			}
			continue
		}
		if to != "" && (base == "" || below(base, full)) {
			full = applet.Relative(to, full)
		}
		put(c, full, zero, false)
	}
	return applet.Status(ok)
}

func below(dir, name string) bool {
	return dir == "/" || name == dir || strings.HasPrefix(name, dir+"/")
}
