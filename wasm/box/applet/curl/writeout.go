package curl

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// report is -w.
func (t *transfer) report() {
	if t.progress && t.err == nil && !t.silent {
		t.note(strings.Repeat("#", 72) + " 100.0%")
	}
	out := func(text string) { io.WriteString(t.c.Stdout, text) }
	f := t.writeOut
	for f != "" {
		i := strings.IndexAny(f, `%\`)
		if i < 0 {
			out(f)
			return
		}
		out(f[:i])
		f = f[i:]
		switch {
		case strings.HasPrefix(f, "%%"):
			out("%")
			f = f[2:]
		case strings.HasPrefix(f, "%{"):
			name, rest, ok := strings.Cut(f[2:], "}")
			if !ok {
				out(f[:2])
				f = f[2:]
				continue
			}
			f = rest
			switch name {
			case "stderr":
				out = func(text string) { t.c.Flush(); io.WriteString(t.errs, text) }
			case "stdout":
				out = func(text string) { io.WriteString(t.c.Stdout, text) }
			case "onerror":
				if t.err == nil {
					return
				}
			default:
				v, ok := t.variable(name)
				if !ok {
					t.note("curl: unknown --write-out variable: '" + name + "'")
				}
				out(v)
			}
		case strings.HasPrefix(f, "%header{"):
			name, rest, _ := strings.Cut(f[8:], "}")
			f = rest
			out(t.header(name))
		case len(f) > 1 && f[0] == '\\':
			switch f[1] {
			case 'n':
				out("\n")
			case 't':
				out("\t")
			case 'r':
				out("\r")
			default:
				out(f[:2])
			}
			f = f[2:]
		default:
			out(f[:1])
			f = f[1:]
		}
	}
}

// allJSON is all variables as one object.
func (t *transfer) allJSON() string {
	names := slices.Concat(numbers, texts)
	slices.Sort(names)
	var parts []string
	for _, n := range names {
		v, _ := t.variable(n)
		if slices.Contains(numbers, n) {
			if v = strings.TrimLeft(v, "0"); v == "" || v[0] == '.' {
				v = "0" + v
			}
		} else if v == "" && n != "errormsg" {
			v = "null"
		} else {
			v = quoteJSON(v)
		}
		parts = append(parts, quoteJSON(n)+":"+v)
	}
	return "{" + strings.Join(append(parts, `"curl_version":`+quoteJSON("libcurl/"+version)), ",") + "}"
}

// headJSON is the head of the last response, each name with its values.
func (t *transfer) headJSON() string {
	if t.res == nil {
		return "{}"
	}
	var order []string
	values := map[string][]string{}
	for i := 0; i+1 < len(t.res.Header); i += 2 {
		n := strings.ToLower(t.res.Header[i])
		if values[n] == nil {
			order = append(order, n)
		}
		values[n] = append(values[n], quoteJSON(t.res.Header[i+1]))
	}
	var parts []string
	for _, n := range order {
		parts = append(parts, quoteJSON(n)+":["+strings.Join(values[n], ",")+"]")
	}
	return "{" + strings.Join(parts, ",\n") + "\n}"
}

func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string does not fail
	return strings.TrimSuffix(b.String(), "\n")
}
