package shell

import "strings"

// What set -x prints: each command after its expansion, the heads of compound
// ones as they are written.

// trace prints a line of set -x. The first character of PS4 is repeated for
// each substitution, eval, source and trap around it.
func (sh *shell) trace(s string) {
	ps4 := sh.get("PS4")
	if strings.ContainsAny(ps4, "$`\\") {
		ps4 = sh.tracePrompt(ps4)
	}
	if sh.indirection > 0 && ps4 != "" {
		_, n := decode(ps4, 0)
		ps4 = strings.Repeat(ps4[:n], min(sh.indirection, 100)) + ps4
	}
	f := sh.fd(2)
	if n, ok := atoi(sh.get("BASH_XTRACEFD")); ok && sh.fd(int(n)) != nil {
		f = sh.fd(int(n))
	}
	if f != nil {
		_, _ = f.WriteString(sh.ctx, ps4+s+"\n")
	}
}

// tracePrompt expands PS4; an error in it is no error of the command.
func (sh *shell) tracePrompt(s string) (out string) {
	if err := catch(func() { out = sh.prompt(s) }); isFatal(err) {
		throw(err)
	} else if err != nil {
		return s
	}
	return out
}

// traceHead prints the head of a compound command.
func (sh *shell) traceHead(text string) {
	if sh.opts.has(optXtrace) {
		sh.trace(text)
	}
}

func (sh *shell) traceArgs(args []string) {
	if !sh.opts.has(optXtrace) {
		return
	}
	q := make([]string, len(args))
	for i, a := range args {
		q[i] = traceWord(a)
	}
	sh.trace(strings.Join(q, " "))
}

// traceAssign prints an assignment; val is what a scalar gets.
func (sh *shell) traceAssign(a *assign, val string) {
	if !sh.opts.has(optXtrace) {
		return
	}
	if a.isArray {
		sh.trace(a.raw)
		return
	}
	op := "="
	if a.app {
		op = "+="
	}
	name := a.name
	if a.sub != nil {
		name += "[" + a.sub.raw + "]"
	}
	sh.trace(name + op + traceQuote(val))
}

// traceDecl prints declare and its like: first the arrays that it makes, then
// itself, then the variables that export and readonly set.
func (sh *shell) traceDecl(name string, items []declItem) {
	if !sh.opts.has(optXtrace) {
		return
	}
	line := []string{name}
	for _, it := range items {
		switch {
		case it.a == nil:
			line = append(line, traceWord(it.text))
		case it.a.isArray:
			line = append(line, it.a.name)
			els := make([]string, len(it.els))
			for i, e := range it.els {
				switch {
				case e.expr != nil:
					els[i] = "[" + e.expr.raw + "]="
				case e.keyed:
					els[i] = "[" + singleQuote(e.key) + "]="
				}
				els[i] += singleQuote(e.val)
			}
			sh.trace(it.a.name + "=(" + strings.Join(els, " ") + ")")
		case it.a.value != nil:
			line = append(line, traceWord(it.a.name+"="+it.val))
		default:
			line = append(line, it.a.name)
		}
	}
	sh.trace(strings.Join(line, " "))
	if name != "export" && name != "readonly" {
		return
	}
	for _, it := range items {
		if it.a != nil && it.a.value != nil {
			sh.traceAssign(it.a, it.val)
		}
	}
}

// traceArith prints an arithmetic command. What would run again to be shown is
// shown as it is written.
func (sh *shell) traceArith(a *arith) {
	if !sh.opts.has(optXtrace) {
		return
	}
	text := a.raw
	if a.holes > 0 && pureParts(a.parts) {
		text = sh.text(a.parts)
	}
	sh.trace("(( " + text + " ))")
}

// traceWord quotes a word of a command where the shell needs it.
func traceWord(s string) string {
	if s == "" {
		return "''"
	}
	return traceQuote(s)
}

func traceQuote(s string) string {
	for i := range len(s) {
		if quoted(s, i) {
			return singleQuote(s)
		}
	}
	if needsAnsi(s) {
		return ansiQuote(s)
	}
	return s
}
