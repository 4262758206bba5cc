package word

import (
	"encoding/binary"
	"testing"
)

func TestLoad(t *testing.T) {
	b := []byte("\x00\x01\xff\x80abcdefgh\xfe")
	for i := 0; i+8 <= len(b); i++ {
		if got, want := Load(b[i:]), binary.LittleEndian.Uint64(b[i:]); got != want {
			t.Errorf("at %d: %x, want %x", i, got, want)
		}
		if got := LoadString(string(b[i:])); got != Load(b[i:]) {
			t.Errorf("at %d of a string: %x", i, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("seven bytes were read as eight")
		}
	}()
	Load(b[len(b)-7:])
}
