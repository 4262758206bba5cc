// Package sysinfo holds the commands that tell about the system: id, whoami,
// hostname, uname, nproc, arch, tty, uptime and sync. What they tell is that of
// the sandbox, the same on every host.
package sysinfo

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// What uname tells.
const (
	kernel  = "Linux"
	release = "6.1.0-donax"
	version = "#1 donax"
	machine = "wasm32"
	system  = "GNU/Linux"
)

// Whoami is the command whoami.
var Whoami = applet.Command{
	Name:     "whoami",
	Synopsis: "[OPTION]...",
	Summary:  "print the user name associated with the current effective user ID",
	Run:      func(c *applet.Ctx) int { return word(c, applet.UserName) },
}

// Arch is the command arch.
var Arch = applet.Command{
	Name:     "arch",
	Synopsis: "[OPTION]...",
	Summary:  "print machine architecture",
	Run:      func(c *applet.Ctx) int { return word(c, machine) },
}

// word prints one word; there are neither options nor operands.
func word(c *applet.Ctx, s string) int {
	args, status, ok := c.Bare()
	if !ok {
		return status
	}
	if len(args) > 0 {
		return c.ExtraOperand(args[0])
	}
	c.Out().WriteString(s + "\n")
	return 0
}

// Uname is the command uname.
var Uname = applet.Command{
	Name:     "uname",
	Synopsis: "[OPTION]...",
	Summary:  "print certain system information",
	Help: `  -a, --all                print all information
  -s, --kernel-name        print the kernel name
  -n, --nodename           print the network node hostname
  -r, --kernel-release     print the kernel release
  -v, --kernel-version     print the kernel version
  -m, --machine            print the machine hardware name
  -p, --processor          print the processor type
  -i, --hardware-platform  print the hardware platform
  -o, --operating-system   print the operating system`,
	Run: uname,
}

func uname(c *applet.Ctx) int {
	values := []string{kernel, applet.HostName, release, version, machine, "unknown", "unknown", system}
	want := make([]bool, len(values))
	all := false
	opts := []applet.Opt{applet.Bool(&all, 'a', "all")}
	for i, long := range []string{"kernel-name", "nodename", "kernel-release", "kernel-version", "machine", "processor", "hardware-platform", "operating-system"} {
		opts = append(opts, applet.Bool(&want[i], rune("snrvmpio"[i]), long))
	}
	args, status, ok := c.Parse(1, opts...)
	if !ok {
		return status
	}
	if len(args) > 0 {
		return c.ExtraOperand(args[0])
	}
	var out []string
	any := false
	for _, w := range want {
		any = any || w
	}
	for i, v := range values {
		switch {
		case all && v != "unknown", want[i], !any && !all && i == 0:
			out = append(out, v)
		}
	}
	c.Out().WriteString(strings.Join(out, " ") + "\n")
	return 0
}

// Hostname is the command hostname.
var Hostname = applet.Command{
	Name:     "hostname",
	Synopsis: "[-f|-s|-d|-i|-I]",
	Summary:  "show the system's host name",
	Help: `  -f, --fqdn, --long    long host name
  -s, --short           short host name
  -d, --domain          DNS domain name
  -i, --ip-address      addresses for the host name
  -I, --all-ip-addresses  all addresses for the host`,
	Run: hostname,
}

func hostname(c *applet.Ctx) int {
	text := applet.HostName
	set := func(s string) func() { return func() { text = s } }
	args, status, ok := c.Parse(1,
		applet.Do(set(applet.HostName), 'f', "fqdn"), applet.Do(set(applet.HostName), 0, "long"),
		applet.Do(set(applet.HostName), 's', "short"), applet.Do(set(""), 'd', "domain"),
		applet.Do(set("127.0.0.1"), 'i', "ip-address"), applet.Do(set(""), 'I', "all-ip-addresses"),
	)
	if !ok {
		return status
	}
	if len(args) > 0 {
		c.Warn("you must be root to change the host name")
		return 1
	}
	c.Out().WriteString(text + "\n")
	return 0
}

// Nproc is the command nproc.
var Nproc = applet.Command{
	Name:     "nproc",
	Synopsis: "[OPTION]...",
	Summary:  "print the number of processing units available to the current process",
	Help: `      --all      print the number of installed processors
      --ignore=N  if possible, exclude N processing units`,
	Run: nproc,
}

func nproc(c *applet.Ctx) int {
	all := false
	args, status, ok := c.Parse(1,
		applet.Bool(&all, 0, "all"),
		applet.Func(func(v string) error {
			if _, err := applet.ParseSize(v, ""); err != nil {
				return errors.New("invalid number: " + applet.Curly(v))
			}
			return nil
		}, 0, "ignore"),
	)
	if !ok {
		return status
	}
	if len(args) > 0 {
		return c.ExtraOperand(args[0])
	}
	c.Out().WriteString("1\n")
	return 0
}

