package patch

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// stripped takes leading components off a name; "" when nothing is left. A
// name that leads out of the folder is dropped: patches come from strangers.
func (p *patcher) stripped(name string) string {
	if name == "" || name == "/dev/null" {
		return ""
	}
	n := p.strip
	if n < 0 {
		return path.Base(name)
	}
	for ; n > 0; n-- {
		i := strings.IndexByte(name, '/')
		if i < 0 {
			return ""
		}
		name = strings.TrimLeft(name[i:], "/")
	}
	if strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..") {
		if name != p.dangerous {
			p.say("Ignoring potentially dangerous file name ", name, "\n")
		}
		p.dangerous = name
		return ""
	}
	return name
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// best picks the name with the fewest components, then the shortest.
func best(names []string) string {
	return slices.MinFunc(names, func(a, b string) int {
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		if d := len(path.Base(a)) - len(path.Base(b)); d != 0 {
			return d
		}
		return len(a) - len(b)
	})
}

// names returns the file that c is read from and the one it is written to.
func (p *patcher) names(c *change) (from, to string) {
	if p.original != "" {
		return p.original, p.original
	}
	if c.from != "" || c.to != "" {
		if from, to = p.renamed(c.from, c.old), p.renamed(c.to, c.new); from != "" && to != "" {
			return from, to
		}
		return "", ""
	}
	old, new := p.stripped(c.old), p.stripped(c.new)
	var there, all []string
	for i, n := range []string{old, new, p.stripped(c.index)} {
		if n == "" || i == 1 && new == old || slices.Contains(all, n) {
			continue
		}
		all = append(all, n)
		if exists(n) {
			there = append(there, n)
		}
	}
	switch {
	case len(there) > 0:
		from = best(there)
	case len(all) > 0 && (c.oldGone || creates(c)):
		from = best(all)
	case len(all) > 0 && (c.newGone || p.reverse && deletes(c)):
		from = best(all)
	}
	return from, from
}

// renamed is a name of a git rename, which has no a/ before it.
func (p *patcher) renamed(name, header string) string {
	if name == "" || strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..") {
		return ""
	}
	if p.strip <= 1 {
		if p.strip < 0 {
			return path.Base(name)
		}
		return name
	}
	return p.stripped(header)
}

// creates tells whether c makes a file of nothing.
func creates(c *change) bool {
	return len(c.hunks) == 1 && len(c.hunks[0].side('+')) == 0 && c.hunks[0].oldStart <= 1
}

func deletes(c *change) bool {
	return len(c.hunks) == 1 && len(c.hunks[0].side('-')) == 0 && c.hunks[0].newStart <= 1
}

