package awk

import (
	"math"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

// builder makes the call of a function of the language from its arguments.
type builder struct {
	least, most int
	make        func(p *parser, a []*expr) *expr
}

// builtins returns the functions of the language.
func builtins() map[string]*builder {
	return map[string]*builder{
		"length":   {0, 1, makeLength},
		"substr":   {2, 3, makeSubstr},
		"index":    {2, 2, makeIndex},
		"split":    {2, 4, makeSplit},
		"patsplit": {2, 4, makePatsplit},
		"sub":      {2, 3, func(p *parser, a []*expr) *expr { return makeSub(p, a, false) }},
		"gsub":     {2, 3, func(p *parser, a []*expr) *expr { return makeSub(p, a, true) }},
		"gensub":   {3, 4, makeGensub},
		"match":    {2, 3, makeMatch},
		"sprintf": {1, 1 << 20, func(_ *parser, a []*expr) *expr {
			return textual(func(m *machine) string { return string(m.format(a)) })
		}},
		"toupper": {1, 1, textFunc(strings.ToUpper)},
		"tolower": {1, 1, textFunc(strings.ToLower)},
		"sin":     {1, 1, numFunc(math.Sin)},
		"cos":     {1, 1, numFunc(math.Cos)},
		"exp":     {1, 1, makeExp},
		"log":     {1, 1, positive("log", math.Log)},
		"sqrt":    {1, 1, positive("sqrt", math.Sqrt)},
		"int":     {1, 1, numFunc(math.Trunc)},
		"atan2": {2, 2, func(_ *parser, a []*expr) *expr {
			return numeric(func(m *machine) float64 { y := a[0].num(m); return math.Atan2(y, a[1].num(m)) })
		}},
		"rand":   {0, 0, func(*parser, []*expr) *expr { return numeric((*machine).rand) }},
		"srand":  {0, 1, makeSrand},
		"system": {1, 1, makeSystem},
		"close": {1, 2, func(_ *parser, a []*expr) *expr {
			return numeric(func(m *machine) float64 { return m.closeName(a[0].str(m)) })
		}},
		"fflush": {0, 1, makeFlush},
		"systime": {0, 0, func(*parser, []*expr) *expr {
			return numeric(func(*machine) float64 { return float64(time.Now().Unix()) })
		}},
		"mktime":   {1, 2, makeMktime},
		"strftime": {0, 3, makeStrftime},
		"strtonum": {1, 1, makeStrtonum},
		"and":      {2, 1 << 20, bitFunc(func(x, y uint64) uint64 { return x & y })},
		"or":       {2, 1 << 20, bitFunc(func(x, y uint64) uint64 { return x | y })},
		"xor":      {2, 1 << 20, bitFunc(func(x, y uint64) uint64 { return x ^ y })},
		"lshift":   {2, 2, bitFunc(func(x, y uint64) uint64 { return x << y })},
		"rshift":   {2, 2, bitFunc(func(x, y uint64) uint64 { return x >> y })},
		"compl": {1, 1, func(_ *parser, a []*expr) *expr {
			return numeric(func(m *machine) float64 { return float64(^uint64(a[0].num(m)) & (1<<53 - 1)) })
		}},
		"asort":  {1, 3, func(p *parser, a []*expr) *expr { return makeSort(p, a, false) }},
		"asorti": {1, 3, func(p *parser, a []*expr) *expr { return makeSort(p, a, true) }},
		"typeof": {1, 1, makeTypeof},
		"isarray": {1, 1, func(p *parser, a []*expr) *expr {
			v := bare(a[0])
			return boolean(func(m *machine) bool { return v != nil && m.slot(v).arr != nil })
		}},
	}
}

func (p *parser) builtin() *expr {
	name := p.tok.text
	b := p.builtins[name]
	p.next()
	var args []*expr
	if p.tok.kind == "(" {
		args = p.arguments()
	} else if name != "length" {
		p.unexpected()
	}
	if len(args) < b.least || len(args) > b.most {
		p.fail(itoa(len(args)) + " is invalid as number of arguments for " + name)
	}
	return b.make(p, args)
}

// bare is the variable that an argument is, when it is nothing else.
func bare(e *expr) *variable {
	if l := e.lv; l != nil && l.v != nil && l.key == nil {
		return l.v
	}
	return nil
}

// arrayArg is an argument that must be an array.
func (p *parser) arrayArg(e *expr, name string) *variable {
	v := bare(e)
	if v == nil {
		p.fail(name + ": an argument is not an array")
	}
	return v
}

func textFunc(f func(string) string) func(*parser, []*expr) *expr {
	return func(_ *parser, a []*expr) *expr {
		s := a[0].str
		return textual(func(m *machine) string { return f(s(m)) })
	}
}

func numFunc(f func(float64) float64) func(*parser, []*expr) *expr {
	return func(_ *parser, a []*expr) *expr {
		n := a[0].num
		return numeric(func(m *machine) float64 { return invalid(f(n(m))) })
	}
}

// invalid gives what is not a number the sign that processors give it.
func invalid(n float64) float64 {
	if n != n {
		return math.Copysign(n, -1)
	}
	return n
}

func makeExp(_ *parser, a []*expr) *expr {
	return numeric(func(m *machine) float64 {
		n := a[0].num(m)
		r := math.Exp(n)
		if (r == 0 || math.IsInf(r, 0)) && !math.IsInf(n, 0) {
			m.c.Warn("cmd. line:1: warning: exp: argument ", m.numberText(n), " is out of range")
		}
		return r
	})
}

// positive is a function that warns of negative numbers.
func positive(name string, f func(float64) float64) func(*parser, []*expr) *expr {
	return func(_ *parser, a []*expr) *expr {
		return numeric(func(m *machine) float64 {
			n := a[0].num(m)
			if n < 0 {
				m.c.Warn("cmd. line:1: warning: ", name, ": received negative argument ", m.numberText(n))
				return invalid(math.NaN())
			}
			return f(n)
		})
	}
}

func bitFunc(f func(x, y uint64) uint64) func(*parser, []*expr) *expr {
	return func(_ *parser, a []*expr) *expr {
		return numeric(func(m *machine) float64 {
			var r uint64
			for i, e := range a {
				n := e.num(m)
				if n < 0 {
					m.fatal("negative values are not allowed in bit operations")
				}
				if i == 0 {
					r = uint64(n)
				} else {
					r = f(r, uint64(n))
				}
			}
			return float64(r)
		})
	}
}

func makeLength(_ *parser, a []*expr) *expr {
	if len(a) == 0 {
		return numeric(func(m *machine) float64 { return float64(charCount(m.text())) })
	}
	v, s := bare(a[0]), a[0].str
	return numeric(func(m *machine) float64 {
		if v != nil {
			if arr := m.slot(v).arr; arr != nil {
				return float64(len(arr.m))
			}
		}
		return float64(charCount(s(m)))
	})
}

func makeIndex(_ *parser, a []*expr) *expr {
	return numeric(func(m *machine) float64 {
		s := a[0].str(m)
		t := a[1].str(m)
		if m.fold {
			s, t = strings.ToLower(s), strings.ToLower(t)
		}
		i := strings.Index(s, t)
		if i < 0 {
			return 0
		}
		return float64(1 + charCount(s[:i]))
	})
}

// makeSubstr is substr as gawk has it: numbers lose their fractions, and a
// start before the first character is the first.
func makeSubstr(_ *parser, a []*expr) *expr {
	return textual(func(m *machine) string {
		s := a[0].str(m)
		start, n := math.Trunc(a[1].num(m)), math.Inf(1)
		if len(a) == 3 {
			n = math.Trunc(a[2].num(m))
		}
		if start = max(start, 1); !(n > 0) || !(start <= float64(len(s))) {
			return ""
		}
		s = s[charOffset(s, int(start)-1):]
		if n < float64(len(s)) {
			s = s[:charOffset(s, int(n))]
		}
		return s
	})
}

// separators splits s and calls f for each field and for what follows it.
func (m *machine) separators(sp *splitter, s string, f func(field, sep string)) {
	for pos := 0; pos >= 0; {
		start, end, next, ok := m.nextField(sp, s, pos)
		if !ok {
			return
		}
		after := next
		if after < 0 {
			after = end
		}
		if sp.how == ' ' {
			for after < len(s) && (s[after] == ' ' || s[after] == '\t' || s[after] == '\n') {
				after++
			}
		}
		f(s[start:end], s[end:after])
		pos = next
	}
}

func makeSplit(p *parser, a []*expr) *expr {
	v := p.arrayArg(a[1], "split")
	var seps *variable
	if len(a) == 4 {
		seps = p.arrayArg(a[3], "split")
	}
	return numeric(func(m *machine) float64 {
		s := a[0].str(m)
		sp := m.split
		switch {
		case len(a) < 3:
			if sp.how == 'p' || sp.how == 'w' {
				sp = m.splitterFor(m.fs, false)
			}
		case a[2].regex != nil && a[2].regex.src == "":
			sp = splitter{how: 'c'}
		case a[2].regex != nil:
			sp = splitter{how: 'r', re: a[2].regex}
		default:
			sp = m.splitterFor(a[2].str(m), false)
		}
		out := m.array(v)
		out.clear()
		var sepArray *array
		if seps != nil {
			sepArray = m.array(seps)
			sepArray.clear()
		}
		n := 0
		m.separators(&sp, s, func(field, sep string) {
			n++
			out.set(m.numberText(float64(n)), value{s: own(field), k: input})
			if sepArray != nil && sep != "" {
				sepArray.set(itoa(n), str(own(sep)))
			}
		})
		return float64(n)
	})
}

func makePatsplit(p *parser, a []*expr) *expr {
	v := p.arrayArg(a[1], "patsplit")
	var seps *variable
	if len(a) == 4 {
		seps = p.arrayArg(a[3], "patsplit")
	}
	return numeric(func(m *machine) float64 {
		s := a[0].str(m)
		var re *regex
		if len(a) > 2 {
			re = m.pattern(a[2])
		} else if f := m.vars["FPAT"]; f != nil && m.globals[f.index].v.k != unset {
			re = m.dynamic(m.str(&m.globals[f.index].v))
		} else {
			re = m.dynamic("[^[:space:]]+")
		}
		out, sepArray := m.array(v), newArray()
		out.clear()
		if seps != nil {
			sepArray = m.array(seps)
			sepArray.clear()
		}
		n := 0
		rest := m.eachField(re, s, func(field, sep string) {
			sepArray.set(itoa(n), str(own(sep)))
			n++
			out.set(itoa(n), value{s: own(field), k: input})
		})
		if n > 0 {
			sepArray.set(itoa(n), str(own(rest)))
		}
		return float64(n)
	})
}

func makeMatch(p *parser, a []*expr) *expr {
	var out *variable
	if len(a) == 3 {
		out = p.arrayArg(a[2], "match")
	}
	return numeric(func(m *machine) float64 {
		s := a[0].str(m)
		re := m.pattern(a[1])
		start, end, ok := m.find(re, s, 0)
		m.rstart, m.rlength = 0, -1
		if out != nil {
			m.array(out).clear()
		}
		if !ok {
			return 0
		}
		m.rstart = float64(1 + charCount(s[:start]))
		m.rlength = float64(charCount(s[start:end]))
		if out != nil {
			arr := m.array(out)
			loc := m.groups(re, s, start, end)
			for i := 0; 2*i < len(loc); i++ {
				if from, to := loc[2*i], loc[2*i+1]; from >= 0 {
					key := itoa(i)
					arr.set(key, value{s: own(s[from:to]), k: input})
					arr.set(key+m.subsep+"start", number(float64(1+charCount(s[:from]))))
					arr.set(key+m.subsep+"length", number(float64(charCount(s[from:to]))))
				}
			}
		}
		return m.rstart
	})
}

func (m *machine) rand() float64 {
	if m.random == nil {
		m.random = rand.New(rand.NewSource(0))
	}
	return m.random.Float64()
}

func makeSrand(_ *parser, a []*expr) *expr {
	return numeric(func(m *machine) float64 {
		before := m.seed
		if m.seed = float64(time.Now().Unix()); len(a) > 0 {
			m.seed = a[0].num(m)
		}
		m.random = rand.New(rand.NewSource(int64(m.seed)))
		return before
	})
}

func makeSystem(_ *parser, a []*expr) *expr {
	return numeric(func(m *machine) float64 {
		line := a[0].str(m)
		m.flush()
		status, err := m.shell(line, nil, nil)
		if err != nil {
			m.fatal(err.Error())
		}
		return float64(status)
	})
}

func makeFlush(_ *parser, a []*expr) *expr {
	return numeric(func(m *machine) float64 {
		if len(a) > 0 {
			if name := a[0].str(m); name != "" && name != "/dev/stdout" {
				w := m.writers[name]
				if w == nil {
					w = m.writers[m.writes[name]]
				}
				if w == nil {
					return -1
				}
				w.Flush()
				return 0
			}
		}
		m.flush()
		return 0
	})
}

func makeStrtonum(_ *parser, a []*expr) *expr {
	return numeric(func(m *machine) float64 {
		v := a[0].val(m)
		if n, ok := v.numeric(); ok { // decimal, where a user typed it
			return n
		}
		if len(v.s) > 1 && v.s[0] == '0' { // no sign or blank before it
			if n, end := literalNumber(v.s); end > 0 {
				return n
			}
		}
		n, _ := parseNumber(v.s)
		return n
	})
}

func (m *machine) zone() *time.Location {
	tz := os.Getenv("TZ")
	if v := m.vars["ENVIRON"]; v != nil {
		if p := m.array(v).m["TZ"]; p != nil {
			tz = m.str(p)
		}
	}
	if l, err := gnudate.Location(tz); err == nil {
		return l
	}
	return time.UTC
}

// timeFormat is that of strftime without one.
const timeFormat = "%a %b %e %H:%M:%S %Z %Y"

func makeStrftime(_ *parser, a []*expr) *expr {
	return textual(func(m *machine) string {
		format, t, loc := timeFormat, time.Now(), m.zone()
		if v := m.named("PROCINFO").m["strftime"]; v != nil {
			format = m.str(v)
		}
		if len(a) > 0 {
			format = a[0].str(m)
		}
		if len(a) > 1 {
			t = time.Unix(int64(a[1].num(m)), 0)
		}
		if len(a) > 2 && a[2].cond(m) {
			loc = time.FixedZone("GMT", 0)
		}
		return gnudate.Format(format, t.In(loc))
	})
}

func makeMktime(_ *parser, a []*expr) *expr {
	return numeric(func(m *machine) float64 {
		loc := m.zone()
		f := strings.Fields(a[0].str(m))
		if len(a) > 1 && a[1].cond(m) {
			loc = time.UTC
		}
		var n [6]int
		if len(f) < len(n) {
			return -1
		}
		for i := range n {
			v, err := strconv.Atoi(f[i])
			if err != nil {
				return -1
			}
			n[i] = v
		}
		return float64(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, loc).Unix())
	})
}

func makeTypeof(_ *parser, a []*expr) *expr {
	v, l := bare(a[0]), a[0].lv
	return textual(func(m *machine) string {
		if a[0].regex != nil {
			return "regexp"
		}
		if v != nil && m.slot(v).arr != nil {
			return "array"
		}
		var x value
		if l != nil {
			pl := l.place(m)
			if l.field != nil && pl.i > m.countFields() {
				return "unassigned"
			}
			x = pl.get(m)
		} else {
			x = a[0].val(m)
		}
		switch x.k {
		case num:
			return "number"
		case unset:
			if l != nil && l.key != nil {
				return "unassigned"
			}
			return "untyped"
		case input:
			if _, ok := looksNumeric(x.s); ok {
				return "strnum"
			}
		}
		return "string"
	})
}
