package awk

import (
	"errors"
	"sort"
	"strconv"
	"strings"

	"github.com/benhoyt/goawk/lexer"
)

// tok is a token of the program and where its text is.
type tok struct {
	kind       lexer.Token
	text       string
	start, end int
}

// edits are replacements of parts of the source.
type edit struct {
	start, end int
	text       string
	order      int
}

type rewriter struct {
	src    string
	toks   []tok
	edits  []edit
	loops  int
	locals map[int][]string // by the token of a function's closing ): names to add
	need   map[string]bool  // functions of the prelude
}

// unsupported are gawk's names that goawk would take for ordinary variables,
// with wrong results.
var unsupported = map[string]bool{
	"IGNORECASE": true, "FPAT": true, "FIELDWIDTHS": true, "RT": true, "BEGINFILE": true, "ENDFILE": true, "LINT": true,
	"patsplit": true, "typeof": true, "isarray": true, "switch": true, "dcgettext": true, "bindtextdomain": true,
}

// rewrite turns the program into one for goawk.
func rewrite(src string) (string, error) {
	r := &rewriter{src: src, locals: map[int][]string{}, need: map[string]bool{}}
	if err := r.scan(); err != nil {
		return "", err
	}
	fn := -1 // the token of the ) of the parameters of the function being in
	depth := 0
	for i := range r.toks {
		t := &r.toks[i]
		switch t.kind {
		case lexer.LBRACE:
			depth++
		case lexer.RBRACE:
			if depth--; depth == 0 {
				fn = -1
			}
		case lexer.FUNCTION:
			if i+2 < len(r.toks) && r.toks[i+2].kind == lexer.LPAREN {
				fn = r.match(i + 2)
			}
		case lexer.NAME:
			if unsupported[t.text] {
				return "", errors.New(t.text + " is not supported")
			}
			if t.text == "func" && i+2 < len(r.toks) && r.toks[i+1].kind == lexer.NAME && r.toks[i+2].kind == lexer.LPAREN {
				r.replace(t.start, t.end, "function")
				fn = r.match(i + 2)
			}
			if err := r.call(i); err != nil {
				return "", err
			}
		case lexer.F_SYSTEM:
			r.replace(t.start, t.end, "__system")
			if i+1 < len(r.toks) && r.toks[i+1].kind == lexer.LPAREN {
				r.insert(r.toks[i+1].end, "fflush(), ")
			}
		case lexer.F_CLOSE:
			r.wrap(i, "__closed(close(__name(", ")))")
		case lexer.F_FFLUSH:
			if i+2 < len(r.toks) && r.toks[i+1].kind == lexer.LPAREN && r.toks[i+2].kind != lexer.RPAREN {
				r.wrap(i, "fflush(__name(", "))")
			}
		case lexer.F_MATCH:
			r.match3(i)
		case lexer.PIPE:
			if err := r.pipe(i); err != nil {
				return "", err
			}
		case lexer.STRING:
			if i > 0 && t.text == "/dev/stdout" && (r.toks[i-1].kind == lexer.GREATER || r.toks[i-1].kind == lexer.APPEND) {
				r.replace(t.start, t.end, `"-"`)
			}
		case lexer.FOR:
			r.forIn(i, fn)
		case lexer.REGEX:
			if s := wordEdges(t.text); s != t.text {
				r.replace(t.start, t.end, "/"+strings.ReplaceAll(s, "/", `\/`)+"/")
			}
		case lexer.AT:
			return "", errors.New("@ (include, load, indirect calls) is not supported")
		}
	}
	for close, names := range r.locals {
		sep := ", "
		if r.toks[close-1].kind == lexer.LPAREN {
			sep = ""
		}
		r.insert(r.toks[close].start, sep+strings.Join(names, ", "))
	}
	return r.apply() + r.prelude(), nil
}

