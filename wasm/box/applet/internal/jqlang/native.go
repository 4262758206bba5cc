package jqlang

import (
	"math"
	"sort"
	"strings"
	"unicode/utf8"
)

type nativeFunc = func(in *Interp, v any, args []any) (any, error)

// nativeTable are the functions of values.
func nativeTable() map[string]nativeFunc {
	out := basicTable()
	for _, t := range []map[string]nativeFunc{mathTable(), timeTable(), regexTable()} {
		for k, f := range t {
			out[k] = f
		}
	}
	return out
}

func basicTable() map[string]nativeFunc {
	return map[string]nativeFunc{
		"length/0": length, "utf8bytelength/0": byteLength, "not/0": func(_ *Interp, v any, _ []any) (any, error) { return !truthy(v), nil },
		"keys/0": keys, "keys_unsorted/0": keysUnsorted, "has/1": has, "contains/1": contains,
		"inside/1":   func(in *Interp, v any, a []any) (any, error) { return contains(in, a[0], []any{v}) },
		"in/1":       func(in *Interp, v any, a []any) (any, error) { return has(in, a[0], []any{v}) },
		"type/0":     func(_ *Interp, v any, _ []any) (any, error) { return typeName(v), nil },
		"tostring/0": func(_ *Interp, v any, _ []any) (any, error) { return text(v), nil },
		"tojson/0":   func(_ *Interp, v any, _ []any) (any, error) { return string(Encode(nil, v, Style{})), nil },
		"tonumber/0": toNumber, "fromjson/0": fromJSON,
		"add/0": addAll, "any/0": anyOf(true), "all/0": anyOf(false), "reverse/0": reverse, "flatten/0": flatten, "flatten/1": flatten,
		"sort/0": sorter(sortBy, "sorted"), "unique/0": sorter(uniqueBy, "sorted"),
		"min/0": sorter(minBy, ""), "max/0": sorter(maxBy, ""),
		"to_entries/0": toEntries, "from_entries/0": fromEntries, "transpose/0": transpose,
		"getpath/1": func(_ *Interp, v any, a []any) (any, error) {
			p, ok := a[0].([]any)
			if !ok {
				return nil, fail("Path must be specified as an array")
			}
			return getPath(v, p)
		},
		"setpath/2": func(_ *Interp, v any, a []any) (any, error) {
			p, ok := a[0].([]any)
			if !ok {
				return nil, fail("Path must be specified as an array")
			}
			var u updater
			return u.set(v, p, a[1])
		},
		"delpaths/1": func(_ *Interp, v any, a []any) (any, error) {
			p, ok := a[0].([]any)
			if !ok {
				return nil, fail("Paths must be specified as an array")
			}
			return deletePaths(v, p)
		},
		"startswith/1": affix("startswith", strings.HasPrefix), "endswith/1": affix("endswith", strings.HasSuffix),
		"ltrimstr/1": trimmer(strings.TrimPrefix), "rtrimstr/1": trimmer(strings.TrimSuffix),
		"trim/0": trimSpace(strings.TrimFunc), "ltrim/0": trimSpace(strings.TrimLeftFunc), "rtrim/0": trimSpace(strings.TrimRightFunc),
		"ascii_downcase/0": caser("ascii_downcase", 'A', 'Z'), "ascii_upcase/0": caser("ascii_upcase", 'a', 'z'),
		"explode/0": explode, "implode/0": implode, "split/1": splitFunc, "join/1": join, "ascii/0": ascii,
		"indices/1": indicesFunc, "index/1": edgeIndex(0), "rindex/1": edgeIndex(-1),
		"env/0":        func(in *Interp, _ any, _ []any) (any, error) { return in.environ(), nil },
		"infinite/0":   func(*Interp, any, []any) (any, error) { return math.Inf(1), nil },
		"nan/0":        func(*Interp, any, []any) (any, error) { return math.NaN(), nil },
		"isinfinite/0": isNumber(func(f float64) bool { return math.IsInf(f, 0) }), "isnan/0": isNumber(math.IsNaN),
		"isnormal/0": isNumber(func(f float64) bool {
			return !math.IsInf(f, 0) && !math.IsNaN(f) && math.Abs(f) >= 2.2250738585072014e-308
		}),
		"input_filename/0": func(in *Interp, _ any, _ []any) (any, error) {
			if in.Input != nil {
				if name, _ := in.Input(); name != "" {
					return name, nil
				}
			}
			return nil, nil
		},
		"input_line_number/0": func(in *Interp, _ any, _ []any) (any, error) {
			if in.Input == nil {
				return 0.0, nil
			}
			_, line := in.Input()
			return float64(line), nil
		},
		"builtins/0": builtins, "toarray/0": func(_ *Interp, v any, _ []any) (any, error) {
			if _, ok := v.([]any); ok {
				return v, nil
			}
			return []any{v}, nil
		},
		"abs/0": func(_ *Interp, v any, _ []any) (any, error) {
			f, ok := num(v)
			if !ok {
				return nil, fail(show(v), " has no absolute value")
			}
			if f >= 0 {
				return v, nil
			}
			return -f, nil
		},
		"have_literal_numbers/0": func(*Interp, any, []any) (any, error) { return true, nil },
		"have_decnum/0":          func(*Interp, any, []any) (any, error) { return false, nil },
		"bsearch/1":              bsearch,
		"format/1": func(_ *Interp, v any, a []any) (any, error) {
			s, ok := a[0].(string)
			if !ok {
				return nil, fail(show(a[0]), " is not a valid format")
			}
			return format(s, v)
		},
	}
}