func count(n int, word string) string {
	if n == 1 {
		return strconv.Itoa(n) + " " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// lost reports a change for which there is no file.
func (p *patcher) lost(c *change, broken error) {
	p.failed = true
	if c.from != "" || c.to != "" {
		p.ask("Cannot rename file without two valid file names\n")
		return
	}
	p.ask("can't find file to patch at input line ", strconv.Itoa(c.line), "\n")
	if p.strip < 0 {
		p.ask("Perhaps you should have used the -p or --strip option?\n")
	} else {
		p.ask("Perhaps you used the wrong -p or --strip option?\n")
	}
	if len(c.leading) > 0 {
		p.ask("The text leading up to this was:\n--------------------------\n|", strings.TrimSuffix(strings.Join(c.leading, "|"), "\n"), "\n--------------------------\n")
	}
	if !p.force && !p.batch {
		p.ask("File to patch: \nSkip this patch? [y] \n")
	} else {
		p.ask("No file to patch.  ")
	}
	p.ask("Skipping patch.\n")
	if broken == nil && len(c.hunks) > 0 {
		p.ask(strconv.Itoa(len(c.hunks)), " out of ", count(len(c.hunks), "hunk"), " ignored\n")
	}
}

// file applies c. broken is why its hunks could not all be read.
func (p *patcher) file(c *change, broken error) (status int) {
	from, to := p.names(c)
	if from == "" {
		p.lost(c, broken)
		return 0
	}
	if broken != nil {
		p.announce(c, from, to)
		return 0
	}
	info, err := os.Lstat(from)
	if err == nil && !info.Mode().IsRegular() {
		p.failed = true
		p.ask("File ", from, " is not a regular file -- refusing to patch\n")
		p.ask(strconv.Itoa(len(c.hunks)), " out of ", count(len(c.hunks), "hunk"), " ignored\n")
		return 0
	}
	var data []byte
	mode := fs.FileMode(0o666)
	there := err == nil
	if there {
		mode = info.Mode().Perm()
		if data, err = os.ReadFile(from); err != nil {
			return p.fatal("Can't open file " + from + " : " + applet.Reason(err))
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return p.fatal("Can't open file " + from + " : " + applet.Reason(err))
	}
	if !p.madeTwice(c, data) && (there || !c.newGone) {
		p.announce(c, from, to)
	}
	t := &text{lines: splitLines(string(data)), blanks: p.blanks}
	rejected, skipped, exact := p.hunks(c, t, to, there)
	if len(rejected) > 0 {
		if err := p.reject(c, to, rejected, skipped, there); err != nil {
			return p.fatal("Can't create file " + to + ".rej : " + applet.Reason(err))
		}
		p.failed = true
	}
	if p.dryRun || skipped {
		return 0
	}
	result := t.result()
	if p.output != "" {
		if p.output == "-" {
			p.Stdout.Write(result)
		}
		p.outText = append(p.outText, result...)
		return 0
	}
	if err := p.store(c, from, to, data, result, mode, there, exact && len(rejected) == 0); err != nil {
		return p.fatal("Can't create file " + to + " : " + applet.Reason(err))
	}
	return 0
}

func (p *patcher) announce(c *change, from, to string) {
	verb := "patching file "
	if p.dryRun {
		verb = "checking file "
	}
	switch {
	case p.output != "" && p.output != "-":
		p.say(verb, p.output, " (read from ", from, ")\n")
	case from != to && c.copied:
		p.say(verb, to, " (copied from ", from, ")\n")
	case from != to:
		p.say(verb, to, " (renamed from ", from, ")\n")
	default:
		p.say(verb, quoted(to), "\n")
	}
}

func quoted(name string) string {
	if strings.ContainsAny(name, " '\"\\\n") {
		return applet.Quote(name)
	}
	return name
}

// store writes the result and takes a backup where one is due.
func (p *patcher) store(c *change, from, to string, before, after []byte, mode fs.FileMode, there, exact bool) error {
	if m := c.newMode; len(m) == 6 && strings.HasPrefix(m, "100") {
		if n, err := strconv.ParseUint(m[3:], 8, 9); err == nil {
			mode = fs.FileMode(n)
		}
	}
	if p.backup || p.mismatch && !exact {
		name := p.prefix + to + p.suffix
		if err := os.WriteFile(name, before, 0o666); err != nil {
			return err
		}
		if there {
			if err := os.Chmod(name, mode); err != nil {
				return err
			}
		}
	}
	if len(after) == 0 && (p.removeEmpty || c.newGone) {
		if there {
			if err := os.Remove(to); err != nil {
				return err
			}
			for dir := path.Dir(to); dir != "." && dir != "/" && os.Remove(dir) == nil; dir = path.Dir(dir) {
			}
		}
		return nil
	}
	if dir := path.Dir(to); !exists(dir) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	if err := os.WriteFile(to, after, mode); err != nil {
		return err
	}
	if c.newMode != "" {
		if err := os.Chmod(to, mode); err != nil {
			return err
		}
	}
	if from != to && !c.copied {
		return os.Remove(from)
	}
	return nil
}

// hunks applies those of c, and returns those that did not fit. skipped says
// that none was tried after the first; exact, that all stood where they said.
func (p *patcher) hunks(c *change, t *text, name string, there bool) (rejected []*hunk, skipped, exact bool) {
	exact = true
	forward := p.force
	for i, h := range c.hunks {
		before, after := h.context()
		most := min(p.fuzz, max(before, after))
		at, fuzz := 0, 0
		for ; fuzz <= most; fuzz++ {
			if at = p.place(c, t, h, fuzz, there); at > 0 {
				break
			}
			if i > 0 || forward {
				continue
			}
			if reversed := p.reversed(c, t, h, fuzz, there); reversed {
				if !p.batch {
					p.seemsReversed(c, name, there)
					return c.hunks, true, false
				}
				p.say("Reversed (or previously applied) patch detected!  Assuming -R.\n")
				c.reverse()
				forward = true
				fuzz--
			}
		}
		line := strconv.Itoa(max(at, h.oldStart*boolInt(at == 0)) + t.grown)
		if at == 0 {
			ends := ""
			if t.otherEnds(h, most) {
				ends = " (different line endings)"
			}
			p.ask("Hunk #", strconv.Itoa(i+1), " FAILED at ", line, ends, ".\n")
			rejected, exact = append(rejected, h), false
			continue
		}
		t.apply(h, at)
		if fuzz > 0 || t.offset != 0 {
			exact = false
			p.say("Hunk #", strconv.Itoa(i+1), " succeeded at ", line)
			if fuzz > 0 {
				p.say(" with fuzz ", strconv.Itoa(fuzz))
			}
			if t.offset != 0 {
				p.say(" (offset ", offset(t.offset), ")")
			}
			p.say(".\n")
		}
	}
	return rejected, false, exact
}

func offset(n int) string {
	if n == 1 {
		return "1 line"
	}
	return strconv.Itoa(n) + " lines"
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// place finds where h goes. A hunk that makes a file goes nowhere in one that
// has something in it already.
func (p *patcher) place(c *change, t *text, h *hunk, fuzz int, there bool) int {
	if creates(c) && len(t.lines) > 0 && (c.oldGone || h.oldStart <= 1) {
		return 0
	}
	return t.locate(h, fuzz)
}

// reversed tells whether h fits with before and after swapped.
func (p *patcher) reversed(c *change, t *text, h *hunk, fuzz int, there bool) bool {
	if creates(c) && len(t.lines) > 0 || c.newGone && !there {
		return true
	}
	saved := t.offset
	h.reverse()
	at := t.locate(h, fuzz)
	h.reverse()
	t.offset = saved
	return at > 0
}

// madeTwice tells whether c makes a file that is there, with something in it.
func (p *patcher) madeTwice(c *change, data []byte) bool {
	return creates(c) && len(data) > 0 && !p.force && !p.batch
}

// seemsReversed tells of a patch that is applied already, and skips it.
func (p *patcher) seemsReversed(c *change, name string, there bool) {
	next := "The next patch"
	if p.reverse {
		next += ", when reversed,"
	}
	switch {
	case creates(c) && there:
		p.ask(next, " would create the file ", quoted(name), ",\nwhich already exists!")
	case c.newGone && !there:
		p.ask(next, " would delete the file ", quoted(name), ",\nwhich does not exist!")
	case p.reverse:
		p.ask("Unreversed patch detected!")
	default:
		p.ask("Reversed (or previously applied) patch detected!")
	}
	switch {
	case p.forward:
		p.ask("  Skipping patch.\n")
	case p.reverse:
		p.ask("  Ignore -R? [n] \nApply anyway? [n] \n")
		p.say("Skipping patch.\n")
	default:
		p.ask("  Assume -R? [n] \nApply anyway? [n] \n")
		p.say("Skipping patch.\n")
	}
}

// reject writes the hunks that did not fit beside the file.
func (p *patcher) reject(c *change, name string, hunks []*hunk, skipped, there bool) error {
	what := " FAILED"
	if skipped {
		what = " ignored"
	}
	file := p.rejects
	if file == "" {
		if file = name + ".rej"; p.output != "" {
			file = p.output + ".rej"
		}
	}
	p.ask(strconv.Itoa(len(hunks)), " out of ", count(len(c.hunks), "hunk"), what)
	// What would have been made or removed as a whole needs no reject file.
	if p.dryRun || file == "-" || skipped && (creates(c) || c.newGone && !there) {
		p.ask("\n")
		return nil
	}
	p.ask(" -- saving rejects to file ", quoted(file), "\n")
	var b strings.Builder
	oldLine, newLine := c.oldLine, c.newLine
	if oldLine == "" {
		oldLine, newLine = "--- "+name, "+++ "+name
	}
	b.WriteString("--- " + afterMark(oldLine) + "\n+++ " + afterMark(newLine) + "\n")
	for _, h := range hunks {
		b.WriteString("@@ -" + span(h.oldStart, len(h.side('+'))) + " +" + span(h.newStart, len(h.side('-'))) + " @@\n")
		for _, l := range h.lines {
			b.WriteString(string(l.op) + l.text)
			if !strings.HasSuffix(l.text, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	return os.WriteFile(file, []byte(b.String()), 0o666)
}

// afterMark is a header line without its first word.
func afterMark(line string) string { return line[min(4, len(line)):] }

// span writes a range as in a unified hunk.
func span(start, n int) string {
	switch n {
	case 0:
		return strconv.Itoa(start-1) + ",0"
	case 1:
		return strconv.Itoa(start)
	}
	return strconv.Itoa(start) + "," + strconv.Itoa(n)
}
