// Package tree is the command tree, as its version 2.1 draws folders.
package tree

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
)

// Command is tree.
var Command = applet.Command{
	Name:     "tree",
	Synopsis: "[OPTION]... [DIRECTORY]...",
	Summary:  "list the contents of directories as a tree",
	Help: `  -a             all files are listed
  -d             list directories only
  -f             print the full path prefix for each file
  -i             don't print indentation lines
  -l             accepted; symbolic links are never followed
  -L LEVEL       descend only LEVEL directories deep
  -P PATTERN     list only those files that match the pattern given
  -I PATTERN     do not list files that match the given pattern
  --ignore-case  ignore case when pattern matching
  --matchdirs    include directory names in -P pattern matching
  --prune        prune empty directories from the output
  --noreport     turn off file/directory count at end of tree listing
  -Q             quote filenames with double quotes
  -p             print the protections for each file
  -s             print the size in bytes of each file
  -h             print the size in a more human readable way
  -D             print the date of last modification
  -F             append '/', '=', '*', or '|' as per ls -F
  -t             sort files by last modification time
  -r             reverse the order of the sort
  -U             leave files unsorted
  --dirsfirst    list directories before files
  --filesfirst   list files before directories
  -n             turn colorization off (the default)
  -C             turn colorization on
  -J             print the tree as JSON
  -N             accepted: file names are printed as they are`,
	Run: run,
}

type walker struct {
	*applet.Ctx
	all, dirs, full, flat, quote                bool
	protections, size, human, date, classify    bool
	byTime, reverse, unsorted                   bool
	dirsFirst, filesFirst, prune, quiet, color  bool
	json, ignoreCase, matchDirs, ignored, plain bool
	level                                       int
	only, without                               []string
	nDirs, nFiles                               int
	failed                                      bool
}

func run(c *applet.Ctx) int {
	w := walker{Ctx: c}
	patterns := func(list *[]string) func(string) error {
		return func(v string) error { *list = append(*list, strings.Split(v, "|")...); return nil }
	}
	roots, status, ok := c.Parse(1,
		applet.Bool(&w.all, 'a', ""),
		applet.Bool(&w.dirs, 'd', ""),
		applet.Bool(&w.full, 'f', ""),
		applet.Bool(&w.flat, 'i', ""),
		applet.Bool(&w.ignored, 'l', ""),
		applet.Func(func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 {
				return errors.New("Invalid level, must be greater than 0.")
			}
			w.level = n
			return nil
		}, 'L', ""),
		applet.Func(patterns(&w.only), 'P', ""),
		applet.Func(patterns(&w.without), 'I', ""),
		applet.Bool(&w.ignoreCase, 0, "ignore-case"),
		applet.Bool(&w.matchDirs, 0, "matchdirs"),
		applet.Bool(&w.prune, 0, "prune"),
		applet.Bool(&w.quiet, 0, "noreport"),
		applet.Bool(&w.quote, 'Q', ""),
		applet.Bool(&w.protections, 'p', ""),
		applet.Bool(&w.size, 's', ""),
		applet.Do(func() { w.size, w.human = true, true }, 'h', ""),
		applet.Bool(&w.date, 'D', ""),
		applet.Bool(&w.classify, 'F', ""),
		applet.Bool(&w.byTime, 't', ""),
		applet.Bool(&w.reverse, 'r', ""),
		applet.Bool(&w.unsorted, 'U', ""),
		applet.Bool(&w.dirsFirst, 0, "dirsfirst"),
		applet.Bool(&w.filesFirst, 0, "filesfirst"),
		applet.Do(func() { w.color = false }, 'n', ""),
		applet.Bool(&w.color, 'C', ""),
		applet.Bool(&w.json, 'J', ""),
		applet.Bool(&w.plain, 'N', ""),
	)
	if !ok {
		return status
	}
	for i, r := range roots {
		if w.full && len(r) > 1 {
			roots[i] = r[:1] + strings.TrimRight(r[1:], "/")
		}
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	if w.json {
		return w.document(roots)
	}
	for _, root := range roots {
		w.root(root)
	}
	if !w.quiet {
		w.put("\n" + plural(w.nDirs, "director", "y", "ies"))
		if !w.dirs {
			w.put(", " + plural(w.nFiles, "file", "", "s"))
		}
		w.put("\n")
	}
	if w.failed {
		return 2
	}
	return 0
}

