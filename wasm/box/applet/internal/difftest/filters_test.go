package difftest_test

import (
	"regexp"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

// filters are the commands of testdata/grammar/filters.txt.
const filters = "cut tr uniq head tail wc sort paste fold expand unexpand nl tac rev od xxd hexdump base64 base32 cksum md5sum sum join comm fmt column cat strings cmp " +
	"seq numfmt basename dirname factor tsort csplit"

// usage is what some tools add about their options.
var usage = regexp.MustCompile(`(?s)(Usage:|Try ').*`)

// TestFilters tolerates what numbers that are too large, several wrong options
// at once, NUL bytes in lines and texts that are no UTF-8 bring: most of it is what
// C strings make of them.
func TestFilters(t *testing.T) {
	fuzz(t, "filters", filters, difftest.Fuzz{Odd: 20, Stderr: true, Same: func(_, text string) string { return usage.ReplaceAllString(text, "$1") }})
}
