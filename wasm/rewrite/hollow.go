package rewrite

import "crypto/sha256"

// Hollow returns a module like bin, which [Module] gave, in which every
// function does nothing but trap. Compiled code kept from bin fits it, but it
// takes a fraction of the time to read and to validate. Whoever uses that must
// call ProbeFunc before anything else: it shows which code it is. Modules that
// differ have hollow forms that differ: two that differ in their code alone
// would otherwise be taken for each other.
func Hollow(bin []byte) (out []byte, err error) {
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
	sum := sha256.Sum256(bin)
	custom := append(uleb(nil, uint64(len(hollowSection))), hollowSection...)
	custom = append(custom, sum[:]...)
	out = append(w.bytes(), secCustom)
	return append(uleb(out, uint64(len(custom))), custom...), nil
}

// hollowSection names the custom section that has the digest of the module.
const hollowSection = "donax"