func plural(n int, stem, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + stem + many
}

func (w *walker) put(s string) { w.Out().WriteString(s) }

// A node is a file and, when it is a folder, what is listed of it.
type node struct {
	name, path string
	info       fs.FileInfo
	link       string
	kids       []*node
	unreadable bool
	folder     bool // or a link to one
}

// root draws one folder.
func (w *walker) root(name string) {
	info, err := os.Stat(name)
	n := &node{name: name, path: name, info: info}
	if err != nil || !info.IsDir() {
		w.put(w.label(n) + "  [error opening dir]\n")
		if err == nil {
			w.nFiles++
		} else {
			w.failed = true
		}
		return
	}
	w.fill(n, 1)
	if len(n.kids) > 0 {
		w.nDirs++
	}
	w.put(w.label(n) + "\n")
	w.draw(n, "")
}

// fill reads what is in n.
func (w *walker) fill(n *node, depth int) {
	if w.level > 0 && depth > w.level {
		return
	}
	entries, err := os.ReadDir(n.path)
	if err != nil {
		n.unreadable, w.failed = true, true
		return
	}
	for _, e := range entries {
		name := e.Name()
		info, err := e.Info()
		if err != nil || !w.all && strings.HasPrefix(name, ".") {
			continue
		}
		k := &node{name: name, path: path.Join(n.path, name), info: info}
		if strings.HasPrefix(n.path, "./") || n.path == "." {
			k.path = n.path + "/" + name
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			k.link, _ = os.Readlink(k.path) // an unreadable link is shown without its target
		}
		k.folder = folder(k)
		if w.dirs && !k.folder || w.matches(w.without, name) {
			continue
		}
		if len(w.only) > 0 && (!info.IsDir() || w.matchDirs) && !w.matches(w.only, name) {
			continue
		}
		if info.IsDir() {
			w.fill(k, depth+1)
			if w.prune && len(k.kids) == 0 {
				continue
			}
		}
		n.kids = append(n.kids, k)
	}
	w.sort(n.kids)
}

// folder tells whether a node is a folder or a link to one, which -d lists too.
func folder(n *node) bool {
	if n.info.IsDir() {
		return true
	}
	info, err := os.Stat(n.path)
	return n.link != "" && err == nil && info.IsDir()
}

func (w *walker) matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		p = strings.TrimSuffix(p, "/")
		if w.ignoreCase {
			p, name = strings.ToLower(p), strings.ToLower(name)
		}
		return glob.Match(p, name, glob.Options{})
	})
}

func (w *walker) sort(list []*node) {
	if w.unsorted {
		return
	}
	slices.SortStableFunc(list, func(a, b *node) int {
		if (w.dirsFirst || w.filesFirst) && a.folder != b.folder {
			if a.folder == w.dirsFirst {
				return -1
			}
			return 1
		}
		d := strings.Compare(a.name, b.name)
		if w.byTime {
			d = cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), d)
		}
		if w.reverse {
			return -d
		}
		return d
	})
}

// draw prints what is below n.
func (w *walker) draw(n *node, indent string) {
	for i, k := range n.kids {
		branch, below := "├── ", "│\u00a0\u00a0 "
		if i == len(n.kids)-1 {
			branch, below = "└── ", "    "
		}
		if !w.flat {
			w.put(indent + branch)
		}
		w.put(w.label(k))
		if k.link != "" {
			w.put(" -> " + k.link)
		}
		if w.classify && !k.info.IsDir() {
			if info, err := os.Stat(k.path); err == nil {
				w.put(mark(info.Mode()))
			}
		}
		if k.unreadable {
			w.put("  [error opening dir]")
		}
		w.put("\n")
		if !k.folder {
			w.nFiles++
			continue
		}
		w.nDirs++
		if k.info.IsDir() {
			w.draw(k, indent+below)
		}
	}
}

func mark(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "/"
	case m&fs.ModeNamedPipe != 0:
		return "|"
	case m&fs.ModeSocket != 0:
		return "="
	case m.IsRegular() && m&0o111 != 0:
		return "*"
	}
	return ""
}