// wordEdges rewrites gawk's \< \> \y.
func wordEdges(re string) string {
	if !strings.Contains(re, `\`) {
		return re
	}
	return strings.NewReplacer(`\\`, `\\`, `\<`, `\b`, `\>`, `\b`, `\y`, `\b`, "\\`", `\A`, `\'`, `\z`).Replace(re)
}

// operandEnd tells whether a / after the token divides.
func operandEnd(k lexer.Token) bool {
	switch k {
	case lexer.NAME, lexer.NUMBER, lexer.STRING, lexer.RPAREN, lexer.RBRACKET, lexer.DOLLAR, lexer.INCR, lexer.DECR, lexer.F_LENGTH, lexer.REGEX:
		return true
	}
	return false
}

func (r *rewriter) scan() error {
	lines := []int{0}
	for i := range len(r.src) {
		if r.src[i] == '\n' {
			lines = append(lines, i+1)
		}
	}
	l := lexer.NewLexer([]byte(r.src))
	last := lexer.NEWLINE
	for {
		pos, kind, text := l.Scan()
		if (kind == lexer.DIV || kind == lexer.DIV_ASSIGN) && !operandEnd(last) {
			pos, kind, text = l.ScanRegex()
		}
		if kind == lexer.EOF || kind == lexer.ILLEGAL {
			break // goawk's parser says what is wrong
		}
		start := len(r.src)
		if pos.Line-1 < len(lines) {
			start = min(lines[pos.Line-1]+pos.Column-1, len(r.src))
		}
		if n := len(r.toks); n > 0 {
			r.toks[n-1].end = trimEnd(r.src, r.toks[n-1].start, start, r.toks[n-1].kind)
		}
		r.toks = append(r.toks, tok{kind: kind, text: text, start: start})
		last = kind
	}
	if n := len(r.toks); n > 0 {
		r.toks[n-1].end = trimEnd(r.src, r.toks[n-1].start, len(r.src), r.toks[n-1].kind)
	}
	return nil
}

// trimEnd finds where the text of a token ends before the next one starts:
// without blanks and comments.
func trimEnd(src string, start, next int, kind lexer.Token) int {
	s := src[start:next]
	switch kind {
	case lexer.STRING:
		for i := 1; i < len(s); i++ {
			if s[i] == '\\' {
				i++
			} else if s[i] == s[0] {
				return start + i + 1
			}
		}
	case lexer.REGEX:
		class := false
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\\':
				i++
			case s[i] == '[':
				class = true
			case s[i] == ']':
				class = false
			case s[i] == '/' && !class:
				return start + i + 1
			}
		}
		if i := strings.LastIndexByte(s, '/'); i > 0 {
			return start + i + 1
		}
	case lexer.NEWLINE:
		return start + 1
	case lexer.NAME, lexer.NUMBER:
	default:
		if kind >= lexer.BEGIN && kind <= lexer.LAST_FUNC {
			break
		}
		i := 0
		for i < len(s) && strings.IndexByte(" \t\r\n#\\", s[i]) < 0 {
			i++
		}
		return start + i
	}
	i := 0
	for i < len(s) && (s[i] == '_' || s[i] == '.' || 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z' || '0' <= s[i] && s[i] <= '9' || (s[i] == '+' || s[i] == '-') && i > 0 && s[i-1]|0x20 == 'e' && kind == lexer.NUMBER) {
		i++
	}
	return start + i
}

func (r *rewriter) replace(start, end int, text string) {
	r.edits = append(r.edits, edit{start, end, text, len(r.edits)})
}

func (r *rewriter) insert(at int, text string) { r.replace(at, at, text) }

