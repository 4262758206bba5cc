package egress

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
)

const redacted = "[redacted]"

// hide redacts a short text.
func (c *call) hide(s string) string {
	if len(c.secret) == 0 || s == "" {
		return s
	}
	b, _ := io.ReadAll(newRedactor(strings.NewReader(s), c.patterns())) // a string does not fail
	return string(b)
}

// patterns are the spellings of the call's secrets, longest first.
func (c *call) patterns() [][]byte {
	var list [][]byte
	for _, s := range c.secret {
		list = append(list, spellings(s.Value)...)
	}
	slices.SortFunc(list, func(a, b []byte) int {
		if n := len(b) - len(a); n != 0 {
			return n
		}
		return bytes.Compare(a, b)
	})
	return slices.CompactFunc(list, bytes.Equal)
}

// spellings are a header's value and what is secret in it, as servers write
// them back.
func spellings(value string) (list [][]byte) {
	parts := []string{value}
	if scheme, rest, ok := strings.Cut(value, " "); ok {
		if rest = strings.TrimSpace(rest); len(rest) >= minSecret {
			parts = append(parts, rest)
		}
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
			parts = append(parts, string(plain))
			if _, password, ok := strings.Cut(string(plain), ":"); ok && len(password) >= minSecret {
				parts = append(parts, password)
			}
		}
	}
	for _, p := range parts {
		quoted, _ := json.Marshal(p) // of a string: it does not fail
		var plain bytes.Buffer
		enc := json.NewEncoder(&plain)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(p)
		hexed := hex.EncodeToString([]byte(p))
		for _, s := range []string{
			p, string(quoted[1 : len(quoted)-1]), strings.Trim(plain.String(), "\"\n"),
			url.QueryEscape(p), url.PathEscape(p), html.EscapeString(p), hexed, strings.ToUpper(hexed),
		} {
			list = append(list, []byte(s))
		}
		list = append(list, base64s(p)...)
	}
	return list
}

// base64s are the parts of base64 text that a secret fills by itself,
// wherever in the encoded data it stands.
func base64s(p string) (list [][]byte) {
	for before := range 3 {
		data := append(make([]byte, before), p...)
		from := []int{0, 2, 3}[before]
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			s := enc.EncodeToString(data)
			if len(data)%3 != 0 {
				s = s[:len(s)-1]
			}
			list = append(list, []byte(s[from:]))
		}
	}
	return list
}

// redactor replaces patterns in a stream. What could be the beginning of one
// is held back, so that none slips through where the stream is cut.
type redactor struct {
	r        io.Reader
	patterns [][]byte // longest first
	hold     int      // length of the longest, less one
	in       []byte   // read and not yet searched
	out      []byte   // searched and not yet handed out
	err      error    // of r
}

func newRedactor(r io.Reader, patterns [][]byte) *redactor {
	return &redactor{r: r, patterns: patterns, hold: len(patterns[0]) - 1}
}

func (d *redactor) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		var n int
		buf := make([]byte, 32<<10)
		n, d.err = d.r.Read(buf)
		d.in = append(d.in, buf[:n]...)
		d.search()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// search moves what is safe from in to out. After a failure what was held
// back is dropped: nobody will know how it goes on.
func (d *redactor) search() {
	end := len(d.in) - d.hold
	if d.err == io.EOF {
		end = len(d.in)
	}
	at := 0
	for at < end {
		first, size := -1, 0
		for _, p := range d.patterns {
			within := d.in[at:]
			if first >= 0 {
				within = within[:min(len(within), first+len(p)-1)] // only what begins before
			}
			if i := bytes.Index(within, p); i >= 0 && (first < 0 || i < first) {
				first, size = i, len(p)
			}
		}
		if first < 0 || at+first >= end {
			break
		}
		d.out = append(append(d.out, d.in[at:at+first]...), redacted...)
		at += first + size
	}
	if at < end {
		d.out = append(d.out, d.in[at:end]...)
		at = end
	}
	d.in = append(d.in[:0], d.in[at:]...)
}
