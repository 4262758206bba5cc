package shell

import (
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
)

// glob appends the names that match the pattern esc to out, or plain when
// there are none.
func (sh *shell) glob(out []string, plain, esc string) []string {
	if !slices.ContainsFunc(splitPath(esc), isGlobSeg) {
		return append(out, plain) // also the command [, which nullglob must not take away
	}
	g := globber{sh: sh, fold: sh.opts.has(optNocaseglob)}
	matches := g.match(esc)
	if ig, ok := sh.getSet("GLOBIGNORE"); ok && ig != "" {
		matches = sh.globIgnore(matches, ig)
	}
	if len(matches) == 0 {
		switch {
		case sh.opts.has(optFailglob):
			failf(errDiscard, 1, "no match: %s", plain)
		case sh.opts.has(optNullglob):
			return out
		}
		return append(out, plain)
	}
	sort.Strings(matches)
	return append(out, matches...)
}

func (sh *shell) globIgnore(in []string, ignore string) []string {
	var pats []*pattern
	texts := splitColon(ignore)
	for _, s := range texts {
		pats = append(pats, sh.compilePattern(s))
	}
	var out []string
next:
	for _, m := range in {
		if b := path.Base(m); b == "." || b == ".." {
			continue
		}
		for i, p := range pats {
			if strings.Contains(m, "/") {
				if sh.matchPath(texts[i], m) {
					continue next
				}
			} else if p.match(m) {
				continue next
			}
		}
		out = append(out, m)
	}
	return out
}

// matchPath matches a pattern whose * and ? do not match slashes.
func (sh *shell) matchPath(pat, name string) bool {
	ps, ns := splitPath(pat), strings.Split(name, "/")
	if len(ps) != len(ns) {
		return false
	}
	for i := range ps {
		if !sh.compilePattern(ps[i]).match(ns[i]) {
			return false
		}
	}
	return true
}

// splitColon splits at colons that are not inside brackets.
func splitColon(s string) []string {
	var out []string
	start, in := 0, false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[':
			in = true
		case ']':
			in = false
		case '\\':
			i++
		case ':':
			if !in {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[start:])
}

type globber struct {
	sh   *shell
	fold bool
	out  []string
}

// splitPath cuts a pattern at slashes outside of brackets and parentheses.
func splitPath(p string) []string {
	var out []string
	start, depth := 0, 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '(':
			if i > 0 && strings.IndexByte("?*+@!", p[i-1]) >= 0 || depth > 0 {
				depth++
			}
		case ')':
			if depth > 0 {
				depth--
			}
		case '/':
			if depth == 0 {
				out = append(out, p[start:i])
				start = i + 1
			}
		}
	}
	return append(out, p[start:])
}

func isGlobSeg(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if closes(s[i+1:]) {
				return true
			}
		case '+', '@', '!':
			if i+1 < len(s) && s[i+1] == '(' {
				return true
			}
		}
	}
	return false
}

// closes tells whether a bracket that was opened before s is closed in it.
func closes(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			return true
		}
	}
	return false
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (g *globber) match(esc string) []string {
	segs := splitPath(esc)
	g.walk("", segs)
	return g.out
}

// walk matches segs below prefix, which is "" or ends in a slash.
func (g *globber) walk(prefix string, segs []string) {
	g.sh.tick()
	seg := segs[0]
	last := len(segs) == 1
	if !isGlobSeg(seg) {
		g.literal(prefix, unescape(seg), segs[1:])
		return
	}
	if seg == "**" && g.sh.opts.has(optGlobstar) {
		g.star(prefix, segs[1:], 0)
		return
	}
	p := g.sh.compileFold(seg, g.fold)
	dotOK := g.sh.dotglob()
	for _, e := range g.entries(prefix) {
		name := e.name
		if name[0] == '.' && !dotOK && !leadingDot(seg) {
			continue
		}
		if !p.match(name) {
			continue
		}
		if last {
			g.add(prefix + name)
		} else if e.dir || e.link {
			g.walk(prefix+name+"/", segs[1:])
		}
	}
}

