package grep

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
)

// rule is one line of an ignore file, or of -g.
type rule struct {
	any      [][]string // of the patterns that its braces stand for, what is between slashes; ** is any number of folders
	negated  bool
	dirsOnly bool
	base     string // the folder it counts from, absolute
	fold     bool   // in either case
}

// parseRule reads a line as git does.
func parseRule(line, base string) (r rule, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	r.base = base
	if line[0] == '!' {
		r.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirsOnly, line = true, strings.TrimSuffix(line, "/")
	}
	if !strings.Contains(line, "/") {
		line = "**/" + line
	}
	for _, pattern := range braces(strings.TrimPrefix(line, "/")) {
		r.any = append(r.any, strings.Split(pattern, "/"))
	}
	return r, line != ""
}

// braces returns what a pattern with {a,b} stands for; braces may be nested. An
// unclosed one stands for itself.
func braces(pattern string) []string {
	open, depth := -1, 0
	var parts []string
	for i, from := 0, 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case depth == 1 && (c == ',' || c == '}'):
			parts = append(parts, pattern[from:i])
			if from = i + 1; c == ',' {
				continue
			}
			var all []string
			for _, p := range parts {
				all = append(all, braces(pattern[:open]+p+pattern[i+1:])...)
			}
			return all
		case c == '}' && depth > 0:
			depth--
		}
	}
	return []string{pattern}
}

// matches tells whether a rule is about the file abs.
func (r *rule) matches(abs string, dir bool) bool {
	if r.dirsOnly && !dir {
		return false
	}
	rest, ok := strings.CutPrefix(abs, strings.TrimSuffix(r.base, "/")+"/")
	return ok && slices.ContainsFunc(r.any, func(parts []string) bool { return matchParts(parts, strings.Split(rest, "/"), r.fold) })
}

func matchParts(pattern, name []string, fold bool) bool {
	for ; len(pattern) > 0; pattern, name = pattern[1:], name[1:] {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(name) > 0
			}
			for i := range name {
				if matchParts(pattern[1:], name[i:], fold) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 || !glob.Match(pattern[0], name[0], glob.Options{Pathname: true, Fold: fold}) {
			return false
		}
	}
	return len(name) == 0
}

// verdict is what the last rule that is about a file says: 0 nothing, 1 to
// leave it out, -1 to take it.
func verdict(rules []rule, abs string, dir bool) int {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(abs, dir) {
			if rules[i].negated {
				return -1
			}
			return 1
		}
	}
	return 0
}

// ignores are the rules in force in a folder: the first kind that has
// something to say about a file decides.
type ignores struct {
	kinds [3][]rule // of .rgignore, of .ignore, of git
	repo  bool      // inside a repository
}

// enter returns the rules for a folder below.
func (ig ignores) enter(o *rgOptions, dir string) ignores {
	if o.noIgnore {
		return ig
	}
	if _, err := os.Lstat(path.Join(dir, ".git")); err == nil {
		ig.repo, ig.kinds[2] = true, nil
		ig.load(2, path.Join(dir, ".git/info/exclude"), dir, o)
	}
	ig.load(0, path.Join(dir, ".rgignore"), dir, o)
	ig.load(1, path.Join(dir, ".ignore"), dir, o)
	ig.load(2, path.Join(dir, ".gitignore"), dir, o)
	return ig
}

