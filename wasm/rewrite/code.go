package rewrite

import "fmt"

// code bounds every function body and, for fuel, puts the checks in.
func (w *rewriter) code() {
	r := w.reader(secCode)
	if r == nil {
		if len(w.funcTypes) > 0 {
			panic(failure{&Error{0, "functions without a code section"}})
		}
		return
	}
	n := r.u32()
	if n != uint64(len(w.funcTypes)) {
		r.fail("has %d bodies for %d functions", n, len(w.funcTypes))
	}
	out := make([]byte, 0, len(r.b)*5/4)
	out = uleb(out, n+uint64(len(w.added())))
	var body []byte
	for i := range n {
		where := fmt.Sprintf("function %d", w.importFuncs+i)
		size := r.u32()
		atMost(size, w.lim.Body, "bytes in one function", where)
		f := &function{
			rewriter: w,
			where:    where,
			r:        &reader{b: r.bytes(size), name: where},
			params:   w.params[w.funcTypes[i]],
		}
		body = f.rewrite(body[:0])
		out = uleb(out, uint64(len(body)))
		out = append(out, body...)
	}
	r.end()
	w.set(secCode, w.addedBodies(out))
}

// function rewrites one body.
type function struct {
	*rewriter
	r      *reader
	where  string
	params uint64

	weights          []int64 // instructions that each check pays for, in order
	scratch, counter uint64  // locals that the checks use: i32 and i64
}

func (f *function) rewrite(out []byte) []byte {
	r := f.r
	groups := r.count(f.lim.Locals, "groups of locals")
	declared, locals := r.p, f.params
	for range groups {
		locals += r.u32() // at most 2^32 each and 1024 of them: no overflow
		r.valueType()
	}
	atMost(locals, f.lim.Locals, "locals in one function", f.where)
	first := r.p

	f.measure(&reader{b: r.b, p: first, name: r.name})
	if !f.opt.Fuel {
		return append(out, r.b...)
	}
	if f.opt.Unchecked {
		f.weights = f.weights[:0]
	}
	f.scratch, f.counter = locals, locals+1
	out = append(uleb(out, groups+2), r.b[declared:first]...)
	out = append(out, 1, typeI32, 1, typeI64)

	// A body that begins with a loop is checked at the loop's header.
	if r.peek() == opLoop && len(f.weights) > 0 {
		f.weights = f.weights[1:]
	} else {
		out = f.check(out)
	}
	for !r.done() {
		start := r.p
		switch op := r.byte(); op {
		case opLoop:
			r.blockType()
			out = f.check(append(out, r.b[start:r.p]...))
			continue
		case opCall, opReturnCall, opRefFunc:
			out = uleb(append(out, op), f.mapFunc(r, r.u32()))
			continue
		case opGlobalGet, opGlobalSet:
			f.checkGlobal(r, r.u32())
		case opMemoryGrow:
			r.u32()
			out = f.charge(out, opI64Shl, 6) // 64 a page, as if it were filled
		case opMisc:
			sub := r.u32()
			f.immediates(r, op, sub)
			switch sub {
			case miscMemoryCopy, miscMemoryFill:
				if !f.bulk() {
					r.fail("needs a memory")
				}
				out = uleb(append(out, opCall), f.bulkFunc(sub))
				continue
			case miscMemoryInit, miscTableInit, miscTableCopy, miscTableGrow, miscTableFill:
				out = f.charge(out, opI64ShrU, 6)
			}
		case opSIMD, opAtomic:
			f.immediates(r, op, r.u32())
		default:
			f.immediates(r, op, 0)
		}
		out = append(out, r.b[start:r.p]...)
	}
	return out
}

// measure walks a body once, bounds its nesting, and counts for the entry
// and for each loop the instructions of its region, inner loops excluded.
func (f *function) measure(r *reader) {
	f.weights = append(f.weights[:0], 1)
	region := []int{0} // indexes into weights; the last is the open one
	var loops []bool   // open blocks: is it a loop?
	ended := false     // the end of the body itself was seen
	for !r.done() {
		if ended {
			r.fail("instructions after the end")
		}
		op := r.byte()
		f.weights[region[len(region)-1]]++
		switch op {
		case opBlock, opIf, opTryTable, opLoop:
			f.immediates(r, op, 0)
			loops = append(loops, op == opLoop)
			atMost(uint64(len(loops)), f.lim.Nesting, "nested blocks", f.where)
			if op == opLoop {
				f.weights = append(f.weights, 1)
				region = append(region, len(f.weights)-1)
			}
		case opEnd:
			if len(loops) == 0 {
				ended = true
				continue
			}
			if loops[len(loops)-1] {
				region = region[:len(region)-1]
			}
			loops = loops[:len(loops)-1]
		case opMisc, opSIMD, opAtomic:
			sub := r.u32()
			if f.opt.ExportGlobals && lasting(op, sub) {
				r.fail("changes a table or drops a segment, which a reset cannot undo")
			}
			f.immediates(r, op, sub)
		default:
			if f.opt.ExportGlobals && lasting(op, 0) {
				r.fail("changes a table, which a reset cannot undo")
			}
			f.immediates(r, op, 0)
		}
	}
	if !ended {
		r.fail("has no end")
	}
}

// check takes the next region's weight from the counter and asks the host
// for more when it is used up.
func (f *function) check(out []byte) []byte {
	if f.opt.Unchecked {
		return out
	}
	weight := price(f.weights[0])
	f.weights = f.weights[1:]
	out = uleb(append(out, opGlobalGet), f.fuel)
	out = sleb(append(out, opI64Const), weight)
	return f.settle(out)
}

// price is what a region of n instructions costs. Most of a large one is not
// executed each time: Go's compiler makes a whole function one loop, of which
// each turn takes a branch. Its full weight would have the host asked for
// fuel some thousand times too often. What runs without a look from outside is
// bounded all the same, by sixteen rations.
func price(n int64) int64 {
	const full = 64
	if n <= full {
		return n
	}
	return full + (n-full)/16
}

// charge takes the operand on top of the stack, shifted, from the counter. A
// check of its own has to follow: a body of nothing but bulk instructions
// would run for minutes between two regions.
func (f *function) charge(out []byte, shift byte, by int64) []byte {
	out = uleb(append(out, opLocalTee), f.scratch)
	out = uleb(append(out, opGlobalGet), f.fuel)
	out = uleb(append(out, opLocalGet), f.scratch)
	out = sleb(append(out, opI64Extend, opI64Const), by)
	return f.settle(append(out, shift))
}

// settle subtracts, stores the counter, and calls tick when it is negative.
func (f *function) settle(out []byte) []byte {
	f.info.Checks++
	out = uleb(append(out, opI64Sub, opLocalTee), f.counter)
	out = uleb(append(out, opGlobalSet), f.fuel)
	out = uleb(append(out, opLocalGet), f.counter)
	out = append(out, opI64Const, 0, opI64LtS, opIf, blockEmpty)
	out = uleb(append(out, opCall), f.tick)
	out = uleb(append(out, opGlobalSet), f.fuel)
	return append(out, opEnd)
}
