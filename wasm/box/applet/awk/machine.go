package awk

import (
	"bufio"
	"math/rand"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// machine runs a program.
type machine struct {
	c    *applet.Ctx
	prog *program
	*host

	globals []slot
	vars    map[string]*variable
	funcs   map[string]*function
	frame   []slot
	depth   int
	result  value
	status  int

	record string
	stale  bool // the record is to be put together from the fields
	fields []value
	nf     int // -1: not all fields are known
	at     int // where the next unknown field starts
	split  splitter

	nr, fnr                  float64
	fs, ofs, rs, ors, subsep string
	convfmt, ofmt            string
	fold                     bool
	rt, filename             value
	rstart, rlength          float64

	out     *bufio.Writer
	buf     []byte
	loc     []int
	small   [1024]string
	regexes map[string]*regex
	formats map[string][]piece
	parsed  map[string][]replacement

	in      *reader // the main input
	argAt   int
	noFile  bool // no file has been named
	args    *array
	argc    int
	readers map[string]*reader
	writers map[string]*writer
	random  *rand.Rand
	seed    float64
}

// fatalError ends the program.
type fatalError string

func (m *machine) fatal(msg string) { panic(fatalError(msg)) }

// magic are the variables that are not just kept.
type magic uint8

const (
	_ magic = iota
	magicNF
	magicNR
	magicFNR
	magicFS
	magicOFS
	magicRS
	magicORS
	magicSUBSEP
	magicCONVFMT
	magicOFMT
	magicRSTART
	magicRLENGTH
	magicFILENAME
	magicRT
	magicIGNORECASE
	magicFPAT
	magicFIELDWIDTHS
)

var magicNames = [...]string{"", "NF", "NR", "FNR", "FS", "OFS", "RS", "ORS", "SUBSEP", "CONVFMT", "OFMT", "RSTART", "RLENGTH", "FILENAME", "RT", "IGNORECASE", "FPAT", "FIELDWIDTHS"}

func (m *machine) counter(k magic) float64 {
	switch k {
	case magicNR:
		return m.nr
	case magicFNR:
		return m.fnr
	}
	return float64(m.countFields())
}

// texts are the magic variables that are kept as text.
func (m *machine) textOf(k magic) *string {
	switch k {
	case magicFS:
		return &m.fs
	case magicOFS:
		return &m.ofs
	case magicRS:
		return &m.rs
	case magicORS:
		return &m.ors
	case magicSUBSEP:
		return &m.subsep
	case magicCONVFMT:
		return &m.convfmt
	case magicOFMT:
		return &m.ofmt
	}
	return nil
}

func (m *machine) getMagic(v *variable) value {
	switch v.magic {
	case magicNF, magicNR, magicFNR:
		return number(m.counter(v.magic))
	case magicRSTART:
		return number(m.rstart)
	case magicRLENGTH:
		return number(m.rlength)
	case magicFILENAME:
		return m.filename
	case magicRT:
		return m.rt
	case magicIGNORECASE, magicFPAT, magicFIELDWIDTHS:
		return m.globals[v.index].v
	}
	return str(*m.textOf(v.magic))
}

func (m *machine) setMagic(v *variable, x value) {
	switch v.magic {
	case magicNF:
		m.resize(fieldIndex(x.num()))
	case magicNR:
		m.nr = x.num()
	case magicFNR:
		m.fnr = x.num()
	case magicRSTART:
		m.rstart = x.num()
	case magicRLENGTH:
		m.rlength = x.num()
	case magicFILENAME:
		m.filename = x
	case magicRT:
		m.rt = x
	case magicIGNORECASE:
		m.globals[v.index].v = x
		m.know(-1)
		m.fold = x.truth()
		m.resplit()
	case magicFPAT, magicFIELDWIDTHS:
		m.globals[v.index].v = x
		m.know(-1)
		if v.magic == magicFPAT {
			m.split = splitter{how: 'p', re: m.dynamic(m.str(&x))}
			break
		}
		m.split = splitter{how: 'w', widths: m.fieldWidths(m.str(&x))}
	case magicOFS:
		m.text() // with what separated it until now
		m.ofs = m.str(&x)
	case magicFS, magicRS:
		if m.split.how != ',' && (v.magic == magicFS || m.split.how != 'p' && m.split.how != 'w') {
			m.know(-1) // the record is split as it was read
			*m.textOf(v.magic) = m.str(&x)
			m.resplit()
			break
		}
		fallthrough
	default:
		*m.textOf(v.magic) = m.str(&x)
	}
}

func (m *machine) resplit() { m.split = m.splitterFor(m.fs, m.rs == "") }

// compare returns -1, 0 or 1, and 2 where an operand is not a number.
func (m *machine) compare(a, b *value) int {
	if x, ok := a.numeric(); ok {
		if y, ok := b.numeric(); ok {
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			case x == y:
				return 0
			}
			return 2
		}
	}
	s, t := m.str(a), m.str(b)
	if m.fold {
		s, t = strings.ToLower(s), strings.ToLower(t)
	}
	return strings.Compare(s, t)
}