// leadingDot tells whether the pattern names a leading dot itself.
func leadingDot(seg string) bool {
	seg = strings.TrimPrefix(seg, "\\")
	if strings.HasPrefix(seg, ".") {
		return true
	}
	if len(seg) > 2 && seg[1] == '(' && strings.IndexByte("?*+@", seg[0]) >= 0 {
		for _, a := range strings.Split(seg[2:], "|") {
			if strings.HasPrefix(a, ".") {
				return true
			}
		}
	}
	return false
}

func (g *globber) literal(prefix, name string, rest []string) {
	p := prefix + name
	if len(rest) > 0 {
		if name == "" && prefix == "" {
			p = ""
		}
		g.walk(p+"/", rest)
		return
	}
	if name == "" {
		if prefix == "" {
			return // **/ names what is below, not the folder itself
		}
		if fi, err := g.sh.run.host.Stat(g.sh.ctx, g.sh.abs(prefix)); err == nil && fi.IsDir() {
			g.add(p)
		}
		return
	}
	if _, err := g.sh.run.host.Lstat(g.sh.ctx, g.sh.abs(p)); err == nil {
		g.add(p)
	}
}

// star matches ** : any number of folders, following no symlinks.
func (g *globber) star(prefix string, rest []string, depth int) {
	g.sh.tick()
	for len(rest) > 0 && rest[0] == "**" {
		rest = rest[1:] // ** and **/** are the same
	}
	if depth > g.sh.run.lim.Depth {
		throw(&LimitError{What: "folders nested deeper than " + itoa(g.sh.run.lim.Depth)})
	}
	if len(rest) == 0 {
		if depth == 0 && prefix != "" {
			g.literal(prefix, "", nil)
		}
	} else {
		g.walk(prefix, rest)
	}
	for _, e := range g.entries(prefix) {
		if e.name[0] == '.' && !g.sh.dotglob() {
			continue
		}
		if len(rest) == 0 {
			g.add(prefix + e.name)
		}
		if e.dir {
			g.star(prefix+e.name+"/", rest, depth+1)
		}
	}
}

func (g *globber) add(s string) {
	g.out = append(g.out, s)
	if len(g.out) > g.sh.run.lim.Words {
		throw(&LimitError{What: "more than " + itoa(g.sh.run.lim.Words) + " words"})
	}
}

type globEntry struct {
	name      string
	dir, link bool
}

func (g *globber) entries(prefix string) []globEntry {
	dir := prefix
	if dir == "" {
		dir = "."
	}
	des, err := g.sh.run.host.ReadDir(g.sh.ctx, g.sh.abs(dir))
	if err != nil {
		if isFatal(err) {
			throw(err)
		}
		return nil
	}
	out := make([]globEntry, 0, len(des)+2)
	out = append(out, globEntry{".", true, false}, globEntry{"..", true, false})
	for _, d := range des {
		e := globEntry{name: d.Name(), dir: d.IsDir()}
		if !e.dir && d.Type()&fs.ModeSymlink != 0 {
			if fi, err := g.sh.run.host.Stat(g.sh.ctx, g.sh.abs(prefix+e.name)); err == nil && fi.IsDir() {
				e.link = true
			}
		}
		if e.name != "" {
			out = append(out, e)
		}
	}
	// "." and ".." match only patterns that begin with a dot.
	if !g.sh.opts.has(optGlobskipdots) {
		return out
	}
	return out[2:]
}

// abs makes a path absolute and clean.
func (sh *shell) abs(p string) string {
	if strings.HasPrefix(p, "/") {
		return path.Clean(p)
	}
	return path.Join(sh.dir, p)
}

// dotglob tells whether * matches leading dots.
func (sh *shell) dotglob() bool {
	return sh.opts.has(optDotglob) || sh.get("GLOBIGNORE") != ""
}
