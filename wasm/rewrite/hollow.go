package rewrite

import "crypto/sha256"

// Hollow returns a module like bin, which [Module] gave, in which every
// function does nothing but trap. image is what its data segments put into
// memory, from address 0 on, when out has lost them: whoever instantiates out
// puts it there. It is nil where they stay, since they are few or not plain.
// Compiled code kept from bin fits it, but it
// takes a fraction of the time to read and to validate. Whoever uses that must
// call ProbeFunc before anything else: it shows which code it is. Modules that
// differ have hollow forms that differ: two that differ in their code alone
// would otherwise be taken for each other.
func Hollow(bin []byte) (out, image []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = f.err
		}
	}()
	w := &rewriter{lim: Limits{Size: 1 << 32}.orDefault()}
	w.parse(bin)
	if r := w.reader(secCode); r != nil {
		n := r.u32()
		code := uleb(nil, n)
		for range n {
			code = append(code, 3, 0, 0, opEnd) // three bytes: no locals, unreachable, end
		}
		w.set(secCode, code)
	}
	image = w.takeImage()
	sum := sha256.Sum256(bin)
	custom := append(uleb(nil, uint64(len(hollowSection))), hollowSection...)
	custom = append(custom, sum[:]...)
	out = append(w.bytes(), secCustom)
	return append(uleb(out, uint64(len(custom))), custom...), image, nil
}

// minImage is what is worth a file of its own, and being mapped.
const minImage = 64 << 10

// takeImage takes the data segments out. Without a section that counts them no
// instruction names one.
func (w *rewriter) takeImage() []byte {
	r, mem := w.reader(secData), w.reader(secMemory)
	if r == nil || mem == nil || w.present[secDataCount] || len(w.sections[secData]) < minImage || mem.u32() != 1 {
		return nil
	}
	mem.u32() // whether there is a maximum
	memory := mem.u32() * pageSize
	var segs []segment
	end := uint64(0)
	for range r.u32() {
		if r.u32() != 0 {
			return nil
		}
		offset, ok := constOffset(r)
		s := segment{uint32(offset), r.bytes(r.u32())}
		if end = max(end, uint64(s.offset)+uint64(len(s.data))); !ok || end > memory {
			return nil
		}
		segs = append(segs, s)
	}
	if end > 4*uint64(len(w.sections[secData])) { // nearly all of it would be zero
		return nil
	}
	image := make([]byte, end)
	for _, s := range segs {
		copy(image[s.offset:], s.data)
	}
	w.sections[secData], w.present[secData] = nil, false
	return image
}

// hollowSection names the custom section that has the digest of the module.
const hollowSection = "donax"