func length(_ *Interp, v any, _ []any) (any, error) {
	switch v := v.(type) {
	case nil:
		return 0.0, nil
	case string:
		return float64(utf8.RuneCountInString(v)), nil
	case []any:
		return float64(len(v)), nil
	case *Object:
		return float64(v.Len()), nil
	}
	if f, ok := num(v); ok {
		return math.Abs(f), nil
	}
	return nil, fail(show(v), " has no length")
}

func byteLength(_ *Interp, v any, _ []any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fail(show(v), " only strings have UTF-8 byte length")
	}
	return float64(len(s)), nil
}

func keys(_ *Interp, v any, _ []any) (any, error) {
	switch v := v.(type) {
	case *Object:
		out := make([]any, 0, v.Len())
		for _, i := range v.Sorted() {
			out = append(out, v.Key(i))
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = float64(i)
		}
		return out, nil
	}
	return nil, fail(show(v), " has no keys")
}

func keysUnsorted(in *Interp, v any, a []any) (any, error) {
	o, ok := v.(*Object)
	if !ok {
		return keys(in, v, a)
	}
	out := make([]any, o.Len())
	for i := range out {
		out[i] = o.Key(i)
	}
	return out, nil
}

func has(_ *Interp, v any, a []any) (any, error) {
	switch t := v.(type) {
	case *Object:
		if k, ok := a[0].(string); ok {
			_, found := t.Get(k)
			return found, nil
		}
	case []any:
		if f, ok := num(a[0]); ok {
			return f >= 0 && f < float64(len(t)), nil
		}
	}
	return nil, fail("Cannot check whether ", typeName(v), " has a ", typeName(a[0]), " key")
}

func contains(in *Interp, v any, a []any) (any, error) {
	switch x := v.(type) {
	case *Object:
		y, ok := a[0].(*Object)
		if !ok {
			break
		}
		for i, sub := range y.vals {
			mine, ok := x.Get(y.Key(i))
			if !ok {
				return false, nil
			}
			r, err := contains(in, mine, []any{sub})
			if err != nil || r == false {
				return r, err
			}
		}
		return true, nil
	case []any:
		y, ok := a[0].([]any)
		if !ok {
			break
		}
	next:
		for _, sub := range y {
			for _, mine := range x {
				if typeName(mine) != typeName(sub) {
					continue
				}
				if r, err := contains(in, mine, []any{sub}); err != nil {
					return nil, err
				} else if r == true {
					continue next
				}
			}
			return false, nil
		}
		return true, nil
	case string:
		if y, ok := a[0].(string); ok {
			return strings.Contains(x, y), nil
		}
	}
	if typeName(v) == typeName(a[0]) {
		return Compare(v, a[0]) == 0, nil
	}
	return nil, fail(show(v), " and ", show(a[0]), " cannot have their containment checked")
}

