package bc

import (
	"io"
	"math/big"
	"os"
	"strconv"
	"strings"
)

// A machine holds what a program has computed so far.
type machine struct {
	out    io.Writer
	errs   io.Writer
	column int // of the output, for the breaking of long lines
	width  int // of the output's lines; 0 breaks none
	in     *lexer

	scale, ibase, obase int
	last                num
	vars                map[string]num
	arrays              map[string]map[int64]num
	funcs               map[string]*function
	mathlib             bool
	depth               int
	result              num // of the function that returns
}

// A function is one that define made.
type function struct {
	params, autos []param
	body          stmt
	void          bool
}

// A param is a parameter or an auto variable.
type param struct {
	name  string
	array bool
	byRef bool // *name[]: the caller's own array
}

// A failure ends the line that runs.
type failure string

// fail ends the line.
func fail(why string) { panic(failure(why)) }

const (
	maxDepth  = 2000    // of calls and of nesting in the text
	maxDigits = 1 << 26 // of one number; keeps a short line from asking for all memory
	maxScale  = 1 << 20
	maxIndex  = 1<<31 - 1
)

func newMachine(out, errs io.Writer) *machine {
	m := &machine{out: out, errs: errs, width: 70, ibase: 10, obase: 10, last: numZero,
		vars: map[string]num{}, arrays: map[string]map[int64]num{}, funcs: map[string]*function{}}
	if n, err := strconv.Atoi(os.Getenv("BC_LINE_LENGTH")); err == nil && (n == 0 || n > 2) {
		m.width = n
	}
	return m
}

// write writes text, and breaks lines before the width with a backslash.
func (m *machine) write(s string) {
	if m.width == 0 {
		io.WriteString(m.out, s)
		return
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			m.column = 0
		} else if m.column++; m.column == m.width-1 {
			b.WriteString("\\\n")
			m.column = 1
		}
		b.WriteByte(s[i])
	}
	io.WriteString(m.out, b.String())
}

func (m *machine) warn(why string) {
	io.WriteString(m.errs, "Runtime warning (func=(main), adr=0): "+why+"\n")
}

// binary applies an operator of two numbers.
func (m *machine) binary(op string, a, b num) num {
	switch op {
	case "+":
		return a.add(b)
	case "-":
		return a.sub(b)
	case "*":
		return a.mul(b, m.scale)
	case "/", "%":
		if b.isZero() {
			if op == "/" {
				fail("Divide by zero")
			}
			fail("Modulo by zero")
		}
		if op == "/" {
			return a.div(b, m.scale)
		}
		return a.mod(b, m.scale)
	case "^":
		return m.power(a, b)
	case "==":
		return fromBool(a.cmp(b) == 0)
	case "!=":
		return fromBool(a.cmp(b) != 0)
	case "<":
		return fromBool(a.cmp(b) < 0)
	case "<=":
		return fromBool(a.cmp(b) <= 0)
	case ">":
		return fromBool(a.cmp(b) > 0)
	}
	return fromBool(a.cmp(b) >= 0)
}

func (m *machine) power(a, b num) num {
	if !b.sub(b.rescale(0)).isZero() {
		m.warn("non-zero scale in exponent")
	}
	e := b.int64()
	size := int64(a.v.BitLen()/3+a.scale) + 1
	if abs := max(e, -e); abs < 0 || abs > maxDigits/size {
		if a.rescale(0).v.CmpAbs(bigOne) > 0 || a.scale > 0 {
			fail("exponent too large in raise")
		}
		e %= 2 // of 0, 1 and -1 only the sign changes
		if a.isZero() {
			return numZero
		}
	}
	v, ok := a.pow(e, m.scale)
	if !ok {
		fail("Divide by zero")
	}
	return v
}

// bounded refuses a number too large for a variable of bc itself.
func (m *machine) bounded(name string, v num, least, most int) int {
	n := v.int64()
	switch {
	case n < int64(least) && name == "scale":
		m.warn("negative scale, set to 0")
	case n < int64(least):
		m.warn(name + " too small, set to " + strconv.Itoa(least))
	case n > int64(most):
		m.warn(name + " too large, set to " + strconv.Itoa(most))
	}
	return int(min(max(n, int64(least)), int64(most)))
}

