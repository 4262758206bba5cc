package rewrite

import (
	"fmt"
	"strconv"
	"strings"
)

// limitsMax is the one bit of a limits flag that is supported: a maximum
// follows (core specification, 5.3.7). The others are of proposals.
const limitsMax = 1

// limits reads the limits of a table or memory and clamps the maximum, which
// is declared where it was not: a growth without bound is none of the guest's
// business.
func (w *rewriter) limits(r *reader, most uint64, unit, what string) (encoded []byte, low, high uint64) {
	flags := r.byte()
	if flags&^limitsMax != 0 {
		r.fail("%s is shared or 64-bit (flags %#x), which is not supported", what, flags)
	}
	low, high = r.u32(), most
	if flags&limitsMax != 0 {
		high = r.u32()
		if high < low {
			r.fail("%s has minimum %d above maximum %d", what, low, high)
		}
		high = min(high, most)
	}
	atMost(low, most, unit, what)
	return uleb(uleb([]byte{limitsMax}, low), high), low, high
}

// tables clamps what tables may grow to.
func (w *rewriter) tables() {
	r := w.reader(secTable)
	if r == nil {
		return
	}
	n := r.count(w.lim.Tables, "tables")
	out := uleb(nil, n)
	for i := range n {
		start := r.p
		if r.peek() == 0x40 {
			r.fail("table %d has an initialiser, which is not supported", i)
		}
		r.valueType()
		out = append(out, r.b[start:r.p]...)
		enc, _, _ := w.limits(r, w.lim.TableSize, "table elements", fmt.Sprintf("table %d", i))
		out = append(out, enc...)
	}
	r.end()
	w.set(secTable, out)
}

// memory clamps what memory may grow to.
func (w *rewriter) memory() {
	r := w.reader(secMemory)
	if r == nil {
		return
	}
	n := r.count(1, "memories")
	out := uleb(nil, n)
	for range n {
		enc, low, high := w.limits(r, w.lim.Pages, pagesLimit, "")
		out = append(out, enc...)
		w.info.MinPages, w.info.MaxPages = uint32(low), uint32(high)
	}
	r.end()
	w.set(secMemory, out)
}

// globals finds the mutable ones and, for fuel, adds the counter behind the
// last.
func (w *rewriter) globals() {
	r := w.reader(secGlobal)
	if r == nil {
		r = &reader{b: []byte{0}, name: sectionNames[secGlobal]}
	}
	n := r.count(w.lim.Globals, "globals")
	var body []byte
	for i := range n {
		start := r.p
		r.valueType()
		mutable := r.byte() == 1
		if kind := r.b[start]; mutable && w.opt.ExportGlobals && kind < typeF64 {
			r.fail("global %d has type %#x, which a reset cannot set", i, kind)
		}
		body = append(body, r.b[start:r.p]...)
		body = w.constExpr(r, body)
		if mutable {
			w.mutable = append(w.mutable, i)
		}
		w.ownGlobals++ // an initialiser may only name globals before its own
	}
	r.end()
	w.fuel = w.importGlobs + n
	if w.opt.Fuel {
		body = append(body, 0x7e, 1, opI64Const, 0, opEnd)
		n++
	}
	if n > 0 {
		w.set(secGlobal, append(uleb(nil, n), body...))
	}
}

// exports renumbers functions and adds the globals that a reset needs.
func (w *rewriter) exports() {
	r := w.reader(secExport)
	if r == nil {
		r = &reader{b: []byte{0}, name: sectionNames[secExport]}
	}
	n := r.count(w.lim.Exports, "exports")
	var body []byte
	for range n {
		name := r.text()
		if strings.HasPrefix(name, "__donax_") {
			r.fail("export %q uses a reserved name", name)
		}
		kind, index := r.byte(), r.u32()
		switch kind {
		case 0:
			index = w.mapFunc(r, index)
			w.info.Exports = append(w.info.Exports, name)
		case 3:
			w.checkGlobal(r, index)
		}
		body = appendExport(body, name, kind, index)
	}
	r.end()
	if w.opt.ExportGlobals {
		for _, g := range w.mutable {
			name := GlobalPrefix + strconv.FormatUint(g, 10)
			w.info.Globals = append(w.info.Globals, name)
			body = appendExport(body, name, 3, w.importGlobs+g)
			n++
		}
	}
	if w.opt.Fuel {
		body = appendExport(body, FuelGlobal, 3, w.fuel)
		n++
	}
	if w.opt.Fuel && w.info.Start {
		body = appendExport(body, StartFunc, 0, w.startFunc)
		n++
	}
	if w.probe() {
		last := w.tick + uint64(len(w.funcTypes)) + uint64(len(w.added()))
		body = appendExport(body, ProbeFunc, 0, last)
		n++
	}
	if n > 0 {
		w.set(secExport, append(uleb(nil, n), body...))
	}
}

func appendExport(b []byte, name string, kind byte, index uint64) []byte {
	b = append(uleb(b, uint64(len(name))), name...)
	return uleb(append(b, kind), index)
}

func (w *rewriter) start() {
	if r := w.reader(secStart); r != nil {
		w.info.Start = true
		f := r.u32()
		if w.opt.Fuel && f < w.importFuncs {
			r.fail("the start function is an import")
		}
		w.startFunc = w.mapFunc(r, f)
		r.end()
		if w.opt.Fuel {
			w.sections[secStart], w.present[secStart] = nil, false
		} else {
			w.set(secStart, uleb(nil, w.startFunc))
		}
	}
}
