package rewrite

// One memory.fill can take a tenth of a second, and nothing stops it on its
// way. With fuel, memory.fill and memory.copy become calls of two functions
// behind the module's own that do the same in pieces, each of which is charged
// for.

// piece is how many bytes go in one: some 50 µs.
const piece = 1 << 20

// Parameters of both functions, and their locals.
const (
	bulkDst = iota
	bulkSrc // of a fill: the value
	bulkLen
	bulkPiece
	bulkScratch
	bulkCounter
)

// bulk reports whether the module gets the two functions.
func (w *rewriter) bulk() bool { return w.probe() && w.present[secMemory] }

// bulkType returns the index of their type (i32, i32, i32) -> (), behind that
// of tick.
func (w *rewriter) bulkType() uint64 { return uint64(len(w.params)) + 1 }

// bulkFunc returns the index of the function for an instruction.
func (w *rewriter) bulkFunc(sub uint64) uint64 {
	first := w.importFuncs + 1 + uint64(len(w.funcTypes)) // tick is an import, too
	if sub == miscMemoryFill {
		return first
	}
	return first + 1
}

// probe reports whether the module gets ProbeFunc, behind those of bulk.
func (w *rewriter) probe() bool {
	return w.opt.Fuel && w.present[secCode] && w.present[secFunction]
}

// added returns the types of the functions that the module gets.
func (w *rewriter) added() (types []uint64) {
	if w.bulk() {
		types = append(types, w.bulkType(), w.bulkType())
	}
	if w.probe() {
		types = append(types, uint64(len(w.params))) // that of tick
	}
	return types
}

// addedBodies appends their bodies.
func (w *rewriter) addedBodies(out []byte) []byte {
	var bodies [][]byte
	if w.bulk() {
		bodies = append(bodies, w.bulkBody(miscMemoryFill), w.bulkBody(miscMemoryCopy))
	}
	if w.probe() {
		bodies = append(bodies, []byte{0, opI64Const, 1, opEnd})
	}
	for _, b := range bodies {
		out = append(uleb(out, uint64(len(b))), b...)
	}
	return out
}

func (w *rewriter) bulkBody(sub byte) []byte {
	f := &function{rewriter: w, scratch: bulkScratch, counter: bulkCounter}
	b := []byte{2, 2, typeI32, 1, typeI64}
	get := func(l byte) { b = append(b, opLocalGet, l) }
	set := func(l byte) { b = append(b, opLocalSet, l) }
	i32 := func(n int64) { b = sleb(append(b, opI32Const), n) }
	op := func(code ...byte) { b = append(b, code...) }
	instruction := func() {
		op(opMisc, sub, 0)
		if sub == miscMemoryCopy {
			op(0)
		}
	}
	add := func(l byte) { // l += the piece
		get(l)
		get(bulkPiece)
		op(opI32Add)
		set(l)
	}

	// Nearly all are short.
	get(bulkLen)
	i32(piece)
	op(opI32LeU, opIf, blockEmpty)
	{
		get(bulkDst)
		get(bulkSrc)
		get(bulkLen)
		b = f.charge(b, opI64ShrU, 6)
		instruction()
		op(opReturn)
	}
	op(opEnd)

	// What leaves the memory traps before anything is written, as it should.
	outside := func(l byte) {
		get(l)
		op(opI64Extend)
		get(bulkLen)
		op(opI64Extend, opI64Add, opMemorySize, 0, opI64Extend)
		b = sleb(append(b, opI64Const), 16)
		op(opI64Shl, opI64GtU)
	}
	outside(bulkDst)
	if sub == miscMemoryCopy {
		outside(bulkSrc)
		op(opI32Or)
	}
	op(opIf, blockEmpty)
	{
		get(bulkDst)
		get(bulkSrc)
		get(bulkLen)
		instruction()
	}
	op(opEnd)

	op(opLoop, blockEmpty)
	{
		i32(piece) // the piece is min(piece, len)
		get(bulkLen)
		get(bulkLen)
		i32(piece)
		op(opI32GtU, opSelect)
		b = f.charge(b, opI64ShrU, 6)
		set(bulkPiece)
		get(bulkLen)
		get(bulkPiece)
		op(opI32Sub)
		set(bulkLen)
		if sub == miscMemoryCopy {
			// Upwards from the end: the source's end may be the destination's
			// beginning.
			get(bulkDst)
			get(bulkSrc)
			op(opI32GtU, opIf, blockEmpty)
			{
				for _, l := range []byte{bulkDst, bulkSrc} {
					get(l)
					get(bulkLen)
					op(opI32Add)
				}
				get(bulkPiece)
				instruction()
			}
			op(opElse)
		}
		get(bulkDst)
		get(bulkSrc)
		get(bulkPiece)
		instruction()
		add(bulkDst)
		if sub == miscMemoryCopy {
			add(bulkSrc)
			op(opEnd)
		}
		get(bulkLen)
		op(opBrIf, 0)
	}
	op(opEnd, opEnd)
	return b
}