func (ig *ignores) load(kind int, file, base string, o *rgOptions) {
	if kind == 2 && (o.noVCS || !ig.repo && !o.noGit) {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	rules := ig.kinds[kind]
	rules = rules[:len(rules):len(rules)] // a folder's rules are not its neighbours'
	for line := range strings.SplitSeq(string(text), "\n") {
		if r, ok := parseRule(line, base); ok {
			rules = append(rules, r)
		}
	}
	ig.kinds[kind] = rules
}

type walker struct {
	*rg
	cwd      string
	only     []rule // of -g; negated is to leave out
	wanted   bool   // some -g says what to take
	take     []string
	leave    []string
	explicit []rule // of --ignore-file
}

func newWalker(r *rg) *walker {
	o := r.o
	if o.unrestricted > 0 {
		o.noIgnore = true
	}
	o.hidden = o.hidden || o.unrestricted > 1
	o.text = o.text || o.unrestricted > 2
	w := &walker{rg: r}
	w.cwd, _ = os.Getwd()
	for i, g := range o.globs {
		if rule, ok := parseRule(g, w.cwd); ok {
			rule.fold = o.foldAll || o.foldGlobs[i]
			w.only = append(w.only, rule)
			w.wanted = w.wanted || !rule.negated
		}
	}
	for _, t := range o.types {
		w.take = append(w.take, o.typeGlobs(t)...)
	}
	for _, t := range o.notTypes {
		w.leave = append(w.leave, o.typeGlobs(t)...)
	}
	for _, f := range o.ignoreFiles {
		var ig ignores
		ig.load(1, f, w.cwd, o)
		w.explicit = append(w.explicit, ig.kinds[1]...)
	}
	return w
}

// root walks a folder that was named, or the current one.
func (w *walker) root(name string, implicit bool) {
	abs := name
	if !path.IsAbs(abs) {
		abs = path.Join(w.cwd, abs)
	}
	var ig ignores
	for i := 0; i < len(abs); i++ { // what stands above counts, too
		if abs[i] == '/' && i < len(abs)-1 {
			ig = ig.enter(w.o, abs[:max(i, 1)])
		}
	}
	shown := strings.TrimSuffix(name, "/") + "/"
	if implicit {
		shown = ""
	}
	var above []fs.FileInfo
	if fi, err := os.Stat(abs); err == nil {
		above = append(above, fi)
	}
	w.folder(abs, shown, ig, 1, above)
}

// folder walks a folder; shown is how names in it begin.
func (w *walker) folder(abs, shown string, ig ignores, depth int, above []fs.FileInfo) {
	if w.o.depth >= 0 && depth > w.o.depth {
		return
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		w.complain(strings.TrimSuffix(shown, "/"), err)
	}
	ig = ig.enter(w.o, abs)
	for _, e := range entries {
		at := path.Join(abs, e.Name())
		mode := e.Type()
		next := above
		if mode&fs.ModeSymlink != 0 {
			if !w.o.follow {
				continue
			}
			fi, err := os.Stat(at)
			if err != nil {
				w.complain(shown+e.Name(), err)
				continue
			}
			mode = fi.Mode()
		}
		if mode.IsDir() && w.o.follow {
			fi, err := os.Stat(at)
			if err != nil || seen(above, fi) {
				continue
			}
			next = append(above[:len(above):len(above)], fi)
		}
		if !mode.IsDir() && !mode.IsRegular() || w.skips(at, e.Name(), mode.IsDir(), ig) {
			continue
		}
		if mode.IsDir() {
			w.folder(at, shown+e.Name()+"/", ig, depth+1, next)
		} else {
			w.file(shown+e.Name(), false)
		}
		if w.o.quiet && w.g.selected || w.g.broken() {
			return
		}
	}
}

func seen(above []fs.FileInfo, fi fs.FileInfo) bool {
	for _, a := range above {
		if os.SameFile(a, fi) {
			return true
		}
	}
	return false
}

// skips tells whether a file is passed over.
func (w *walker) skips(abs, name string, dir bool, ig ignores) bool {
	switch verdict(w.only, abs, dir) {
	case 1: // what -g names is taken, hidden and ignored or not
		return false
	case -1:
		return true
	default:
		if w.wanted && !dir {
			return true
		}
	}
	v := 0
	for _, rules := range ig.kinds {
		if v = verdict(rules, abs, dir); v != 0 {
			break
		}
	}
	if v == 0 {
		v = verdict(w.explicit, abs, dir)
	}
	if v > 0 || v == 0 && !w.o.hidden && strings.HasPrefix(name, ".") {
		return true
	}
	if dir {
		return false
	}
	return len(w.take) > 0 && !matchesAny(w.take, name) || matchesAny(w.leave, name)
}

func matchesAny(globs []string, name string) bool {
	for _, g := range globs {
		if glob.Match(g, name, glob.Options{}) {
			return true
		}
	}
	return false
}

// typeGlobs returns the globs of a type; nil when there is none of that name.
func (o *rgOptions) typeGlobs(name string) (globs []string) {
	for _, t := range slices.Concat(fileTypes, o.added) {
		if t.name == name {
			globs = append(globs, strings.Fields(t.globs)...)
		}
	}
	return globs
}

// addType reads TYPE:GLOB, or TYPE:include:TYPE,TYPE.
func (o *rgOptions) addType(v string) error {
	name, rest, ok := strings.Cut(v, ":")
	if !ok || name == "" || rest == "" || strings.ContainsAny(rest, " \t") {
		return errors.New("invalid definition (format is type:glob, e.g., html:*.html)")
	}
	if others, ok := strings.CutPrefix(rest, "include:"); ok {
		var all []string
		for other := range strings.SplitSeq(others, ",") {
			globs := o.typeGlobs(other)
			if globs == nil {
				return errors.New("unrecognized file type: " + other)
			}
			all = append(all, globs...)
		}
		rest = strings.Join(all, " ")
	}
	o.added = append(o.added, fileType{name, rest})
	return nil
}

type fileType struct{ name, globs string }

// fileTypes are the types of files that -t knows, by name.
var fileTypes = []fileType{
	{"c", "*.[chH] *.[chH].in *.cats"},
	{"cmake", "*.cmake CMakeLists.txt"},
	{"config", "*.cfg *.conf *.config *.ini"},
	{"cpp", "*.[ChH] *.cc *.[ch]pp *.[ch]xx *.hh *.inl *.[ChH].in *.cc.in *.[ch]pp.in *.[ch]xx.in *.hh.in"},
	{"cs", "*.cs"},
	{"csharp", "*.cs"},
	{"css", "*.css *.scss"},
	{"csv", "*.csv"},
	{"docker", "*Dockerfile*"},
	{"go", "*.go"},
	{"h", "*.h *.hpp"},
	{"html", "*.htm *.html *.ejs"},
	{"java", "*.java *.jsp *.jspx *.properties"},
	{"js", "*.js *.jsx *.vue *.cjs *.mjs"},
	{"json", "*.json composer.lock"},
	{"kotlin", "*.kt *.kts"},
	{"log", "*.log"},
	{"lua", "*.lua"},
	{"make", "[Gg][Nn][Uu]makefile [Mm]akefile [Gg][Nn][Uu]makefile.am [Mm]akefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile.in *.mk *.mak"},
	{"markdown", "*.markdown *.md *.mdown *.mkdn *.mdx"},
	{"md", "*.markdown *.md *.mdown *.mkdn *.mdx"},
	{"perl", "*.perl *.pl *.PL *.plh *.plx *.pm *.t"},
	{"php", "*.php *.php3 *.php4 *.php5 *.phtml"},
	{"protobuf", "*.proto"},
	{"py", "*.py"},
	{"r", "*.R *.r *.Rmd *.Rnw"},
	{"rst", "*.rst"},
	{"ruby", "config.ru Gemfile .irbrc Rakefile *.gemspec *.rb *.rbw"},
	{"rust", "*.rs"},
	{"scala", "*.scala *.sbt"},
	{"sh", "*.bash *.bashrc *.csh *.cshrc *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout .bash_profile .bashrc .cshrc .kshrc .login .logout .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc"},
	{"sql", "*.sql *.psql"},
	{"swift", "*.swift"},
	{"tf", "*.tf"},
	{"toml", "*.toml Cargo.lock"},
	{"ts", "*.ts *.tsx *.cts *.mts"},
	{"txt", "*.txt"},
	{"xml", "*.xml *.xml.dist *.dtd *.xsl *.xslt *.xsd *.xjb *.rng *.sch *.xhtml"},
	{"yaml", "*.yaml *.yml"},
	{"zsh", ".zshenv zshenv .zlogin zlogin .zlogout zlogout .zprofile zprofile .zshrc zshrc *.zsh"},
}
