package jqlang

import (
	"math"
	"strings"

	"github.com/itchyny/gojq"
)

var binaries = map[gojq.Operator]func(l, r any) (any, error){
	gojq.OpAdd: add, gojq.OpSub: subtract, gojq.OpMul: multiply, gojq.OpDiv: divide, gojq.OpMod: modulo,
	gojq.OpEq: func(l, r any) (any, error) { return Compare(l, r) == 0, nil },
	gojq.OpNe: func(l, r any) (any, error) { return Compare(l, r) != 0, nil },
	gojq.OpLt: func(l, r any) (any, error) { return Compare(l, r) < 0, nil },
	gojq.OpLe: func(l, r any) (any, error) { return Compare(l, r) <= 0, nil },
	gojq.OpGt: func(l, r any) (any, error) { return Compare(l, r) > 0, nil },
	gojq.OpGe: func(l, r any) (any, error) { return Compare(l, r) >= 0, nil },
}

func add(l, r any) (any, error) {
	if l == nil {
		return r, nil
	}
	if r == nil {
		return l, nil
	}
	switch a := l.(type) {
	case float64, Number:
		x, _ := num(l)
		if y, ok := num(r); ok {
			return x + y, nil
		}
	case string:
		if b, ok := r.(string); ok {
			return a + b, nil
		}
	case []any:
		if b, ok := r.([]any); ok {
			return append(append(make([]any, 0, len(a)+len(b)), a...), b...), nil
		}
	case *Object:
		if b, ok := r.(*Object); ok {
			for i, v := range b.vals {
				a = a.With(b.Key(i), v)
			}
			return a, nil
		}
	}
	return nil, fail(show(l), " and ", show(r), " cannot be added")
}

func subtract(l, r any) (any, error) {
	x, ok1 := num(l)
	y, ok2 := num(r)
	if ok1 && ok2 {
		return x - y, nil
	}
	a, ok1 := l.([]any)
	b, ok2 := r.([]any)
	if !ok1 || !ok2 {
		return nil, fail(show(l), " and ", show(r), " cannot be subtracted")
	}
	out := []any{}
next:
	for _, v := range a {
		for _, w := range b {
			if Compare(v, w) == 0 {
				continue next
			}
		}
		out = append(out, v)
	}
	return out, nil
}

const maxRepeat = 64 << 20 // bytes of a string that is multiplied

func multiply(l, r any) (any, error) {
	x, ok1 := num(l)
	y, ok2 := num(r)
	if ok1 && ok2 {
		return x * y, nil
	}
	if _, ok := r.(string); ok && ok1 {
		l, r, y, ok2 = r, l, x, true
	}
	if s, ok := l.(string); ok && ok2 {
		if y <= 0 || math.IsNaN(y) {
			return nil, nil
		}
		if math.Ceil(y)*float64(len(s)) > maxRepeat {
			return nil, fail("Repeat string result too long")
		}
		n := int(math.Max(1, math.Ceil(y)))
		return strings.Repeat(s, n), nil
	}
	a, ok1 := l.(*Object)
	b, ok2 := r.(*Object)
	if ok1 && ok2 {
		return merge(a, b), nil
	}
	return nil, fail(show(l), " and ", show(r), " cannot be multiplied")
}

func merge(a, b *Object) *Object {
	for i, v := range b.vals {
		k := b.Key(i)
		if old, ok := a.Get(k); ok {
			x, ok1 := old.(*Object)
			y, ok2 := v.(*Object)
			if ok1 && ok2 {
				v = merge(x, y)
			}
		}
		a = a.With(k, v)
	}
	return a
}

func divide(l, r any) (any, error) {
	x, ok1 := num(l)
	y, ok2 := num(r)
	if ok1 && ok2 {
		if y == 0 {
			return nil, fail(show(l), " and ", show(r), " cannot be divided because the divisor is zero")
		}
		return x / y, nil
	}
	a, ok1 := l.(string)
	b, ok2 := r.(string)
	if ok1 && ok2 {
		return split(a, b), nil
	}
	return nil, fail(show(l), " and ", show(r), " cannot be divided")
}

func split(s, sep string) []any {
	out := []any{}
	if s == "" {
		return out
	}
	for _, p := range strings.Split(s, sep) {
		out = append(out, p)
	}
	return out
}

func toInt(f float64) int64 {
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

func modulo(l, r any) (any, error) {
	x, ok1 := num(l)
	y, ok2 := num(r)
	if !ok1 || !ok2 {
		return nil, fail(show(l), " and ", show(r), " cannot be divided (remainder)")
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN(), nil
	}
	a, b := toInt(x), toInt(y)
	if b == 0 {
		return nil, fail(show(l), " and ", show(r), " cannot be divided (remainder) because the divisor is zero")
	}
	if b < 0 {
		if b = -b; b < 0 {
			return float64(a), nil
		}
	}
	return float64(a % b), nil
}

func negate(v any) (any, error) {
	f, ok := num(v)
	if !ok {
		return nil, fail(show(v), " cannot be negated")
	}
	return -f, nil
}

// indices finds where sub occurs in a.
func indices(a, sub []any) any {
	out := []any{}
	if len(sub) == 0 {
		return nil
	}
	for i := 0; i+len(sub) <= len(a); i++ {
		same := true
		for k := range sub {
			if Compare(a[i+k], sub[k]) != 0 {
				same = false
				break
			}
		}
		if same {
			out = append(out, float64(i))
		}
	}
	return out
}
