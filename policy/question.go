package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Question words what a person is asked about an action: exactly what would
// happen, so that nothing in it can hide, and why it is asked. The text is
// safe for a terminal.
func Question(a Action, d Decision) string {
	var b strings.Builder
	what := func(question, text string) { b.WriteString(question + "\n\n" + visible(text)) }
	more := func(label, text string) {
		if text != "" {
			b.WriteString("\n" + label + " " + visible(text))
		}
	}
	switch {
	case a.Command != nil:
		what("Run this command in the sandbox?", a.Command.Text)
		if a.Command.Cwd != "" {
			b.WriteByte('\n')
			more("In", a.Command.Cwd)
		}
		more("With", strings.Join(a.Command.Environ, " ")) // values too: they can change what runs
	case a.Exec != nil:
		what("Run this program in the sandbox?", words(a.Exec.Name, a.Exec.Args))
		b.WriteByte('\n')
		more("In", a.Exec.Cwd)
		more("Started by", strings.Join(a.Exec.Ancestors, " > "))
	case a.File != nil:
		text := a.File.Op + " " + word(a.File.Path)
		if a.File.To != "" {
			text += " to " + word(a.File.To)
		}
		what("Let this happen to a file?", text)
		b.WriteByte('\n')
		more("By", a.File.By)
	case a.Net != nil:
		n := a.Net
		what("Make this connection?", strings.TrimSpace(fmt.Sprintf("%s %s://%s:%d%s", n.Method, n.Scheme, n.Host, n.Port, n.Path)))
		b.WriteByte('\n')
		more("To the address", n.IP)
		more("By", n.By)
	case a.Tool != nil:
		what("Call this tool?", word(a.Tool.Server)+" "+word(a.Tool.Name))
		for _, k := range sortedKeys(a.Tool.Arguments) {
			b.WriteString("\n  " + visible(fmt.Sprintf("%s: %#v", word(k), a.Tool.Arguments[k])))
		}
	case a.Module != nil:
		what("Load this program?", word(a.Module.Name)+" from "+word(a.Module.Source))
		b.WriteByte('\n')
		more("With the digest", a.Module.SHA256)
	case a.Output != nil:
		what("Show this output?", fmt.Sprintf("%d bytes of %s", a.Output.Bytes, a.Output.Stream))
	}
	for _, r := range d.Reasons {
		b.WriteString("\n\nWhy this is asked: " + Plain(r.Msg))
	}
	return b.String()
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// words writes an argv so that each argument can be told from the next.
func words(name string, args []string) string {
	var b strings.Builder
	b.WriteString(word(name))
	for _, a := range args {
		b.WriteString(" " + word(a))
	}
	return b.String()
}

// word quotes what is not plainly one word.
func word(s string) string {
	plain := s != ""
	for _, r := range s {
		if r == ' ' || r == '"' || r == '\\' || r == '\'' || !unicode.IsPrint(r) || r == utf8.RuneError {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strconv.QuoteToGraphic(s)
}

// visible shows a text so that nothing in it can hide: characters that draw
// nothing, move the cursor or turn the direction are written out, and what
// does not fit is said to be missing.
func visible(text string) string {
	for _, r := range text {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			text = strconv.QuoteToGraphic(text)
			break
		}
	}
	const head, tail = 1500, 500
	if len(text) <= head+tail {
		return text
	}
	end := text[len(text)-tail:]
	for end != "" && end[0]&0xC0 == 0x80 {
		end = end[1:]
	}
	n := head
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[... %d bytes are not shown here ...]\n%s", text[:n], len(text)-n-len(end), end)
}

// Describe puts an action into a few words on one line, safe for a terminal.
func Describe(a Action) string {
	var s string
	switch {
	case a.Command != nil:
		s = a.Command.Text
	case a.Exec != nil:
		s = strings.Join(append([]string{a.Exec.Name}, a.Exec.Args...), " ")
	case a.File != nil:
		s = a.File.Op + " " + a.File.Path
		if a.File.To != "" {
			s += " to " + a.File.To
		}
	case a.Net != nil:
		s = fmt.Sprintf("%s %s://%s:%d%s", a.Net.Method, a.Net.Scheme, a.Net.Host, a.Net.Port, a.Net.Path)
	case a.Tool != nil:
		s = a.Tool.Server + " " + a.Tool.Name
	case a.Module != nil:
		s = a.Module.Name + " " + a.Module.SHA256
	case a.Output != nil:
		s = fmt.Sprintf("%d bytes of %s", a.Output.Bytes, a.Output.Stream)
	}
	return strings.TrimSpace(Plain(s))
}
