// Package du is the command du.
package du

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
)

// Command is du.
var Command = applet.Command{
	Name:     "du",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "summarize device usage of the set of FILEs, recursively for directories",
	Help: `  -0, --null            end each output line with NUL, not newline
  -a, --all             write counts for all files, not just directories
      --apparent-size   print apparent sizes rather than device usage
  -B, --block-size=SIZE scale sizes by SIZE before printing them
  -b, --bytes           equivalent to '--apparent-size --block-size=1'
  -c, --total           produce a grand total
  -D, -H, --dereference-args  dereference only symlinks that are listed on the
                          command line
  -d, --max-depth=N     print the total for a directory only if it is N or
                          fewer levels below the command line argument
  -h, --human-readable  print sizes in human readable format
      --exclude=PATTERN exclude files that match PATTERN
  -k                    like --block-size=1K
  -L, --dereference     dereference all symbolic links
  -l, --count-links     count sizes many times if hard linked
  -m                    like --block-size=1M
  -P, --no-dereference  don't follow any symbolic links (this is the default)
  -S, --separate-dirs   for directories do not include size of subdirectories
      --si              like -h, but use powers of 1000 not 1024
  -s, --summarize       display only a total for each argument
  -t, --threshold=SIZE  exclude entries smaller than SIZE if positive,
                          or entries greater than SIZE if negative
  -x, --one-file-system (accepted, there is one)`,
	Run: run,
}

type inode struct{ dev, ino uint64 }

type walker struct {
	c                                    *applet.Ctx
	null, all, apparent, links, separate bool
	follow, followArgs                   bool
	unit                                 int64
	human                                int64
	depth                                int
	threshold                            int64
	exclude                              []string
	seen                                 map[inode]bool
	ok                                   bool
}

func run(c *applet.Ctx) int {
	w := walker{c: c, unit: 1024, depth: -1, seen: map[inode]bool{}, ok: true}
	var total, summarize, one, hasDepth bool
	names, status, ok := c.Parse(1,
		applet.Bool(&w.null, '0', "null"),
		applet.Bool(&w.all, 'a', "all"),
		applet.Bool(&w.apparent, 0, "apparent-size"),
		applet.Func(func(v string) error {
			n, err := applet.ParseSize(v, "KMGTPEZYkm")
			if err != nil || n == 0 {
				return errors.New("invalid --block-size argument " + applet.Quote(v))
			}
			w.unit, w.human = n, 0
			return nil
		}, 'B', "block-size"),
		applet.Do(func() { w.apparent, w.unit, w.human = true, 1, 0 }, 'b', "bytes"),
		applet.Bool(&total, 'c', "total"),
		applet.Bool(&w.followArgs, 'D', "dereference-args"),
		applet.Bool(&w.followArgs, 'H', ""),
		applet.Func(func(v string) error {
			n, err := applet.ParseSize(v, "")
			if err != nil {
				return applet.UsageError("invalid maximum depth " + applet.Curly(v))
			}
			w.depth, hasDepth = int(min(n, 1<<30)), true
			return nil
		}, 'd', "max-depth"),
		applet.Do(func() { w.human = 1024 }, 'h', "human-readable"),
		applet.Func(func(v string) error { w.exclude = append(w.exclude, v); return nil }, 0, "exclude"),
		applet.Do(func() { w.unit, w.human = 1024, 0 }, 'k', ""),
		applet.Bool(&w.follow, 'L', "dereference"),
		applet.Bool(&w.links, 'l', "count-links"),
		applet.Do(func() { w.unit, w.human = 1<<20, 0 }, 'm', ""),
		applet.Do(func() { w.follow, w.followArgs = false, false }, 'P', "no-dereference"),
		applet.Bool(&w.separate, 'S', "separate-dirs"),
		applet.Do(func() { w.human = 1000 }, 0, "si"),
		applet.Bool(&summarize, 's', "summarize"),
		applet.Func(func(v string) error {
			n, err := applet.ParseSize(strings.TrimPrefix(v, "-"), "KMGTPEZYkm")
			if err != nil || v == "-0" {
				return errors.New("invalid --threshold argument " + applet.Quote(v))
			}
			if w.threshold = n; strings.HasPrefix(v, "-") {
				w.threshold = -n
			}
			return nil
		}, 't', "threshold"),
		applet.Bool(&one, 'x', "one-file-system"),
	)
	switch {
	case !ok:
		return status
	case summarize && w.all:
		return c.Usage("cannot both summarize and show all entries")
	case summarize && hasDepth && w.depth == 0:
		c.Warn("warning: summarizing is the same as using --max-depth=0")
	case summarize && hasDepth:
		return c.Usage("warning: summarizing conflicts with --max-depth=" + strconv.Itoa(w.depth))
	}
	if summarize {
		w.depth = 0
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	sum := int64(0)
	for _, name := range names {
		n := w.walk(name, 0, nil)
		sum += n
	}
	if total {
		w.print(sum, "total", true)
	}
	return applet.Status(w.ok)
}

func (w *walker) print(n int64, name string, always bool) {
	if !always && (w.threshold > 0 && n < w.threshold || w.threshold < 0 && n > -w.threshold) {
		return
	}
	size := ""
	if w.human != 0 {
		size = applet.Human(n, w.human)
	} else {
		size = strconv.FormatInt((n+w.unit-1)/w.unit, 10)
	}
	end := "\n"
	if w.null {
		end = "\x00"
	}
	io.WriteString(w.c.Stdout, size+"\t"+name+end)
}

func (w *walker) fail(what, name string, err error) {
	w.c.Warn(what, applet.Quote(name), ": ", applet.Reason(err))
	w.ok = false
}

// walk prints and returns the size of name with all below it.
func (w *walker) walk(name string, depth int, above []fs.FileInfo) int64 {
	for _, p := range w.exclude {
		if glob.Match(p, name, glob.Options{}) || glob.Match(p, applet.Base(name), glob.Options{}) {
			return 0
		}
	}
	stat := os.Lstat
	if w.follow || w.followArgs && depth == 0 {
		stat = os.Stat
	}
	fi, err := stat(name)
	if err != nil {
		w.fail("cannot access ", name, err)
		return 0
	}
	info := applet.Stat(fi)
	if id := (inode{info.Dev, info.Ino}); info.Ino != 0 && (info.Nlink > 1 || fi.IsDir() || w.follow) && !w.links {
		if w.seen[id] {
			return 0
		}
		w.seen[id] = true
	}
	own := applet.Blocks(fi) * 512
	if w.apparent {
		own = fi.Size()
		if fi.IsDir() {
			own = 4096
		}
	}
	sum := own
	if fi.IsDir() {
		for _, a := range above {
			if os.SameFile(a, fi) {
				return 0
			}
		}
		entries := w.entries(name)
		for _, e := range entries {
			s := w.walk(strings.TrimSuffix(name, "/")+"/"+e.Name(), depth+1, append(above, fi))
			if !e.IsDir() {
				own += s
			}
			sum += s
		}
	}
	if w.depth < 0 || depth <= w.depth {
		switch {
		case fi.IsDir() && w.separate:
			w.print(own, name, false)
		case fi.IsDir() || w.all || depth == 0:
			w.print(sum, name, false)
		}
	}
	return sum
}

func (w *walker) entries(name string) []fs.DirEntry {
	d, err := os.Open(name)
	if err != nil {
		w.fail("cannot read directory ", name, err)
		return nil
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		w.fail("cannot read directory ", name, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}