func toNumber(_ *Interp, v any, _ []any) (any, error) {
	switch v := v.(type) {
	case float64, Number:
		return v, nil
	case string:
		p := jsonParser{b: []byte(strings.TrimSpace(v)), eof: true}
		if len(p.b) > 0 && (p.b[0] == '-' || '0' <= p.b[0] && p.b[0] <= '9' || p.b[0] == '.') {
			if p.b[0] == '.' {
				p.b = append([]byte{'0'}, p.b...)
			}
			if r, err := p.number(); err == nil && p.i == len(p.b) {
				return r, nil
			}
		}
		if v == "nan" {
			return math.NaN(), nil
		}
		return nil, fail("Cannot parse '", v, "' as a number")
	}
	return nil, fail(show(v), " cannot be parsed as a number")
}

func fromJSON(_ *Interp, v any, _ []any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fail(show(v), " only strings can be parsed")
	}
	r, err := ParseJSON(s)
	if err != nil {
		return nil, fail(err.Error(), " (while parsing '", s, "')")
	}
	return r, nil
}

func addAll(_ *Interp, v any, _ []any) (any, error) {
	var items []any
	switch t := v.(type) {
	case []any:
		items = t
	case *Object:
		items = t.vals
	default:
		return nil, fail("Cannot iterate over ", show(v))
	}
	if len(items) == 0 {
		return nil, nil
	}
	switch items[0].(type) { // without a copy for each
	case string:
		var b strings.Builder
		for _, x := range items {
			s, ok := x.(string)
			if !ok && x != nil {
				return nil, fail(show(b.String()), " and ", show(x), " cannot be added")
			}
			b.WriteString(s)
		}
		return b.String(), nil
	case []any:
		out := []any{}
		for _, x := range items {
			a, ok := x.([]any)
			if !ok && x != nil {
				return nil, fail(show(out), " and ", show(x), " cannot be added")
			}
			out = append(out, a...)
		}
		return out, nil
	}
	var acc any
	for _, x := range items {
		var err error
		if acc, err = add(acc, x); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

func anyOf(want bool) nativeFunc {
	return func(_ *Interp, v any, _ []any) (any, error) {
		found := !want
		err := each(v, nil, func(x any, _ *path) error {
			if truthy(x) == want {
				found = want
			}
			return nil
		})
		return found, err
	}
}

func reverse(_ *Interp, v any, _ []any) (any, error) {
	switch v := v.(type) {
	case nil:
		return []any{}, nil
	case string:
		r := []rune(v)
		for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
			r[i], r[j] = r[j], r[i]
		}
		return string(r), nil
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[len(v)-1-i] = x
		}
		return out, nil
	}
	return nil, fail("Cannot reverse ", show(v))
}

func flatten(_ *Interp, v any, a []any) (any, error) {
	depth := math.Inf(1)
	if len(a) > 0 {
		var ok bool
		if depth, ok = num(a[0]); !ok || depth < 0 {
			return nil, fail("flatten depth must not be negative")
		}
	}
	out := []any{}
	var walk func(v any, d float64) error
	walk = func(v any, d float64) error {
		return each(v, nil, func(x any, _ *path) error {
			if _, ok := x.([]any); ok && d > 0 {
				return walk(x, d-1)
			}
			out = append(out, x)
			return nil
		})
	}
	err := walk(v, depth)
	return out, err
}

