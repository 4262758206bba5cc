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
		h, err := Hollow(bin)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Hollow(bin)
		if err != nil || !bytes.Equal(h, again) {
			t.Errorf("the same module has two forms: %v", err)
		}
		forms = append(forms, h)
	}
	if bytes.Equal(forms[0], forms[1]) {
		t.Error("different modules have the same form")
	}
}