// label is a node's name with what the options put before and after it.
func (w *walker) label(n *node) string {
	name := n.name
	if w.full {
		name = n.path
	}
	if w.quote {
		name = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	if w.color && n.info != nil {
		name = "\x1b[" + color(n.info.Mode()) + "m" + name + "\x1b[0m"
	}
	if w.classify && n.info != nil && n.info.IsDir() {
		name += "/"
	}
	if n.info == nil || !w.protections && !w.size && !w.date {
		return name
	}
	var facts []string
	if w.protections {
		facts = append(facts, applet.ModeString(n.info.Mode()))
	}
	if w.size {
		size := strconv.FormatInt(fileSize(n.info), 10)
		width := 11
		if w.human {
			size, width = human(fileSize(n.info)), 4
		}
		facts = append(facts, strings.Repeat(" ", max(0, width-len(size)))+size)
	}
	if w.date {
		facts = append(facts, date(n.info.ModTime()))
	}
	return "[" + strings.Join(facts, " ") + "]  " + name
}

// fileSize is that of a folder as every folder of the sandbox has it.
func fileSize(info fs.FileInfo) int64 {
	if info.IsDir() {
		return 4096
	}
	return info.Size()
}

// human writes a size with one decimal below ten, rounded down.
func human(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	unit := 0
	for ; n >= 1024*1024 && unit < 6; unit++ {
		n /= 1024
	}
	if n >= 10*1024 {
		return strconv.FormatInt(n/1024, 10) + "KMGTPEZ"[unit:unit+1]
	}
	return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + "KMGTPEZ"[unit:unit+1]
}

// date is short: with the year instead of the time when it is long ago.
func date(t time.Time) string {
	if age := time.Since(t); age > 180*24*time.Hour || age < -time.Hour {
		return t.Format("Jan _2  2006")
	}
	return t.Format("Jan _2 15:04")
}

func color(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "01;34"
	case m&fs.ModeSymlink != 0:
		return "01;36"
	case m.IsRegular() && m&0o111 != 0:
		return "01;32"
	}
	return "00"
}

// document prints all roots as JSON.
func (w *walker) document(roots []string) int {
	w.put("[\n")
	for i, root := range roots {
		info, err := os.Stat(root)
		n := &node{name: root, path: root, info: info}
		if i > 0 {
			w.put(",\n")
		}
		if err != nil || !info.IsDir() {
			w.failed = true
			w.put("  {\"type\":\"file\",\"name\":" + quoteJSON(root) + ",\"error\": \"opening dir\"}")
			continue
		}
		w.nDirs++
		w.fill(n, 1)
		w.object(n, "  ")
	}
	if !w.quiet {
		w.put("\n,\n  {\"type\":\"report\",\"directories\":" + strconv.Itoa(w.nDirs))
		if !w.dirs {
			w.put(",\"files\":" + strconv.Itoa(w.nFiles))
		}
		w.put("}")
	}
	w.put("\n]\n")
	if w.failed {
		return 2
	}
	return 0
}

func (w *walker) object(n *node, indent string) {
	kind := "file"
	switch {
	case n.info.IsDir():
		kind = "directory"
	case n.link != "":
		kind = "link"
	}
	name := n.name
	if w.full {
		name = n.path
	}
	w.put(indent + `{"type":"` + kind + `","name":` + quoteJSON(name))
	if n.link != "" {
		w.put(`,"target":` + quoteJSON(n.link))
	}
	if w.protections {
		w.put(`,"mode":"0` + strconv.FormatUint(uint64(applet.UnixMode(n.info.Mode())), 8) + `","prot":"` + applet.ModeString(n.info.Mode()) + `"`)
	}
	if w.size {
		if w.human {
			w.put(`,"size":"` + human(fileSize(n.info)) + `"`)
		} else {
			w.put(`,"size":` + strconv.FormatInt(fileSize(n.info), 10))
		}
	}
	if len(n.kids) > 0 {
		w.put(",\"contents\":[\n")
		for i, k := range n.kids {
			if i > 0 {
				w.put(",\n")
			}
			if k.folder {
				w.nDirs++
			} else {
				w.nFiles++
			}
			w.object(k, indent+"  ")
		}
		w.put("\n" + indent + "]")
	}
	w.put("}")
}

// quoteJSON writes a string of JSON.
func quoteJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20:
			b.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