func sorter(f func([]any, [][]any) any, what string) nativeFunc {
	return func(_ *Interp, v any, _ []any) (any, error) {
		a, ok := v.([]any)
		if !ok {
			if what == "" {
				return nil, fail(show(v), " cannot be iterated over") // min and max
			}
			return nil, fail(show(v), " cannot be ", what, ", as it is not an array")
		}
		return f(a, itself(a)), nil
	}
}

func toEntries(_ *Interp, v any, _ []any) (any, error) {
	if a, ok := v.([]any); ok {
		out := make([]any, len(a))
		for i, x := range a {
			e := NewObject(2)
			e.Add("key", float64(i))
			e.Add("value", x)
			out[i] = e
		}
		return out, nil
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, fail(show(v), " has no keys")
	}
	out := make([]any, o.Len())
	for i := range out {
		e := NewObject(2)
		e.Add("key", o.Key(i))
		e.Add("value", o.Val(i))
		out[i] = e
	}
	return out, nil
}

func fromEntries(_ *Interp, v any, _ []any) (any, error) {
	out := NewObject(8)
	err := each(v, nil, func(x any, _ *path) error {
		var key, val any
		for _, name := range []string{"key", "k", "name", "Name", "Key", "K"} {
			k, err := get(x, name)
			if err != nil {
				return err
			}
			if k != nil && (k != false || key == nil) {
				if key = k; truthy(k) {
					break
				}
			}
		}
		for _, name := range []string{"value", "v", "Value", "V"} {
			w, err := get(x, name)
			if err != nil {
				return err
			}
			if w != nil {
				val = w
				if truthy(w) {
					break
				}
			}
		}
		switch k := key.(type) {
		case string:
			out.Add(k, val)
		case bool, float64, Number, nil:
			if k == nil {
				out.Add("null", val)
			} else {
				out.Add(text(k), val)
			}
		default:
			return fail("Cannot use ", show(key), " as object key")
		}
		return nil
	})
	return out, err
}

func transpose(_ *Interp, v any, _ []any) (any, error) {
	rows, ok := v.([]any)
	if !ok {
		return nil, fail("Cannot index ", typeName(v), " with number")
	}
	width := 0
	for _, r := range rows {
		a, ok := r.([]any)
		if !ok && r != nil {
			return nil, fail("Cannot index ", typeName(r), " with number")
		}
		width = max(width, len(a))
	}
	out := make([]any, width)
	for i := range out {
		col := make([]any, len(rows))
		for j, r := range rows {
			if a, _ := r.([]any); i < len(a) {
				col[j] = a[i]
			}
		}
		out[i] = col
	}
	return out, nil
}

func isNumber(f func(float64) bool) nativeFunc {
	return func(_ *Interp, v any, _ []any) (any, error) {
		x, ok := num(v)
		if !ok {
			return nil, fail(show(v), " number required")
		}
		return f(x), nil
	}
}

func bsearch(_ *Interp, v any, a []any) (any, error) {
	items, ok := v.([]any)
	if !ok {
		return nil, fail(show(v), " cannot be searched from")
	}
	i := sort.Search(len(items), func(i int) bool { return Compare(items[i], a[0]) >= 0 })
	if i < len(items) && Compare(items[i], a[0]) == 0 {
		return float64(i), nil
	}
	return float64(-1 - i), nil
}

func builtins(*Interp, any, []any) (any, error) {
	out := []any{}
	for k := range nativeTable() {
		out = append(out, k)
	}
	for k := range specialTable() {
		out = append(out, k)
	}
	for k := range prelude {
		out = append(out, k)
	}
	public := out[:0]
	for _, k := range out {
		if !strings.HasPrefix(k.(string), "_") {
			public = append(public, k)
		}
	}
	out = public
	return sortBy(out, itself(out)), nil
}

func ascii(_ *Interp, v any, _ []any) (any, error) {
	f, ok := num(v)
	if !ok || f < 0 || f > 127 {
		return nil, fail(show(v), " is not an ASCII code")
	}
	return string(rune(int(f))), nil
}
