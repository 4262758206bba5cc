package jqlang

import (
	"encoding/base32"
	"encoding/base64"
	"math"
	"strings"
	"unicode/utf8"
)

func affix(name string, f func(s, x string) bool) nativeFunc {
	return func(_ *Interp, v any, a []any) (any, error) {
		s, ok1 := v.(string)
		x, ok2 := a[0].(string)
		if !ok1 || !ok2 {
			return nil, fail(name, "() requires string inputs")
		}
		return f(s, x), nil
	}
}

func trimmer(f func(s, x string) string) nativeFunc {
	return func(_ *Interp, v any, a []any) (any, error) {
		s, ok1 := v.(string)
		x, ok2 := a[0].(string)
		if !ok1 || !ok2 {
			return v, nil
		}
		return f(s, x), nil
	}
}

func trimSpace(f func(string, func(rune) bool) string) nativeFunc {
	return func(_ *Interp, v any, _ []any) (any, error) {
		s, ok := v.(string)
		if !ok {
			return nil, fail(show(v), " cannot be trimmed")
		}
		return f(s, func(r rune) bool { return r == ' ' || 9 <= r && r <= 13 }), nil
	}
}

func caser(name string, lo, hi byte) nativeFunc {
	return func(_ *Interp, v any, _ []any) (any, error) {
		s, ok := v.(string)
		if !ok {
			return nil, fail(name, " input must be a string")
		}
		b := []byte(s)
		for i, c := range b {
			if lo <= c && c <= hi {
				b[i] = c ^ 0x20
			}
		}
		return string(b), nil
	}
}

func explode(_ *Interp, v any, _ []any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fail("explode input must be a string")
	}
	out := make([]any, 0, len(s))
	for _, r := range s {
		out = append(out, float64(r))
	}
	return out, nil
}

func implode(_ *Interp, v any, _ []any) (any, error) {
	a, ok := v.([]any)
	if !ok {
		return nil, fail("implode input must be an array")
	}
	var b strings.Builder
	for _, x := range a {
		f, ok := num(x)
		if !ok {
			return nil, fail("Unicode codepoint must be numeric")
		}
		r := rune(utf8.RuneError)
		if f >= 0 && f <= utf8.MaxRune {
			r = rune(f)
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

func splitFunc(_ *Interp, v any, a []any) (any, error) {
	s, ok1 := v.(string)
	sep, ok2 := a[0].(string)
	if !ok1 || !ok2 {
		return nil, fail("split input and separator must be strings")
	}
	return split(s, sep), nil
}

func join(_ *Interp, v any, a []any) (any, error) {
	var b strings.Builder
	first := true
	var sep string
	err := each(v, nil, func(x any, _ *path) error {
		if !first {
			s, ok := a[0].(string)
			if !ok && a[0] != nil {
				return fail(show(b.String()), " and ", show(a[0]), " cannot be added")
			}
			sep = s
			b.WriteString(sep)
		}
		first = false
		switch x := x.(type) {
		case nil:
		case string:
			b.WriteString(x)
		case bool, float64, Number:
			b.WriteString(text(x))
		default:
			return fail(show(b.String()), " and ", show(x), " cannot be added")
		}
		return nil
	})
	return b.String(), err
}

func indicesFunc(_ *Interp, v any, a []any) (any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case string:
		sub, ok := a[0].(string)
		if !ok {
			break
		}
		if sub == "" {
			return nil, nil
		}
		out := []any{}
		for i := 0; i+len(sub) <= len(x); i++ {
			if strings.HasPrefix(x[i:], sub) { // jq 1.7 counts characters
				out = append(out, float64(utf8.RuneCountInString(x[:i])))
			}
		}
		return out, nil
	case []any:
		if sub, ok := a[0].([]any); ok {
			return indices(x, sub), nil
		}
		return indices(x, []any{a[0]}), nil
	}
	return get(v, a[0])
}

func edgeIndex(which int) nativeFunc {
	return func(in *Interp, v any, a []any) (any, error) {
		r, err := indicesFunc(in, v, a)
		list, ok := r.([]any)
		if err != nil || !ok || len(list) == 0 {
			return nil, err
		}
		if which < 0 {
			return list[len(list)-1], nil
		}
		return list[0], nil
	}
}

// format is @name.
func format(name string, v any) (any, error) {
	switch strings.TrimPrefix(name, "@") {
	case "text":
		return text(v), nil
	case "json":
		return string(Encode(nil, v, Style{})), nil
	case "html":
		return strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", "'", "&#39;", `"`, "&quot;").Replace(text(v)), nil
	case "uri":
		return uri(text(v)), nil
	case "csv":
		return row(v, "csv", ",", func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` })
	case "tsv":
		r := strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`)
		return row(v, "tsv", "\t", r.Replace)
	case "sh":
		return shell(v)
	case "base64":
		return base64.StdEncoding.EncodeToString([]byte(text(v))), nil
	case "base64d":
		s := text(v)
		b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
		if err != nil && len(b) == 0 && s != "" {
			return nil, fail(show(v), " is not valid base64 data")
		}
		return strings.ToValidUTF8(string(b), "\uFFFD"), nil
	case "base32":
		return base32.StdEncoding.EncodeToString([]byte(text(v))), nil
	case "base32d":
		b, err := base32.StdEncoding.DecodeString(text(v))
		if err != nil {
			return nil, fail(show(v), " is not valid base32 data")
		}
		return strings.ToValidUTF8(string(b), "\uFFFD"), nil
	}
	return nil, fail(strings.TrimPrefix(name, "@"), " is not a valid format")
}

func uri(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
	}
	return b.String()
}

func row(v any, kind, sep string, quote func(string) string) (any, error) {
	a, ok := v.([]any)
	if !ok {
		return nil, fail(show(v), " cannot be ", kind, "-formatted, only array")
	}
	parts := make([]string, len(a))
	for i, x := range a {
		switch x := x.(type) {
		case nil:
		case bool:
			parts[i] = text(x)
		case float64:
			if !math.IsNaN(x) {
				parts[i] = text(x)
			}
		case Number:
			parts[i] = x.Text
		case string:
			parts[i] = quote(x)
		default:
			return nil, fail(show(x), " is not valid in a csv row")
		}
	}
	return strings.Join(parts, sep), nil
}

func shell(v any) (any, error) {
	a, ok := v.([]any)
	if !ok {
		a = []any{v}
	}
	parts := make([]string, len(a))
	for i, x := range a {
		switch x := x.(type) {
		case string:
			parts[i] = "'" + strings.ReplaceAll(x, "'", `'\''`) + "'"
		case []any, *Object:
			return nil, fail(show(x), " can not be escaped for shell")
		default:
			parts[i] = text(x)
		}
	}
	return strings.Join(parts, " "), nil
}