// newMachine makes the machine of a program.
func newMachine(c *applet.Ctx, p *parser, args []string) *machine {
	m := &machine{
		c: c, prog: p.prog, host: newHost(c), vars: p.globals, funcs: p.funcs, out: c.Out(),
		globals: make([]slot, len(p.prog.globals)),
		fs:      " ", ofs: " ", rs: "\n", ors: "\n", subsep: "\x1c", convfmt: "%.6g", ofmt: "%.6g", rlength: -1,
		regexes: map[string]*regex{}, formats: map[string][]piece{}, parsed: map[string][]replacement{}, readers: map[string]*reader{}, writers: map[string]*writer{},
		noFile: true, args: newArray(), argc: 1 + len(args),
	}
	m.resplit()
	env := m.named("ENVIRON")
	for _, kv := range os.Environ() {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env.set(k, value{s: v, k: input})
		}
	}
	if m.vars["ARGV"] != nil {
		m.args = m.named("ARGV")
	}
	m.args.set("0", str(c.Cmd.Name))
	for i, a := range args {
		m.args.set(itoa(1+i), value{s: a, k: input})
	}
	if v := m.vars["ARGC"]; v != nil {
		m.globals[v.index].v = number(float64(m.argc))
	}
	m.named("PROCINFO").set("version", str("5.2.1"))
	m.named("PROCINFO").set("platform", str("posix"))
	m.named("PROCINFO").set("strftime", str(timeFormat))
	return m
}

// named is the global array of a name that the program may not use.
func (m *machine) named(name string) *array {
	v := m.vars[name]
	if v == nil {
		return newArray()
	}
	return m.array(v)
}

// setVariable assigns as -v and operands do.
func (m *machine) setVariable(name, text string) {
	v := m.vars[name]
	if v == nil {
		return // the program does not use it
	}
	l := lvalue{v: v}
	pl := l.place(m)
	pl.set(m, value{s: unescape(text), k: input})
}

// protected runs f and returns how it ended, also by a call out of the depth.
func (m *machine) protected(f func() control) (c control, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case control:
			c = r
			m.frame, m.depth = nil, 0
		case fatalError:
			err = r
			m.frame, m.depth = nil, 0
		default:
			panic(r)
		}
	}()
	return f(), nil
}

func (e fatalError) Error() string { return string(e) }

// run runs the whole program.
func (m *machine) run() int {
	c, err := m.edge(m.prog.begin, "BEGIN")
	if err == nil && c != ctlExit && (len(m.prog.rules) > 0 || len(m.prog.end) > 0 || len(m.prog.beginFile) > 0 || len(m.prog.endFile) > 0) {
		for err == nil && c != ctlExit {
			var more bool
			more, c, err = m.records()
			if !more {
				break
			}
			if c == ctlNextFile {
				m.skipFile()
			}
		}
	}
	if err == nil { // also after exit
		_, err = m.edge(m.prog.end, "END")
	}
	if err != nil {
		m.out.Flush()
		at := ""
		if m.nr > 0 {
			at = "(FILENAME=" + m.str(&m.filename) + " FNR=" + m.numberText(m.fnr) + ") "
		}
		m.c.Warn("cmd. line:1: ", at, "fatal: ", err.Error())
		m.closeAll()
		return failed
	}
	if s := m.closeAll(); s != 0 && m.status == 0 {
		return s
	}
	return m.status & 255
}

