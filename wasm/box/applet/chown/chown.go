// Package chown holds chown and chgrp. All files of the sandbox belong to its
// one user, who like any user but root can give none of them away.
package chown

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

const help = `  -c, --changes          like verbose but report only when a change is made
  -f, --silent, --quiet  suppress most error messages
  -v, --verbose          output a diagnostic for every file processed
      --dereference      affect the referent of each symbolic link (the default)
  -h, --no-dereference   affect symbolic links instead of any referenced file
      --from=CURRENT     change only what has the owner and group CURRENT
      --no-preserve-root  do not treat '/' specially (the default)
      --preserve-root    fail to operate recursively on '/'
      --reference=RFILE  use RFILE's owner and group
  -R, --recursive        operate on files and directories recursively
  -H, -L, -P             accepted with -R; symbolic links are not followed`

// Chown is the command chown.
var Chown = applet.Command{Name: "chown", Synopsis: "[OPTION]... [OWNER][:[GROUP]] FILE...", Summary: "change the owner and group of each FILE", Help: help, Run: run}

// Chgrp is the command chgrp.
var Chgrp = applet.Command{Name: "chgrp", Synopsis: "[OPTION]... GROUP FILE...", Summary: "change the group of each FILE", Help: help, Run: run}

// ids are the accounts that have a name; users and groups are the same ones.
var ids = map[string]int{"root": 0, applet.UserName: applet.UserID, "nobody": 65534}

type changer struct {
	*applet.Ctx
	user, group                    int // -1: as it is
	shown                          string
	changes, quiet, verbose, links bool
	recursive, ok                  bool
}

func run(c *applet.Ctx) int {
	k := changer{Ctx: c, user: -1, group: -1, ok: true}
	var reference, from string
	var referenced, root, ignored bool
	args, status, ok := c.Parse(1,
		applet.Bool(&k.changes, 'c', "changes"),
		applet.Bool(&k.quiet, 'f', "silent"),
		applet.Bool(&k.quiet, 0, "quiet"),
		applet.Bool(&k.verbose, 'v', "verbose"),
		applet.Do(func() { k.links = false }, 0, "dereference"),
		applet.Bool(&k.links, 'h', "no-dereference"),
		applet.String(&from, 0, "from"),
		applet.Do(func() { root = false }, 0, "no-preserve-root"),
		applet.Bool(&root, 0, "preserve-root"),
		applet.Func(func(v string) error { reference, referenced = v, true; return nil }, 0, "reference"),
		applet.Bool(&k.recursive, 'R', "recursive"),
		applet.Bool(&ignored, 'H', ""),
		applet.Bool(&ignored, 'L', ""),
		applet.Bool(&ignored, 'P', ""),
	)
	if !ok {
		return status
	}
	if !referenced {
		if len(args) == 0 {
			return c.Usage("missing operand")
		}
		if why := k.owner(args[0]); why != "" {
			c.Warn(why)
			return 1
		}
		if len(args) == 1 {
			return c.Usage("missing operand after ", applet.Curly(args[0]))
		}
		args = args[1:]
	} else {
		if len(args) == 0 {
			return c.Usage("missing operand")
		}
		if _, err := os.Stat(reference); err != nil {
			c.Warn("failed to get attributes of ", applet.Quote(reference), ": ", applet.Reason(err))
			return 1
		}
		k.user, k.group, k.shown = applet.UserID, applet.UserID, applet.UserName+":"+applet.UserName
		if c.Cmd.Name == "chgrp" {
			k.user, k.shown = -1, applet.UserName
		}
	}
	if from != "" {
		other := changer{Ctx: c, user: -1, group: -1}
		if why := other.owner(from); why != "" {
			c.Warn(why)
			return 1
		}
		if other.user >= 0 && other.user != applet.UserID || other.group >= 0 && other.group != applet.UserID {
			k.user, k.group = -1, -1 // no file is theirs
		}
	}
	for _, name := range args {
		switch {
		case k.recursive && root && strings.Trim(name, "/") == "" && name != "":
			c.Warn("it is dangerous to operate recursively on '/'")
			c.Warn("use --no-preserve-root to override this failsafe")
			k.ok = false
		case k.recursive:
			k.walk(name)
		default:
			k.change(name)
		}
	}
	return applet.Status(k.ok)
}

// owner reads what is to own the files; the answer is a complaint.
func (k *changer) owner(spec string) string {
	k.shown = spec
	if k.Cmd.Name == "chgrp" {
		if spec == "" {
			return ""
		}
		if k.group = lookup(spec); k.group < 0 {
			return "invalid group: " + applet.Curly(spec)
		}
		return ""
	}
	user, group, both := strings.Cut(spec, ":")
	if user != "" {
		if k.user = lookup(user); k.user < 0 {
			return "invalid user: " + applet.Curly(spec)
		}
	}
	switch {
	case group != "":
		if k.group = lookup(group); k.group < 0 {
			return "invalid group: " + applet.Curly(spec)
		}
	case both && user != "": // "name:" is the group of that name's login too
		k.group = k.user
		k.shown = user + ":" + user
	}
	return ""
}

// lookup returns the id of a name or a number, -1 for none.
func lookup(s string) int {
	if id, ok := ids[s]; ok {
		return id
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 32)
	if err != nil {
		return -1
	}
	return int(n)
}

func (k *changer) fail(parts ...string) {
	k.ok = false
	if !k.quiet {
		k.Flush()
		k.Warn(parts...)
	}
}

func (k *changer) walk(name string) {
	err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		k.change(path)
		return nil
	})
	if err != nil {
		k.fail("cannot access ", applet.Quote(name), ": ", applet.Reason(err))
	}
}

func (k *changer) change(name string) {
	stat := os.Stat
	if k.links || k.recursive {
		stat = os.Lstat
	}
	if _, err := stat(name); err != nil {
		k.fail("cannot access ", applet.Quote(name), ": ", applet.Reason(err))
		return
	}
	what, old := "ownership", applet.UserName
	if k.user < 0 && k.group >= 0 {
		what = "group"
	} else if k.group >= 0 {
		old += ":" + applet.UserName
	}
	mine := (k.user < 0 || k.user == applet.UserID) && (k.group < 0 || k.group == applet.UserID)
	if !mine {
		k.fail("changing ", what, " of ", applet.Quote(name), ": Operation not permitted")
		if k.verbose {
			k.Out().WriteString("failed to change " + what + " of " + applet.Quote(name) + " from " + old + " to " + k.shown + "\n")
		}
		return
	}
	if k.verbose {
		if k.user < 0 && k.group < 0 {
			old = applet.UserName
			what = "ownership"
		}
		k.Out().WriteString(what + " of " + applet.Quote(name) + " retained as " + old + "\n")
	}
}
