package rewrite

import "fmt"

const pageSize = 64 << 10

// elements renumbers the functions in element segments.
func (w *rewriter) elements() {
	r := w.reader(secElement)
	if r == nil {
		return
	}
	n := r.count(w.lim.Elements, "element segments")
	out := uleb(nil, n)
	for i := range n {
		// The flag's bits: 1 not active, 2 explicit table or declarative, 4 expressions.
		flags := r.u32()
		if flags > 7 {
			r.fail("element segment %d has flags %d", i, flags)
		}
		out = uleb(out, flags)
		if flags&1 == 0 {
			if flags&2 != 0 {
				out = uleb(out, r.u32())
			}
			out = w.constExpr(r, out)
		}
		expressions := flags&4 != 0
		if flags&3 != 0 {
			start := r.p
			if expressions {
				r.valueType()
			} else {
				r.byte() // element kind
			}
			out = append(out, r.b[start:r.p]...)
		}
		items := r.count(w.lim.TableSize, "elements in one segment")
		out = uleb(out, items)
		for range items {
			if expressions {
				out = w.constExpr(r, out)
			} else {
				out = uleb(out, w.mapFunc(r, r.u32()))
			}
		}
	}
	r.end()
	w.set(secElement, out)
}

type segment struct {
	offset uint32
	data   []byte
}

// data checks the data segments, and merges or takes out the active ones
// where all of them are plain: memory 0 at a constant offset.
func (w *rewriter) data() {
	r := w.reader(secData)
	if r == nil {
		return
	}
	n := r.count(w.lim.DataSegments, "data segments")
	segs, plain := make([]segment, 0, n), true
	for i := range n {
		switch flags := r.u32(); flags {
		case 0:
			offset, ok := constOffset(r)
			plain = plain && ok
			segs = append(segs, segment{uint32(offset), r.bytes(r.u32())})
		case 1:
			plain = false
			r.bytes(r.u32())
		default:
			r.fail("data segment %d has flags %d", i, flags)
		}
	}
	r.end()
	if !plain || !w.opt.TakeData && !w.opt.MergeData {
		return
	}
	var end uint64
	for i, s := range segs {
		end = max(end, uint64(s.offset)+uint64(len(s.data)))
		if end > uint64(w.info.MinPages)*pageSize { // also bounds the image below
			r.fail("data segment %d ends at %d, outside the initial memory", i, end)
		}
	}
	image := make([]byte, end)
	for _, s := range segs {
		copy(image[s.offset:], s.data)
	}
	// memory.init and data.drop name segments by their old index, so the
	// instruction pass refuses them from here on. No toolchain emits them for
	// segments that are all active.
	w.dataMoved = true
	w.sections[secDataCount], w.present[secDataCount] = nil, false
	if w.opt.TakeData {
		w.info.Data = image
		w.sections[secData], w.present[secData] = nil, false
		return
	}
	merged := split(image, 4096)
	out := uleb(nil, uint64(len(merged)))
	for _, s := range merged {
		out = append(sleb(append(out, 0, opI32Const), int64(int32(s.offset))), opEnd)
		out = append(uleb(out, uint64(len(s.data))), s.data...)
	}
	w.set(secData, out)
}

// split cuts an image at runs of at least gap zeros.
func split(image []byte, gap int) (segs []segment) {
	for i := 0; i < len(image); {
		if image[i] == 0 {
			i++
			continue
		}
		start, last := i, i
		for ; i < len(image) && i-last < gap; i++ {
			if image[i] != 0 {
				last = i
			}
		}
		segs = append(segs, segment{uint32(start), image[start : last+1]})
	}
	return segs
}

// constOffset reads an offset expression; ok when it is one i32.const.
func constOffset(r *reader) (offset int32, ok bool) {
	if r.byte() == opI32Const {
		offset = r.s32()
		if r.byte() == opEnd {
			return offset, true
		}
		r.fail("offset expression is longer than one constant")
	}
	r.p--
	skipConstExpr(r)
	return 0, false
}

// constExpr copies a constant expression to out with functions renumbered.
func (w *rewriter) constExpr(r *reader, out []byte) []byte {
	for {
		start := r.p
		switch op := r.byte(); op {
		case opRefFunc:
			out = uleb(append(out, opRefFunc), w.mapFunc(r, r.u32()))
			continue
		case opGlobalGet:
			w.checkGlobal(r, r.u32())
		case opEnd:
			return append(out, opEnd)
		default:
			skipConst(r, op)
		}
		out = append(out, r.b[start:r.p]...)
	}
}

func skipConstExpr(r *reader) {
	for {
		switch op := r.byte(); op {
		case opRefFunc, opGlobalGet:
			r.u32()
		case opEnd:
			return
		default:
			skipConst(r, op)
		}
	}
}

func skipConst(r *reader, op byte) {
	switch op {
	case opI32Const:
		r.leb(5)
	case opI64Const:
		r.leb(10)
	case opF32Const:
		r.bytes(4)
	case opF64Const:
		r.bytes(8)
	case opRefNull:
		r.leb(5)
	case opSIMD:
		if sub := r.u32(); sub != 12 {
			r.fail("constant expression has SIMD instruction %d", sub)
		}
		r.bytes(16)
	case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // extended constants: add, sub, mul
	default:
		r.fail("constant expression has instruction %s", fmt.Sprintf("%#x", op))
	}
}
