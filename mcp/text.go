package mcp

import (
	"strings"
	"unicode/utf8"
)

// cut shortens s to at most n bytes, at a character boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// unfinished is how many bytes at the end of b are a character that more
// bytes could complete.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// toText turns output into text. Bytes that are no UTF-8 become U+FFFD, and
// lossy says so.
func toText(b []byte) (text string, lossy bool) {
	if utf8.Valid(b) {
		return string(b), false
	}
	var t strings.Builder
	t.Grow(len(b) + len(b)/8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		t.WriteRune(r) // one U+FFFD for each bad byte: nothing merges across it
		b = b[n:]
	}
	return t.String(), true
}

// wireCost is about what one byte of output takes in a result, where it
// stands twice: escaped in structuredContent, and escaped again in the text.
func wireCost(c byte) int {
	switch {
	case c == '\n' || c == '\t' || c == '\r':
		return 2 + 3
	case c < 0x20 || c == 0x7f:
		return 6 + 7
	case c == '"' || c == '\\':
		return 2 + 4
	case c == '<' || c == '>' || c == '&':
		return 6 + 6
	case c >= utf8.RuneSelf:
		return 3 + 3 // as U+FFFD, at worst
	}
	return 1 + 1
}

// maxCost is the greatest wireCost.
const maxCost = 13

// wireCosts is wireCost of every byte, where there are many.
func wireCosts() (costs [256]int) {
	for c := range costs {
		costs[c] = wireCost(byte(c))
	}
	return costs
}

// maxWire bounds one result on the wire: the TypeScript SDK gives up on a
// message beyond 10 MiB.
const maxWire = 8 << 20

// fitHead is how many bytes from the start of b fit into one result.
func fitHead(b []byte) int {
	if len(b) <= maxWire/maxCost {
		return len(b)
	}
	cost, costs := 0, wireCosts()
	for i, c := range b {
		if cost += costs[c]; cost > maxWire {
			return i
		}
	}
	return len(b)
}

// fitTail is how many bytes from the end of b fit into one result.
func fitTail(b []byte) int {
	if len(b) <= maxWire/maxCost {
		return len(b)
	}
	cost, costs := 0, wireCosts()
	for i := len(b) - 1; i >= 0; i-- {
		if cost += costs[b[i]]; cost > maxWire {
			return len(b) - 1 - i
		}
	}
	return len(b)
}
