package weburl

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// cleanPath removes dot segments (RFC 3986, section 5.2.4).
func cleanPath(p string) string {
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	var out []string
	segs := strings.Split(p[1:], "/")
	for i, seg := range segs {
		plain := strings.NewReplacer("%2e", ".", "%2E", ".").Replace(seg)
		last := i == len(segs)-1
		switch {
		case plain == ".":
		case plain == "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, seg)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return ASCII("/" + strings.Join(out, "/"))
}

// ASCII percent-encodes what may not stand in a URL.
func ASCII(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c > '~' || c == '\\' {
			b.WriteString(Percent(s[i : i+1]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Decode undoes percent-encoding.
func Decode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || (c < '0' || c > '9') && strings.IndexByte("+-.", c) < 0) {
			return false
		}
	}
	return s != ""
}

// Percent encodes all but unreserved characters.
func Percent(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		c := v[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}