// Tty is the command tty.
var Tty = applet.Command{
	Name:     "tty",
	Synopsis: "[OPTION]...",
	Summary:  "print the file name of the terminal connected to standard input",
	Help:     `  -s, --silent, --quiet   print nothing, only return an exit status`,
	Run:      tty,
}

func tty(c *applet.Ctx) int {
	silent := false
	args, status, ok := c.Parse(2, applet.Bool(&silent, 's', "silent"), applet.Bool(&silent, 0, "quiet"))
	if !ok {
		return status
	}
	if len(args) > 0 {
		c.ExtraOperand(args[0])
		return 2
	}
	if !silent {
		c.Out().WriteString("not a tty\n")
	}
	return 1
}

// Uptime is the command uptime. How long the host has been up is none of the
// sandbox's business.
var Uptime = applet.Command{
	Name:     "uptime",
	Synopsis: "[OPTION]...",
	Summary:  "tell how long the sandbox has been running",
	Help: `  -p, --pretty   show uptime in pretty format
  -s, --since    system up since`,
	Run: uptime,
}

func uptime(c *applet.Ctx) int {
	var pretty, since bool
	_, status, ok := c.Parse(1, applet.Bool(&pretty, 'p', "pretty"), applet.Bool(&since, 's', "since"))
	if !ok {
		return status
	}
	now := time.Now()
	switch {
	case pretty:
		c.Out().WriteString("up 0 minutes\n")
	case since:
		c.Out().Write(cformat.AppendTime(nil, "%Y-%m-%d %H:%M:%S\n", now))
	default:
		c.Out().Write(cformat.AppendTime(nil, " %H:%M:%S up 0 min,  0 users,  load average: 0.00, 0.00, 0.00\n", now))
	}
	return 0
}

// Sync is the command sync. Files are written through at once.
var Sync = applet.Command{
	Name:     "sync",
	Synopsis: "[OPTION] [FILE]...",
	Summary:  "synchronize cached writes to persistent storage",
	Help: `  -d, --data             sync only file data, no unneeded metadata
  -f, --file-system      sync the file systems that contain the files`,
	Run: sync,
}

func sync(c *applet.Ctx) int {
	var data, system bool
	files, status, ok := c.Parse(1, applet.Bool(&data, 'd', "data"), applet.Bool(&system, 'f', "file-system"))
	if !ok {
		return status
	}
	switch {
	case data && system:
		c.Warn("cannot specify both --data and --file-system")
		return 1
	case data && len(files) == 0:
		c.Warn("--data needs at least one argument")
		return 1
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			c.Warn("error opening ", applet.Quote(name), ": ", applet.Reason(err))
			ok = false
			continue
		}
		f.Close()
	}
	return applet.Status(ok)
}

// ID is the command id.
var ID = applet.Command{
	Name:     "id",
	Synopsis: "[OPTION]... [USER]...",
	Summary:  "print user and group information for the specified USER or the current one",
	Help: `  -a             (accepted, no effect)
  -g, --group    print only the effective group ID
  -G, --groups   print all group IDs
  -n, --name     print a name instead of a number, for -ugG
  -r, --real     print the real ID instead of the effective ID, with -ugG
  -u, --user     print only the effective user ID
  -z, --zero     delimit entries with NUL characters, not whitespace`,
	Run: id,
}

func id(c *applet.Ctx) int {
	var group, groups, name, real, user, zero, ignored bool
	args, status, ok := c.Parse(1,
		applet.Bool(&ignored, 'a', ""), applet.Bool(&group, 'g', "group"), applet.Bool(&groups, 'G', "groups"), applet.Bool(&name, 'n', "name"),
		applet.Bool(&real, 'r', "real"), applet.Bool(&user, 'u', "user"), applet.Bool(&zero, 'z', "zero"),
	)
	if !ok {
		return status
	}
	chosen := 0
	for _, b := range []bool{group, groups, user} {
		if b {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		c.Warn("cannot print \"only\" of more than one choice")
		return 1
	case chosen == 0 && (name || real):
		c.Warn("cannot print only names or real IDs in default format")
		return 1
	case chosen == 0 && zero:
		c.Warn("option --zero not permitted in default format")
		return 1
	}
	if len(args) == 0 {
		args = []string{applet.UserName}
	}
	number := strconv.Itoa(applet.UserID)
	text := "uid=" + number + "(" + applet.UserName + ") gid=" + number + "(" + applet.UserName + ") groups=" + number + "(" + applet.UserName + ")"
	if chosen == 1 {
		if text = number; name {
			text = applet.UserName
		}
	}
	end := "\n"
	if zero {
		end = "\x00"
	}
	for _, a := range args {
		if a != applet.UserName && a != number && a != "+"+number {
			c.Warn(applet.Curly(a), ": no such user")
			ok = false
			continue
		}
		c.Out().WriteString(text + end)
	}
	return applet.Status(ok)
}
