package wasi

import "bytes"

// Bounds of one call of find: it takes some milliseconds at worst.
const (
	maxFind     = 64 << 10
	maxFindFold = 64
)

// findText finds a text in the guest's memory and stores its place, or -1. With
// the third argument its ASCII letters, which are small, stand for either
// case.
func findText(c *call) errno {
	n, m, fold := c.u32(1), c.u32(3), c.u32(4) != 0
	if n > maxFind || m == 0 || fold && m > maxFindFold {
		return eINVAL
	}
	s, ok := c.mem.bytes(c.u32(0), n)
	text, ok2 := c.mem.bytes(c.u32(2), m)
	if !ok || !ok2 {
		return eFAULT
	}
	i, cost := 0, int64(1)
	if fold {
		i, cost = indexFold(s, text), 8
	} else {
		i = bytes.Index(s, text)
	}
	if c.cfg.Spend != nil {
		seen := int64(n)
		if i >= 0 {
			seen = int64(i) + int64(m)
		}
		// As many instructions for four bytes as native code takes.
		if err := c.cfg.Spend(seen*cost/4 + 50); err != nil {
			c.stop(err)
		}
	}
	return c.mem.put32(c.u32(5), uint32(int32(i)))
}

// rare are the letters of English text, the rarest first.
const rare = "zqxjkvbpygfwmucldrhsnioate "

// indexFold looks for the rarest byte of text in either case, and then for what
// stands around it.
func indexFold(s, text []byte) int {
	k := 0
	for i, c := range text {
		if bytes.IndexByte([]byte(rare), c) < bytes.IndexByte([]byte(rare), text[k]) {
			k = i
		}
	}
	small, large := text[k], text[k]
	if small >= 'a' && small <= 'z' {
		large ^= 32
	}
	next := func(c byte, from int) int {
		if i := bytes.IndexByte(s[from:], c); i >= 0 {
			return from + i
		}
		return len(s)
	}
	a, b := next(small, 0), next(large, 0)
	for {
		at := min(a, b)
		if at+len(text)-k > len(s) {
			return -1
		}
		if at >= k && equalFold(s[at-k:][:len(text)], text) {
			return at - k
		}
		if a == at {
			a = next(small, at+1)
		}
		if b == at {
			b = next(large, at+1)
		}
	}
}

func equalFold(s, small []byte) bool {
	for i, c := range s {
		if c >= 'A' && c <= 'Z' {
			c |= 32
		}
		if c != small[i] {
			return false
		}
	}
	return true
}
