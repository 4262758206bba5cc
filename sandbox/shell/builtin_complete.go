package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
)

func builtinCompopt(sh *shell, c call) int {
	return c.fail("not currently executing completion function")
}

const (
	actionNames  = "alias arrayvar binding builtin command directory disabled enabled export file function group helptopic hostname job keyword running service setopt shopt signal stopped user variable"
	compOptNames = "bashdefault default dirnames filenames noquote nosort nospace plusdirs"
)

// badCompletion tells whether an argument of complete or compgen names
// nothing; the message is out then.
func (c *call) badCompletion() bool {
	for _, o := range c.opts {
		switch {
		case o.letter == 'A' && !slices.Contains(strings.Fields(actionNames), o.arg):
			c.fail("%s: invalid action name", o.arg)
			return true
		case o.letter == 'o' && !slices.Contains(strings.Fields(compOptNames), o.arg):
			c.fail("%s: invalid option name", o.arg)
			return true
		}
	}
	return false
}

// builtinComplete keeps completion specifications, which only complete -p
// shows: nothing in a script completes.
func builtinComplete(sh *shell, c call) int {
	if c.badCompletion() {
		return 2
	}
	var spec []string
	names := c.rest
	for _, o := range c.opts {
		t := "-" + string(rune(o.letter))
		switch {
		case strings.IndexByte("pr", o.letter) >= 0:
			continue
		case strings.IndexByte("DEI", o.letter) >= 0:
			names = []string{t}
			continue
		case strings.IndexByte("WGX", o.letter) >= 0:
			t += " " + singleQuote(o.arg)
		case o.arg != "":
			t += " " + setQuote(o.arg)
		}
		spec = append(spec, t)
	}
	print := c.has('p') || len(names) == 0 && len(spec) == 0
	if len(names) == 0 && !print && !c.has('r') {
		return c.misuse("")
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(sh.completions))
	}
	m := map[string]string{}
	maps.Copy(m, sh.completions) // subshells share the old one
	st := 0
	for _, n := range names {
		old, known := m[n]
		switch {
		case !known && (print || c.has('r')):
			st = c.fail("%s: no completion specification", n)
		case c.has('r'):
			delete(m, n)
		case print:
			sh.out(strings.TrimRight("complete "+old, " ") + " " + n + "\n")
		default:
			m[n] = strings.Join(spec, " ")
			sh.charge(int64(len(n)+len(m[n])-len(old)) + elementCost)
		}
	}
	sh.completions = m
	return st
}

func builtinCompgen(sh *shell, c call) int {
	if c.badCompletion() {
		return 2
	}
	word := ""
	if len(c.rest) > 0 {
		word = c.rest[0]
	}
	var out, words []string
	add := func(l []string) {
		for _, s := range l {
			if strings.HasPrefix(s, word) {
				out = append(out, s)
			}
		}
	}
	byLetter := map[byte]string{'a': "alias", 'b': "builtin", 'c': "command", 'd': "directory", 'e': "export", 'f': "file", 'g': "group", 'j': "job", 'k': "keyword", 's': "service", 'u': "user", 'v': "variable"}
	for _, o := range c.opts {
		switch o.letter {
		case 'A':
			add(sh.completionsOf(o.arg, word))
		case 'G':
			g := globber{sh: sh}
			out = append(out, slices.Sorted(slices.Values(g.match(o.arg)))...)
		case 'W':
			b := &builder{sh: sh}
			b.split(sh.valueText(o.arg))
			b.endWord()
			words = append(words, b.out...)
		default:
			add(sh.completionsOf(byLetter[o.letter], word))
		}
	}
	add(words)
	if fn, ok := c.arg('F'); ok {
		c.fail("warning: -F option may not work as you expect")
		if f := sh.funcs.m[fn]; f != nil {
			sh.assignArray("COMPREPLY", nil, false)
			sh.call(f, []string{fn, "compgen", word, ""})
			out = append(out, sh.elements("COMPREPLY")...)
		}
	}
	if filter, ok := c.arg('X'); ok && filter != "" {
		neg := strings.HasPrefix(filter, "!")
		p := sh.compilePattern(strings.TrimPrefix(filter, "!"))
		out = slices.DeleteFunc(out, func(s string) bool { return p.match(s) != neg })
	}
	prefix, _ := c.arg('P')
	suffix, _ := c.arg('S')
	for _, s := range out {
		sh.out(prefix + s + suffix + "\n")
	}
	return int(b2i(len(out) == 0))
}

// completionsOf lists what an action of compgen generates.
func (sh *shell) completionsOf(action, word string) []string {
	var out []string
	list := func(dir, prefix string, want func(isDir bool) bool) {
		es, _ := sh.run.host.ReadDir(sh.ctx, sh.abs(firstOf(dir, ".")))
		for _, e := range es {
			if want(e.IsDir()) && strings.HasPrefix(prefix+e.Name(), word) {
				out = append(out, prefix+e.Name())
			}
		}
	}
	switch action {
	case "alias":
		out = slices.Collect(maps.Keys(sh.aliases))
	case "builtin", "enabled", "disabled", "helptopic":
		for _, n := range sh.builtinNames() {
			if action == "helptopic" || sh.disabled[n] == (action == "disabled") {
				out = append(out, n)
			}
		}
	case "keyword":
		return strings.Fields(keywordNames)
	case "function":
		out = slices.Collect(maps.Keys(sh.funcs.m))
	case "variable", "arrayvar", "export":
		want := map[string]attr{"variable": attrSet | attrArray | attrAssoc | attrDynamic, "arrayvar": attrArray | attrAssoc, "export": attrExport}[action]
		for n, v := range sh.vars.m {
			if v.attr&want != 0 {
				out = append(out, n)
			}
		}
	case "setopt", "shopt":
		for _, x := range namedOptions(action == "shopt") {
			out = append(out, x.name)
		}
	case "signal":
		for n := 0; n <= 64; n++ {
			if s := signalName(n); n == 0 {
				out = append(out, s)
			} else if s != "" && (n < sigDEBUG || n == 64) {
				out = append(out, "SIG"+s)
			}
		}
		return out
	case "user":
		return []string{firstOf(sh.get("USER"), "root")}
	case "hostname":
		return []string{sh.get("HOSTNAME")}
	case "job", "running":
		for _, j := range sh.jobs {
			if !j.gone {
				w, _, _ := strings.Cut(j.text, " ")
				out = append(out, w)
			}
		}
		return out
	case "command":
		for _, a := range []string{"alias", "keyword", "builtin", "function"} {
			out = append(out, sh.completionsOf(a, word)...)
		}
		for _, d := range strings.Split(sh.get("PATH"), ":") {
			list(d, "", func(isDir bool) bool { return !isDir })
		}
		return out
	case "file", "directory":
		dir, _ := path.Split(word)
		list(dir, dir, func(isDir bool) bool { return isDir || action == "file" })
	}
	slices.Sort(out)
	return out
}
