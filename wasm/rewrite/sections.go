package rewrite

import (
	"fmt"
	"slices"
)

// Section ids, as in the binary format (core specification, 5.5.2).
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
	sectionKinds
)

// order is the order in which sections stand in a module.
var order = []int{
	secType, secImport, secFunction, secTable, secMemory, secTag, secGlobal,
	secExport, secStart, secElement, secDataCount, secCode, secData,
}

var sectionNames = [sectionKinds]string{
	"custom section", "type section", "import section", "function section", "table section", "memory section",
	"global section", "export section", "start section", "element section", "code section", "data section",
	"data count section", "tag section",
}

const (
	magic          = "\x00asm\x01\x00\x00\x00"
	componentMagic = "\x00asm\x0d\x00\x01\x00"
)

// parse splits the module and drops custom sections: names and debug
// information would only slow the load.
func (w *rewriter) parse(bin []byte) {
	atMost(uint64(len(bin)), w.lim.Size, "bytes in the module", "")
	r := &reader{b: bin, name: "module"}
	if len(bin) < len(magic) || string(bin[:len(magic)]) != magic {
		if len(bin) >= len(magic) && string(bin[:len(magic)]) == componentMagic {
			r.fail("is a component; donax runs core modules (wasip1)")
		}
		r.fail("is no WebAssembly module")
	}
	r.p = len(magic)
	last := -1
	for !r.done() {
		id := int(r.byte())
		payload := r.bytes(r.u32())
		if id == secCustom {
			continue
		}
		if id >= sectionKinds {
			r.fail("section %d is unknown", id)
		}
		at := slices.Index(order, id)
		if at <= last {
			r.fail("%s is out of order or there twice", sectionNames[id])
		}
		last = at
		w.sections[id], w.present[id] = payload, true
	}
}

// reader returns a reader of a section, or nil when it is absent.
func (w *rewriter) reader(id int) *reader {
	if !w.present[id] {
		return nil
	}
	return &reader{b: w.sections[id], name: sectionNames[id]}
}

func (w *rewriter) set(id int, payload []byte) { w.sections[id], w.present[id] = payload, true }

// bytes puts the module together again.
func (w *rewriter) bytes() []byte {
	n := len(magic)
	for _, s := range w.sections {
		n += len(s) + 6
	}
	out := append(make([]byte, 0, n), magic...)
	for _, id := range order {
		if w.present[id] {
			out = append(out, byte(id))
			out = uleb(out, uint64(len(w.sections[id])))
			out = append(out, w.sections[id]...)
		}
	}
	return out
}

// types counts the parameters of each type and, for fuel, adds those of tick
// and of the functions in bulk.go.
func (w *rewriter) types() {
	r := w.reader(secType)
	if r == nil {
		r = &reader{b: []byte{0}, name: sectionNames[secType]}
	}
	n := r.count(w.lim.Types, "types")
	body := r.p
	for i := range n {
		if form := r.byte(); form != 0x60 {
			r.fail("type %d has form %#x; only function types are supported", i, form)
		}
		where := fmt.Sprintf("type %d", i)
		params := r.u32()
		atMost(params, w.lim.Params, "parameters", where)
		for range params {
			r.valueType()
		}
		results := r.u32()
		atMost(results, w.lim.Params, "results", where)
		for range results {
			r.valueType()
		}
		w.params = append(w.params, params)
	}
	r.end()
	if w.opt.Fuel {
		d := append(uleb(nil, n+2), r.b[body:]...)
		d = append(d, 0x60, 0, 1, typeI64)
		w.set(secType, append(d, 0x60, 3, typeI32, typeI32, typeI32, 0))
	}
}

func (w *rewriter) imports() {
	r := w.reader(secImport)
	if r == nil {
		r = &reader{b: []byte{0}, name: sectionNames[secImport]}
	}
	n := r.count(w.lim.Imports, "imports")
	body := r.p
	for range n {
		module, name := r.text(), r.text()
		if kind := r.byte(); kind != 0 {
			// An imported memory, table or global would be shared with somebody.
			r.fail("import %s.%s is no function", module, name)
		}
		if t := r.u32(); t >= uint64(len(w.params)) {
			r.fail("import %s.%s has type %d of %d", module, name, t, len(w.params))
		}
		if module == FuelModule || w.opt.Import == nil || !w.opt.Import(module, name) {
			r.fail("import %s.%s is not served here", module, name)
		}
		w.importFuncs++
		w.info.Imports = append(w.info.Imports, module+"."+name)
	}
	r.end()
	if w.opt.Fuel {
		w.tick = w.importFuncs
		d := append(uleb(nil, n+1), r.b[body:]...)
		d = append(append(d, byte(len(FuelModule))), FuelModule...)
		d = append(append(d, byte(len(FuelFunc))), FuelFunc...)
		w.set(secImport, uleb(append(d, 0), uint64(len(w.params))))
	}
}

func (w *rewriter) functions() {
	r := w.reader(secFunction)
	if r == nil {
		return
	}
	n := r.count(w.lim.Functions, "functions")
	body := r.p
	for i := range n {
		t := r.u32()
		if t >= uint64(len(w.params)) {
			r.fail("function %d has type %d of %d", i, t, len(w.params))
		}
		w.funcTypes = append(w.funcTypes, t)
	}
	r.end()
	w.info.Functions = len(w.funcTypes)
	if add := w.added(); len(add) > 0 {
		d := append(uleb(nil, n+uint64(len(add))), r.b[body:]...)
		for _, t := range add {
			d = uleb(d, t)
		}
		w.set(secFunction, d)
	}
}

// mapFunc returns the new index of a function: fuel's import stands behind
// the module's own imports and shifts what follows.
func (w *rewriter) mapFunc(r *reader, f uint64) uint64 {
	if f >= w.importFuncs+uint64(len(w.funcTypes)) {
		r.fail("function %d does not exist", f)
	}
	if w.opt.Fuel && f >= w.importFuncs {
		return f + 1
	}
	return f
}

// checkGlobal refuses a global that the module does not have: the next index
// is the fuel counter, and a guest must not be able to name it.
func (w *rewriter) checkGlobal(r *reader, g uint64) {
	if g >= w.importGlobs+w.ownGlobals {
		r.fail("global %d does not exist", g)
	}
}
