package sysinfo

import "github.com/donax-sh/donax/wasm/box/applet"

// Logname is the command logname.
var Logname = applet.Command{
	Name:     "logname",
	Synopsis: "[OPTION]",
	Summary:  "print the user's login name",
	Run:      func(c *applet.Ctx) int { return word(c, applet.UserName) },
}

// Groups is the command groups.
var Groups = applet.Command{
	Name:     "groups",
	Synopsis: "[OPTION]... [USERNAME]...",
	Summary:  "print the groups that users are in",
	Run:      groups,
}

func groups(c *applet.Ctx) int {
	users, status, ok := c.Bare()
	if !ok {
		return status
	}
	if len(users) == 0 {
		c.Out().WriteString(applet.UserName + "\n")
	}
	for _, u := range users {
		if u != applet.UserName {
			c.Warn(applet.Curly(u), ": no such user")
			ok = false
			continue
		}
		c.Out().WriteString(u + " : " + u + "\n")
	}
	return applet.Status(ok)
}

// Users is the command users. Nobody has logged in.
var Users = applet.Command{
	Name:     "users",
	Synopsis: "[OPTION]... [FILE]",
	Summary:  "print the user names of users currently logged in",
	Run: func(c *applet.Ctx) int {
		args, status, ok := c.Bare()
		if ok && len(args) > 1 {
			return c.ExtraOperand(args[1])
		}
		return status
	},
}

// Who is the command who. Nobody has logged in.
var Who = applet.Command{
	Name:     "who",
	Synopsis: "[OPTION]... [ FILE | ARG1 ARG2 ]",
	Summary:  "print information about users who are currently logged in",
	Help: `  -H, --heading  print line of column headings
  -m             only hostname and user associated with stdin
  -q, --count    all login names and number of users logged on
  -s, --short    print only name, line, and time (default)
  -u, --users    list users logged in`,
	Run: who,
}

func who(c *applet.Ctx) int {
	var heading, mine, count, short, users bool
	args, status, ok := c.Parse(1,
		applet.Bool(&heading, 'H', "heading"), applet.Bool(&mine, 'm', ""), applet.Bool(&count, 'q', "count"),
		applet.Bool(&short, 's', "short"), applet.Bool(&users, 'u', "users"),
	)
	switch {
	case !ok:
		return status
	case len(args) > 2:
		return c.ExtraOperand(args[2])
	case count:
		c.Out().WriteString("\n# users=0\n")
	case heading && users:
		c.Out().WriteString("NAME     LINE         TIME             IDLE          PID COMMENT\n")
	case heading:
		c.Out().WriteString("NAME     LINE         TIME             COMMENT\n")
	}
	return 0
}
