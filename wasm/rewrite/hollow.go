package rewrite

// Hollow returns a module like bin, which [Module] gave, in which every
// function does nothing but trap. Compiled code kept from bin fits it, but it
// takes a fraction of the time to read and to validate. Whoever uses that must
// call ProbeFunc before anything else: it shows which code it is.
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
	return w.bytes(), nil
}
