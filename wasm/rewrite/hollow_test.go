package rewrite

import (
	"bytes"
	"testing"
)

// Compiled code is kept by the digest of the hollow form, so it must tell
// modules apart that differ in their code alone.
// Threats: WA-9.
func TestHollowTellsModulesApart(t *testing.T) {
	var forms [][]byte
	for _, code := range [][]byte{{0x01}, {0x00}} { // nop, unreachable
		bin, _, err := Module(run(code...), Options{Fuel: true})
		if err != nil {
			t.Fatal(err)
		}
		h, _, err := Hollow(bin)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Hollow(bin)
		if err != nil || !bytes.Equal(h, again) {
			t.Errorf("the same module has two forms: %v", err)
		}
		forms = append(forms, h)
	}
	if bytes.Equal(forms[0], forms[1]) {
		t.Error("different modules have the same form")
	}
}

// The segments leave a hollow module as one image where nothing can name them,
// and only there.
func TestHollowImage(t *testing.T) {
	big := bytes.Repeat([]byte{7}, minImage)
	at := func(flags, offset byte, data []byte) []byte {
		seg := []byte{flags}
		if flags == 0 {
			seg = append(seg, opI32Const, offset, opEnd)
		}
		return append(uleb(seg, uint64(len(data))), data...)
	}
	build := func(pages byte, count []byte, segs ...[]byte) []byte {
		parts := [][]byte{
			section(secType, vec(typeVoid)...), section(secFunction, vec([]byte{0})...), section(secMemory, vec([]byte{0, pages})...),
		}
		if count != nil {
			parts = append(parts, section(secDataCount, count...))
		}
		return module(append(parts, section(secCode, vec(body(nil))...), section(secData, vec(segs...)...))...)
	}
	for name, c := range map[string]struct {
		bin  []byte
		want []byte
	}{
		"plain":        {build(2, nil, at(0, 3, big), at(0, 1, []byte("abcd"))), append([]byte("\x00abcd"), big[2:]...)},
		"small":        {build(2, nil, at(0, 3, big[:100])), nil},
		"passive":      {build(2, []byte{2}, at(0, 3, big), at(1, 0, big)), nil},
		"counted":      {build(2, []byte{1}, at(0, 3, big)), nil},
		"out of reach": {build(1, nil, at(0, 3, big)), nil},
	} {
		out, image, err := Hollow(c.bin)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(image, c.want) {
			t.Errorf("%s: an image of %d bytes, want %d", name, len(image), len(c.want))
		}
		if has := len(out) >= len(c.bin)-200; has != (image == nil) {
			t.Errorf("%s: the module has %d of %d bytes", name, len(out), len(c.bin))
		}
	}
}