// match returns the token of the ) that closes the ( at i, or -1.
func (r *rewriter) match(i int) int {
	depth := 0
	for ; i < len(r.toks); i++ {
		switch r.toks[i].kind {
		case lexer.LPAREN, lexer.LBRACKET:
			depth++
		case lexer.RPAREN, lexer.RBRACKET:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// commas returns the tokens of the commas between the arguments of the call
// whose ( is at open.
func (r *rewriter) commas(open, close int) []int {
	var out []int
	depth := 0
	for i := open; i < close; i++ {
		switch r.toks[i].kind {
		case lexer.LPAREN, lexer.LBRACKET:
			depth++
		case lexer.RPAREN, lexer.RBRACKET:
			depth--
		case lexer.COMMA:
			if depth == 1 {
				out = append(out, i)
			}
		}
	}
	return out
}

// wrap puts a call's name and ( and its ) into other text.
func (r *rewriter) wrap(i int, before, after string) {
	if i+1 >= len(r.toks) || r.toks[i+1].kind != lexer.LPAREN {
		return
	}
	if c := r.match(i + 1); c > 0 {
		r.replace(r.toks[i].start, r.toks[i+1].end, before)
		r.replace(r.toks[c].start, r.toks[c].end, after)
	}
}

// literal makes an argument that is a regular expression the same as text.
func (r *rewriter) literal(first, end int) {
	if end-first == 1 && r.toks[first].kind == lexer.REGEX {
		t := r.toks[first]
		s := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(wordEdges(t.text))
		r.replace(t.start, t.end, `"`+s+`"`)
		r.toks[first].kind = lexer.STRING
		r.toks[first].text = ""
	}
}

// call rewrites calls of gawk's functions.
func (r *rewriter) call(i int) error {
	t := r.toks[i]
	if i+1 >= len(r.toks) || r.toks[i+1].kind != lexer.LPAREN {
		return nil
	}
	c := r.match(i + 1)
	if c < 0 {
		return nil
	}
	commas := r.commas(i+1, c)
	switch t.text {
	case "gensub":
		if len(commas) < 2 {
			return errors.New("gensub: too few arguments")
		}
		r.literal(i+2, commas[0])
		if len(commas) == 2 {
			r.insert(r.toks[c].start, ", $0")
		}
	case "asort", "asorti":
		if len(commas) > 1 {
			return errors.New(t.text + ": the third argument is not supported")
		}
		name := "__" + t.text + strconv.Itoa(len(commas)+1)
		r.need[name] = true
		r.replace(t.start, t.end, name)
	}
	return nil
}

// match3 rewrites match(s, re, array).
func (r *rewriter) match3(i int) {
	if i+1 >= len(r.toks) || r.toks[i+1].kind != lexer.LPAREN {
		return
	}
	c := r.match(i + 1)
	if c < 0 {
		return
	}
	if commas := r.commas(i+1, c); len(commas) == 2 {
		r.need["__match3"] = true
		r.replace(r.toks[i].start, r.toks[i].end, "__match3")
		r.literal(commas[0]+1, commas[1])
	}
}

// forIn makes a loop over an array one over its keys in order.
func (r *rewriter) forIn(i, fn int) {
	if i+5 >= len(r.toks) {
		return
	}
	t := r.toks[i : i+6]
	if t[1].kind != lexer.LPAREN || t[2].kind != lexer.NAME || t[3].kind != lexer.IN || t[4].kind != lexer.NAME || t[5].kind != lexer.RPAREN {
		return
	}
	r.loops++
	h := "__h" + strconv.Itoa(r.loops)
	if fn > 0 {
		r.locals[fn] = append(r.locals[fn], h)
	}
	r.need["__iter"] = true
	r.replace(t[1].start, t[5].end, "("+h+" = __iter("+t[4].text+"); __more("+h+") && (("+t[2].text+" = __next("+h+")) || 1); )")
}

// pipe rewrites a | of print or of getline.
func (r *rewriter) pipe(i int) error {
	if i+1 < len(r.toks) && r.src[r.toks[i].start:min(r.toks[i].start+2, len(r.src))] == "|&" {
		return errors.New("|& (a coprocess) is not supported")
	}
	if i+1 < len(r.toks) && r.toks[i+1].kind == lexer.GETLINE {
		start := r.operandStart(i)
		if start < 0 {
			return nil
		}
		end := r.lvalueEnd(i + 2)
		lv := ""
		if end > i+2 {
			lv = r.src[r.toks[i+2].start:r.toks[end-1].end]
		}
		r.insert(r.toks[start].start, "(getline "+lv+" < __pipe(fflush(), ")
		last := r.toks[i+1].end
		if end > i+2 {
			last = r.toks[end-1].end
		}
		r.replace(r.toks[i].start, last, "))")
		return nil
	}
	// print ... | command: the command goes to the end of the statement.
	depth, j := 0, i+1
	for ; j < len(r.toks); j++ {
		k := r.toks[j].kind
		if k == lexer.LPAREN || k == lexer.LBRACKET {
			depth++
		} else if k == lexer.RPAREN || k == lexer.RBRACKET {
			depth--
		} else if depth == 0 && (k == lexer.SEMICOLON || k == lexer.NEWLINE || k == lexer.RBRACE) {
			break
		}
	}
	if j == i+1 {
		return nil
	}
	r.replace(r.toks[i].start, r.toks[i].end, ">> __out(")
	r.insert(r.toks[j-1].end, ")")
	return nil
}

// operandStart finds the first token of the command before | getline: a
// concatenation.
func (r *rewriter) operandStart(i int) int {
	at := -1
	for j := i - 1; j >= 0; j-- {
		switch k := r.toks[j].kind; k {
		case lexer.RPAREN, lexer.RBRACKET:
			open := r.matchBack(j)
			if open < 0 {
				return -1
			}
			if open > 0 && (r.toks[open-1].kind == lexer.IF || r.toks[open-1].kind == lexer.WHILE || r.toks[open-1].kind == lexer.FOR) {
				return at
			}
			j, at = open, open
		case lexer.NAME, lexer.NUMBER, lexer.STRING, lexer.DOLLAR, lexer.ADD, lexer.SUB, lexer.MUL, lexer.DIV, lexer.MOD, lexer.INCR, lexer.DECR:
			at = j
		default:
			if k >= lexer.FIRST_FUNC && k <= lexer.LAST_FUNC {
				at = j
				continue
			}
			return at
		}
	}
	return at
}

func (r *rewriter) matchBack(j int) int {
	depth := 0
	for ; j >= 0; j-- {
		switch r.toks[j].kind {
		case lexer.RPAREN, lexer.RBRACKET:
			depth++
		case lexer.LPAREN, lexer.LBRACKET:
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

// lvalueEnd returns the token after the variable that starts at i, or i when
// there is none.
func (r *rewriter) lvalueEnd(i int) int {
	if i >= len(r.toks) {
		return i
	}
	switch r.toks[i].kind {
	case lexer.NAME:
		if i+1 < len(r.toks) && r.toks[i+1].kind == lexer.LBRACKET && r.toks[i].end == r.toks[i+1].start {
			return r.match(i+1) + 1
		}
		return i + 1
	case lexer.DOLLAR:
		if i+1 < len(r.toks) && r.toks[i+1].kind == lexer.LPAREN {
			return r.match(i+1) + 1
		}
		return i + 2
	}
	return i
}

func (r *rewriter) apply() string {
	sort.SliceStable(r.edits, func(a, b int) bool {
		x, y := r.edits[a], r.edits[b]
		if x.start != y.start {
			return x.start < y.start
		}
		return x.order < y.order
	})
	var b strings.Builder
	pos := 0
	for _, e := range r.edits {
		if e.start > pos {
			b.WriteString(r.src[pos:e.start])
			pos = e.start
		}
		b.WriteString(e.text)
		pos = max(pos, e.end)
	}
	b.WriteString(r.src[pos:])
	return b.String()
}
