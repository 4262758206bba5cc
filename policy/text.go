package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds one message or hint in bytes, maxReasons how many are shown.
const (
	maxText    = 600
	maxReasons = 5
)

// Plain makes s fit for one line of a terminal or a prompt. Messages quote
// file names and arguments, which the command chose: without this a name could
// carry escape sequences, forge further lines or turn the reading direction.
// What is longer than 600 bytes is cut.
func Plain(s string) string {
	var b strings.Builder
	for i, r := range s {
		if b.Len() > maxText {
			b.WriteString("...")
			break
		}
		switch {
		case r == utf8.RuneError:
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteByte(' ')
		case r == ' ' || unicode.IsPrint(r):
			b.WriteString(s[i : i+utf8.RuneLen(r)])
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}
