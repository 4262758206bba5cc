package sort

import "testing"

// What stands behind a short text is no part of its order.
func TestBytesOrder(t *testing.T) {
	for _, c := range []struct {
		text  string
		depth int
		order uint64
		state state
	}{
		{"", 0, 0, decided}, {"a", 0, 0x61 << 56, decided}, {"abcdefg", 0, 0x61626364656667_00, decided}, {"abcdefgh", 0, 0x6162636465666768, longer},
		{"abcdefgh\xff", 8, 0xff << 56, decided}, {"abcdefgh", 8, 0, decided}, {"abc", 8, 0, decided}, {"a\x00", 0, 0x61 << 56, unsure}, {"\x00abcdefg", 0, 0x0061626364656667, longer},
	} {
		for _, behind := range []string{"", "\x00", "zzzzzzzzzzzz", "\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
			all := []byte(c.text + behind)
			if order, state := bytesOrder(all[:len(c.text):len(all)], c.depth); order != c.order || state != c.state {
				t.Errorf("%q at %d before %q: %x %d, want %x %d", c.text, c.depth, behind, order, state, c.order, c.state)
			}
		}
	}
}