// edge runs the actions before or after all records.
func (m *machine) edge(list []stmt, name string) (control, error) {
	s := sequence(list)
	c, err := m.protected(func() control { return s(m) })
	if err == nil && (c == ctlNext || c == ctlNextFile) { // of a function: the parser knows of others
		err = fatalError("`" + nextNames[c] + "' cannot be called from a `" + name + "' rule")
	}
	return c, err
}

var nextNames = map[control]string{ctlNext: "next", ctlNextFile: "nextfile"}

// records runs the rules over records until one of them leaves by next from
// inside a function, or otherwise.
func (m *machine) records() (more bool, c control, err error) {
	c, err = m.protected(func() control {
		for m.readMain() {
			for _, r := range m.prog.rules {
				if !m.selects(r) {
					continue
				}
				if c := r.body(m); c != ctlNone {
					if c == ctlNext {
						break
					}
					return c
				}
			}
		}
		more = false
		return ctlNone
	})
	return c == ctlNext || c == ctlNextFile, c, err
}

func (m *machine) selects(r *rule) bool {
	if r.from == nil {
		return true
	}
	if r.to == nil {
		return r.from.cond(m)
	}
	if !r.on && !r.from.cond(m) {
		return false
	}
	r.on = !r.to.cond(m)
	return true
}

// readMain reads the next record of the files; false at the end of all.
func (m *machine) readMain() bool {
	s, ok := m.mainRecord()
	if ok {
		m.setRecord(s)
	}
	return ok
}

func (m *machine) mainRecord() (string, bool) {
	for {
		if m.in == nil && !m.nextFile() {
			return "", false
		}
		rec, rt, ok := m.next(m.in)
		if ok {
			m.rt = str(rt)
			m.nr++
			m.fnr++
			return rec, true
		}
		if err := m.in.failed(); err != nil {
			m.c.Flush()
			m.c.Warn("cmd. line:1: (FILENAME=", m.str(&m.filename), " FNR=", m.numberText(m.fnr), ") fatal: error reading input file `", m.str(&m.filename), "': ", applet.Reason(err))
			m.status = failed
			panic(ctlExit)
		}
		m.skipFile()
	}
}

func (m *machine) skipFile() {
	if m.in == nil {
		return
	}
	m.in.close()
	m.in = nil
	for _, s := range m.prog.endFile {
		if s(m) == ctlExit {
			panic(ctlExit)
		}
	}
}

// nextFile opens the next operand that is a file.
func (m *machine) nextFile() bool {
	argc := func() int {
		if v := m.vars["ARGC"]; v != nil {
			return int(m.globals[v.index].v.num())
		}
		return m.argc
	}
	for m.argAt < argc()-1 {
		m.argAt++
		p := m.args.m[itoa(m.argAt)]
		if p == nil || m.str(p) == "" {
			continue
		}
		arg := m.str(p)
		if name, text, ok := strings.Cut(arg, "="); ok && isName(name) {
			m.setVariable(name, text)
			continue
		}
		m.noFile = false
		if m.openMain(arg) {
			return true
		}
	}
	if m.noFile {
		m.noFile = false
		return m.openMain("-")
	}
	return false
}

func (m *machine) openMain(name string) bool {
	r := &reader{r: m.c.Stdin}
	if name == "-" || name == "/dev/stdin" {
		m.filename = str(name)
	} else {
		f, err := os.Open(name)
		if err == nil {
			if fi, e := f.Stat(); e == nil && fi.IsDir() {
				f.Close()
				m.c.Flush()
				m.c.Warn("warning: command line argument `", name, "' is a directory: skipped")
				return false
			}
		}
		if err != nil {
			m.c.Flush()
			m.c.Warn("warning: command line argument `", name, "': cannot open file for reading: ", applet.Reason(err))
			m.status = failed
			return false
		}
		r = &reader{r: f, c: f}
		m.filename = value{s: name, k: input}
	}
	m.in = r
	m.fnr = 0
	if len(m.prog.beginFile) > 0 {
		for _, s := range m.prog.beginFile {
			if c := s(m); c == ctlNextFile {
				m.skipFile()
				return false
			} else if c == ctlExit {
				panic(ctlExit)
			}
		}
	}
	return true
}
