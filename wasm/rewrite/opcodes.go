package rewrite

// Instructions that the rewriter reads or writes (core specification, 5.4).
const (
	opBlock      = 0x02
	opLoop       = 0x03
	opIf         = 0x04
	opElse       = 0x05
	opEnd        = 0x0b
	opBrIf       = 0x0d
	opBrTable    = 0x0e
	opReturn     = 0x0f
	opCall       = 0x10
	opReturnCall = 0x12
	opTryTable   = 0x1f
	opSelect     = 0x1b
	opLocalGet   = 0x20
	opLocalSet   = 0x21
	opLocalTee   = 0x22
	opGlobalGet  = 0x23
	opGlobalSet  = 0x24
	opTableSet   = 0x26
	opMemorySize = 0x3f
	opMemoryGrow = 0x40
	opI32Const   = 0x41
	opI64Const   = 0x42
	opF32Const   = 0x43
	opF64Const   = 0x44
	opI32GtU     = 0x4b
	opI32LeU     = 0x4d
	opI64LtS     = 0x53
	opI64GtU     = 0x56
	opI32Add     = 0x6a
	opI32Sub     = 0x6b
	opI32Or      = 0x72
	opI64Add     = 0x7c
	opI64Sub     = 0x7d
	opI64Shl     = 0x86
	opI64ShrU    = 0x88
	opI64Extend  = 0xad // i64.extend_i32_u
	opRefNull    = 0xd0
	opRefFunc    = 0xd2
	opMisc       = 0xfc // bulk memory and tables, saturating conversions
	opSIMD       = 0xfd
	opAtomic     = 0xfe
	blockEmpty   = 0x40
	typeI32      = 0x7f
	typeI64      = 0x7e
	typeF64      = 0x7c // the last number type; vectors and references are below
)

// Instructions behind opMisc whose cost grows with their last operand.
const (
	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscElemDrop   = 13
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableFill  = 17
)

// immediates skips what follows an instruction's opcode. sub is the second
// opcode of the prefixed ones.
func (w *rewriter) immediates(r *reader, op byte, sub uint64) {
	switch {
	case op <= 0x01, op == 0x05, op == opEnd, op == 0x0a, op == 0x0f, op == 0x1a, op == 0x1b:
	case op >= opBlock && op <= opIf:
		r.blockType()
	case op == 0x08: // throw
		r.u32()
	case op == opTryTable:
		r.blockType()
		for n := r.count(w.lim.BrTable, "catch clauses"); n > 0; n-- {
			if kind := r.byte(); kind < 2 { // with a tag
				r.u32()
			}
			r.u32()
		}
	case op == 0x0c, op == 0x0d, op == opCall, op == opReturnCall, op == 0x14, op == 0x15:
		r.u32()
	case op == opBrTable:
		for n := r.count(w.lim.BrTable, "br_table targets"); n > 0; n-- {
			r.u32()
		}
		r.u32()
	case op == 0x11, op == 0x13: // call_indirect and its tail call
		r.u32()
		r.u32()
	case op == 0x1c: // select with types
		for n := r.count(w.lim.Params, "select types"); n > 0; n-- {
			r.valueType()
		}
	case op >= opLocalGet && op <= 0x26:
		r.u32()
	case op >= 0x28 && op <= 0x3e:
		r.memarg()
	case op == 0x3f, op == opMemoryGrow:
		r.u32()
	case op == opI32Const:
		r.leb(5)
	case op == opI64Const:
		r.leb(10)
	case op == opF32Const:
		r.bytes(4)
	case op == opF64Const:
		r.bytes(8)
	case op >= 0x45 && op <= 0xc4: // comparisons, arithmetic, conversions
	case op == opRefNull:
		r.leb(5)
	case op == 0xd1, op == 0xd3, op == 0xd4:
	case op == opRefFunc, op == 0xd5, op == 0xd6:
		r.u32()
	case op == opMisc:
		w.miscImmediates(r, sub)
	case op == opSIMD:
		simdImmediates(r, sub)
	case op == opAtomic:
		if sub == 3 { // fence
			r.byte()
		} else {
			r.memarg()
		}
	default:
		r.fail("instruction %#x is unknown", op)
	}
}

// lasting reports whether an instruction changes what is neither in memory
// nor in a global, so that a reset of an instance could not undo it.
func lasting(op byte, sub uint64) bool {
	if op == opMisc {
		switch sub {
		case miscDataDrop, miscTableInit, miscElemDrop, miscTableCopy, miscTableGrow, miscTableFill:
			return true
		}
	}
	return op == opTableSet
}

func (w *rewriter) miscImmediates(r *reader, sub uint64) {
	if w.dataMoved && (sub == miscMemoryInit || sub == miscDataDrop) {
		r.fail("memory.init and data.drop need passive data segments")
	}
	switch {
	case sub <= 7:
	case sub == miscMemoryInit, sub == miscMemoryCopy, sub == miscTableInit, sub == miscTableCopy:
		r.u32()
		r.u32()
	case sub == miscDataDrop, sub == miscMemoryFill, sub == miscElemDrop, sub >= miscTableGrow && sub <= miscTableFill:
		r.u32()
	default:
		r.fail("instruction 0xfc %d is unknown", sub)
	}
}

func simdImmediates(r *reader, sub uint64) {
	switch {
	case sub <= 11, sub == 92, sub == 93:
		r.memarg()
	case sub == 12, sub == 13:
		r.bytes(16)
	case sub >= 21 && sub <= 34:
		r.byte()
	case sub >= 84 && sub <= 91:
		r.memarg()
		r.byte()
	case sub > 275:
		r.fail("instruction 0xfd %d is unknown", sub)
	}
}

// blockType skips a block type: empty, a value type, or a type index.
func (r *reader) blockType() {
	start := r.p
	r.leb(5)
	if c := r.b[start]; r.p == start+1 && (c == 0x63 || c == 0x64) {
		r.leb(5) // the heap type of a reference
	}
}

// memarg skips the alignment and offset of a memory access.
func (r *reader) memarg() {
	if align := r.u32(); align&64 != 0 {
		r.u32() // memory index
	}
	r.leb(10)
}