// get reads a variable or one of bc's own.
func (m *machine) get(name string) num {
	switch name {
	case "scale":
		return fromInt(int64(m.scale))
	case "ibase":
		return fromInt(int64(m.ibase))
	case "obase":
		return fromInt(int64(m.obase))
	case "last":
		return m.last
	}
	if v, ok := m.vars[name]; ok {
		return v
	}
	return numZero
}

func (m *machine) set(name string, v num) {
	switch name {
	case "scale":
		m.scale = m.bounded(name, v, 0, maxScale)
	case "ibase":
		m.ibase = m.bounded(name, v, 2, 16)
	case "obase":
		m.obase = m.bounded(name, v, 2, maxIndex)
	case "last":
		m.last = v
	default:
		m.vars[name] = v
	}
}

// element returns the array and the index of one of its elements.
func (m *machine) element(name string, index num) (map[int64]num, int64) {
	i := index.int64()
	if i < 0 || i > maxIndex {
		fail("Array " + name + " subscript out of bounds.")
	}
	a := m.arrays[name]
	if a == nil {
		a = map[int64]num{}
		m.arrays[name] = a
	}
	return a, i
}

// An arg is what a call passes: a number, or an array by its name.
type arg struct {
	value expr
	array string
}

// call runs a function that define made.
func (m *machine) call(name string, args []arg) num {
	f := m.funcs[name]
	if f == nil {
		return m.builtin(name, args)
	}
	if len(args) != len(f.params) {
		fail("Parameter number mismatch")
	}
	if m.depth++; m.depth > maxDepth {
		fail("too many calls within each other")
	}
	values := make([]num, len(args))
	arrays := make([]map[int64]num, len(args))
	for i, p := range f.params {
		switch {
		case p.array != (args[i].array != ""):
			fail("Parameter type mismatch, parameter " + p.name + ".")
		case !p.array:
			values[i] = args[i].value(m)
		default:
			if arrays[i], _ = m.element(args[i].array, numZero); !p.byRef {
				copied := make(map[int64]num, len(arrays[i]))
				for k, v := range arrays[i] {
					copied[k] = v
				}
				arrays[i] = copied
			}
		}
	}
	// Every name that the function has for itself gets its old value back.
	locals := append(append([]param{}, f.params...), f.autos...)
	savedVars, savedArrays := make([]num, len(locals)), make([]map[int64]num, len(locals))
	for i, p := range locals {
		savedVars[i], savedArrays[i] = m.get(p.name), m.arrays[p.name]
		switch {
		case p.array && i < len(args):
			m.arrays[p.name] = arrays[i]
		case p.array:
			m.arrays[p.name] = map[int64]num{}
		case i < len(args):
			m.set(p.name, values[i])
		default:
			m.set(p.name, numZero)
		}
	}
	defer func() {
		m.depth--
		for i := len(locals) - 1; i >= 0; i-- {
			if locals[i].array {
				m.arrays[locals[i].name] = savedArrays[i]
			} else {
				m.set(locals[i].name, savedVars[i])
			}
		}
	}()
	m.result = numZero
	if f.body(m) == halts {
		panic(halts)
	}
	result := m.result
	m.result = numZero
	return result
}

// builtin runs a function of -l.
func (m *machine) builtin(name string, args []arg) num {
	want := 1
	if name == "j" {
		want = 2
	}
	if !m.mathlib || len(name) != 1 || !strings.Contains("scalej", name) {
		fail("Function " + name + " not defined.")
	}
	if len(args) != want || args[0].value == nil || args[want-1].value == nil {
		fail("Parameter number mismatch")
	}
	x := args[want-1].value(m)
	switch name {
	case "s", "c":
		return sin(x, m.scale, name == "c")
	case "a":
		return arctan(x, m.scale)
	case "l":
		if x.v.Sign() <= 0 { // what bc's own library answers
			return num{new(big.Int).Sub(bigOne, pow10(m.scale)), 0}
		}
		return log(x, m.scale)
	case "e":
		if x.int64() > maxDigits || x.int64() < -maxDigits {
			fail("exponent too large in raise")
		}
		return exp(x, m.scale)
	}
	return bessel(args[0].value(m).int64(), x, m.scale)
}
