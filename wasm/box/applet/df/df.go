// Package df is df and free: what the sandbox's files and memory may take.
package df

import (
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Df is the command df.
var Df = applet.Command{
	Name:     "df",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "report file system space usage",
	Help: `  -a, --all             include file systems that nothing can be written to
  -B, --block-size=SIZE scale sizes by SIZE before printing them
  -h, --human-readable  print sizes in powers of 1024 (e.g., 1023M)
  -H, --si              print sizes in powers of 1000 (e.g., 1.1G)
  -i, --inodes          list inode information instead of block usage
  -k                    like --block-size=1K
  -l, --local           no effect: all file systems are local
  -m                    like --block-size=1M
      --output[=FIELD_LIST]  use the output format defined by FIELD_LIST: source,
                          fstype, itotal, iused, iavail, ipcent, size, used,
                          avail, pcent, file and target
  -P, --portability     use the POSIX output format
      --sync, --no-sync  no effect
      --total           add a line for what all file systems share
  -t, --type=TYPE       limit listing to file systems of type TYPE
  -T, --print-type      print file system type
  -x, --exclude-type=TYPE  leave out file systems of type TYPE`,
	Run: df,
}

// mount is a line of /proc/mounts.
type mount struct {
	source, target, kind string
	file                 string // the operand that asked for it
	writable             bool
}

// counted is what may be used of something.
type counted struct{ used, most int64 }

// facts are what /proc tells of the file systems.
type facts struct {
	mounts       []mount
	bytes, names counted
}

func read() (f facts, err error) {
	table, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return f, err
	}
	quota, err := os.ReadFile("/proc/quota")
	if err != nil {
		return f, err
	}
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(table)) {
		if w := strings.Fields(line); len(w) > 3 {
			f.mounts = append(f.mounts, mount{source: w[0], target: plain.Replace(w[1]), kind: w[2], writable: w[3] == "rw"})
		}
	}
	for line := range strings.Lines(string(quota)) {
		w := strings.Fields(line)
		if len(w) < 3 {
			continue
		}
		var n counted
		n.used, _ = strconv.ParseInt(w[1], 10, 64)
		n.most, _ = strconv.ParseInt(w[2], 10, 64)
		switch w[0] {
		case "bytes":
			f.bytes = n
		case "names":
			f.names = n
		}
	}
	return f, nil
}

// of finds the file system that holds a file: the one whose mount point is the
// longest part of the name.
func (f facts) of(name string) (mount, error) {
	path, err := applet.Resolve(name, applet.MustExist)
	if err != nil {
		return mount{}, err
	}
	var best mount
	for _, m := range f.mounts {
		if len(m.target) > len(best.target) && (path == m.target || m.target == "/" || strings.HasPrefix(path, m.target+"/")) {
			best = m
		}
	}
	if best.target == "" { // above all of them
		best = mount{source: "donax", target: "/", kind: "donax"}
	}
	best.file = name
	return best, nil
}

type options struct {
	all, inodes, posix, kind, total bool
	unit, human                     int64
	columns                         []string
	only, without                   []string
}

func df(c *applet.Ctx) int {
	o := options{unit: 1024}
	var local bool
	args, status, ok := c.Parse(1,
		applet.Bool(&o.all, 'a', "all"), applet.Bool(&o.inodes, 'i', "inodes"), applet.Bool(&local, 'l', "local"),
		applet.Func(o.setUnit, 'B', "block-size"),
		applet.Do(func() { o.human = 1024 }, 'h', "human-readable"), applet.Do(func() { o.human = 1000 }, 'H', "si"),
		applet.Do(func() { o.unit, o.human = 1024, 0 }, 'k', ""), applet.Do(func() { o.unit, o.human = 1<<20, 0 }, 'm', ""),
		applet.Optional(o.setColumns, 0, "output"),
		applet.Bool(&o.posix, 'P', "portability"), applet.Do(func() {}, 0, "sync"), applet.Do(func() {}, 0, "no-sync"),
		applet.Bool(&o.total, 0, "total"), applet.Bool(&o.kind, 'T', "print-type"),
		applet.Func(func(v string) error { o.only = append(o.only, v); return nil }, 't', "type"),
		applet.Func(func(v string) error { o.without = append(o.without, v); return nil }, 'x', "exclude-type"),
	)
	if !ok {
		return status
	}
	for _, x := range []struct {
		flag string
		set  bool
	}{{"-i", o.inodes}, {"-P", o.posix}, {"-T", o.kind}} {
		if x.set && o.columns != nil {
			return c.Usage("options ", x.flag, " and --output are mutually exclusive")
		}
	}
	f, err := read()
	if err != nil {
		c.Warn("cannot read table of mounted file systems: ", applet.Reason(err))
		return 1
	}
	list := f.mounts
	if len(args) > 0 {
		list = nil
		for _, name := range args {
			m, err := f.of(name)
			if err != nil {
				c.WarnName(name, err)
				ok = false
				continue
			}
			list = append(list, m)
		}
	}
	rows := o.rows(f, list, len(args) > 0)
	if len(rows) == 1 {
		if ok {
			c.Warn("no file systems processed")
		}
		return 1
	}
	c.Out().WriteString(align(rows))
	return applet.Status(ok)
}
