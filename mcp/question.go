package mcp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/donax-sh/donax/policy"
)

// question words what a person is asked about a command.
func question(a policy.Action, d policy.Decision) string {
	var b strings.Builder
	b.WriteString("Run this command in the sandbox?\n\n")
	if c := a.Command; c != nil {
		b.WriteString(visible(c.Text))
		if c.Cwd != "" {
			b.WriteString("\n\nIn " + visible(c.Cwd))
		}
		if len(c.Environ) > 0 {
			b.WriteString("\nWith " + visible(strings.Join(c.Environ, " "))) // values too: they can change what runs
		}
	}
	for _, r := range d.Reasons {
		b.WriteString("\n\nWhy this is asked: " + r.Msg)
	}
	return b.String()
}

// visible shows a command so that nothing in it can hide: characters that
// draw nothing, move the cursor or turn the direction are written out, and
// what does not fit is said to be missing.
func visible(text string) string {
	for _, r := range text {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			text = strconv.QuoteToGraphic(text)
			break
		}
	}
	const head, tail = 1500, 500
	if len(text) <= head+tail {
		return text
	}
	end := text[len(text)-tail:]
	for end != "" && end[0]&0xC0 == 0x80 {
		end = end[1:]
	}
	start := cut(text, head)
	return fmt.Sprintf("%s\n[... %d bytes are not shown here ...]\n%s", start, len(text)-len(start)-len(end), end)
}
