package upstream

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean returns text of a server that may be shown: what moves the cursor,
// changes colours or titles is replaced, so that it shows and does nothing.
// Newlines and tabs stay, and carriage returns in front of a newline.
func clean(s string) string {
	bad := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if utf8.ValidString(s) && strings.IndexFunc(s, bad) < 0 {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		if bad(r) && !(r == '\r' && strings.HasPrefix(s[i+1:], "\n")) {
			r = '\uFFFD'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// prose is clean for what people and models read as words about a tool:
// characters that draw nothing or turn the direction go as well, and what is
// longer than most bytes is cut.
func prose(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cut(strings.TrimSpace(s), most)
}

// line is prose in one line.
func line(s string, most int) string {
	return cut(strings.Join(strings.Fields(prose(s, 4*most)), " "), most)
}

// cut shortens s to most bytes, between characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := max(0, most-3)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// A mask replaces the credentials of a server in whatever comes from it, also
// in the encodings that an echo usually has. It is a second line: what a
// server encodes in its own way is not seen. The first is that no credential
// is ever handed to the sandbox.
type mask struct{ r *strings.Replacer }

// shortest is the length below which a value is no credential: masking it
// would damage innocent text.
const shortest = 6

const masked = "[masked]"

func newMask(secrets []string) mask {
	var forms []string
	add := func(s string) {
		if len(s) >= shortest && !slices.Contains(forms, s) {
			forms = append(forms, s)
		}
	}
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		add(s)
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			add(enc.EncodeToString([]byte(s)))
		}
		add(hex.EncodeToString([]byte(s)))
		add(strings.ToUpper(hex.EncodeToString([]byte(s))))
		add(url.QueryEscape(s))
		add(url.PathEscape(s))
		add(strings.Map(swapCase, s))
		b := []rune(s)
		slices.Reverse(b)
		add(string(b))
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) }) // the longest first
	var pairs []string
	for _, f := range forms {
		pairs = append(pairs, f, masked)
	}
	return mask{strings.NewReplacer(pairs...)}
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

func (m mask) text(s string) string { return m.r.Replace(s) }
