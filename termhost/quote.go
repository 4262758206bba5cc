package termhost

import (
	"slices"
	"strings"
)

const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+"

// keywords would mean something else than a program in front of a line.
var keywords = []string{"if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "function", "select", "time", "coproc"}

// quote spells an argv as a line that any POSIX shell reads as exactly those
// words. It is what people and policies see as the command's text.
func quote(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if a != "" && strings.Trim(a, plainChars) == "" && !(i == 0 && slices.Contains(keywords, a)) {
			b.WriteString(a)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(a, "'", `'\''`) + "'")
	}
	return b.String()
}
