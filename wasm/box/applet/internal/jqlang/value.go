// Package jqlang is the jq language: values that keep the order of their
// keys, JSON in and out, and an evaluator of the syntax tree that gojq parses.
//
// Behaviour is that of jq 1.6, and of jq 1.7 where that mended an error or
// added a function. It differs from gojq in keeping the order of keys, as jq
// does.
package jqlang

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// A value is nil, bool, float64, Number, string, []any or *Object. Values are
// never changed once made.

// Number is a number whose digits a float64 cannot keep: as long as nothing is
// computed with it, it is printed as it came.
type Number struct {
	F    float64
	Text string
}

// Object is a JSON object that keeps the order in which keys were added.
type Object struct {
	keys *keySet
	vals []any // as many as this object has keys: later ones in keys are others'
}

// keySet is shared by an object and those made from it by changing a value or
// adding a key.
type keySet struct {
	names []string
	index map[string]int // made when there are many
}

const linear = 8 // up to so many keys are looked for one by one

// NewObject returns an empty object with room for n keys. Add fills it before
// it is used as a value.
func NewObject(n int) *Object {
	return &Object{keys: &keySet{names: make([]string, 0, n)}, vals: make([]any, 0, n)}
}

// Len returns the number of keys.
func (o *Object) Len() int { return len(o.vals) }

// Key and Val return the i-th key and value, in the order they were added.
func (o *Object) Key(i int) string { return o.keys.names[i] }

// Val returns the i-th value.
func (o *Object) Val(i int) any { return o.vals[i] }

func (o *Object) find(key string) int {
	if len(o.keys.names) <= linear {
		for i, k := range o.keys.names[:len(o.vals)] {
			if k == key {
				return i
			}
		}
		return -1
	}
	if i := o.keys.at(key); i < len(o.vals) {
		return i
	}
	return -1
}

// at returns the place of a key, -1 when it is not there.
func (ks *keySet) at(key string) int {
	if len(ks.names) <= linear {
		for i, k := range ks.names {
			if k == key {
				return i
			}
		}
		return -1
	}
	if ks.index == nil {
		ks.index = make(map[string]int, 2*len(ks.names))
		for i, k := range ks.names {
			ks.index[k] = i
		}
	}
	if i, ok := ks.index[key]; ok {
		return i
	}
	return -1
}

// Get returns the value of a key.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.vals[i], true
	}
	return nil, false
}

// Add sets a key of an object that is still being made.
func (o *Object) Add(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.vals[i] = v
		return
	}
	o.keys.add(key)
	o.vals = append(o.vals, v)
}

func (ks *keySet) add(key string) {
	if ks.index != nil {
		ks.index[key] = len(ks.names)
	}
	ks.names = append(ks.names, key)
}

// With returns o with a key set. What can be shared with o is.
func (o *Object) With(key string, v any) *Object {
	if i := o.find(key); i >= 0 {
		vals := append([]any(nil), o.vals...)
		vals[i] = v
		return &Object{keys: o.keys, vals: vals}
	}
	n := len(o.vals)
	if n == len(o.keys.names) { // nobody else has added a key
		o.keys.add(key)
		return &Object{keys: o.keys, vals: append(o.vals, v)}
	}
	if o.keys.names[n] == key { // another object of this shape got the same key
		return &Object{keys: o.keys, vals: append(o.vals[:n:n], v)}
	}
	return o.with(key, v)
}

func (o *Object) with(key string, v any) *Object {
	n := o.copy()
	n.Add(key, v)
	return n
}

func (o *Object) copy() *Object {
	n := NewObject(len(o.vals) + 1)
	n.keys.names = append(n.keys.names, o.keys.names[:len(o.vals)]...)
	n.vals = append(n.vals, o.vals...)
	return n
}

// Without returns o less a key.
func (o *Object) Without(key string) *Object {
	i := o.find(key)
	if i < 0 {
		return o
	}
	n := NewObject(len(o.vals))
	for k, v := range o.vals {
		if k != i {
			n.keys.names = append(n.keys.names, o.keys.names[k])
			n.vals = append(n.vals, v)
		}
	}
	return n
}

// Sorted returns the positions of the keys in their order as strings.
func (o *Object) Sorted() []int {
	order := make([]int, len(o.vals))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return o.keys.names[order[a]] < o.keys.names[order[b]] })
	return order
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64, Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case *Object:
		return "object"
	}
	return "unknown"
}

func rank(v any) int {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 2
		}
		return 1
	case float64, Number:
		return 3
	case string:
		return 4
	case []any:
		return 5
	}
	return 6
}

// num returns a number as a float64.
func num(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case Number:
		return v.F, true
	}
	return 0, false
}

// Compare orders values as jq sorts them.
func Compare(a, b any) int {
	if ra, rb := rank(a), rank(b); ra != rb {
		return ra - rb
	}
	switch a := a.(type) {
	case float64, Number:
		x, _ := num(a)
		y, _ := num(b)
		switch {
		case x < y || math.IsNaN(x):
			return -1
		case x == y:
			return 0
		}
		return 1
	case string:
		return strings.Compare(a, b.(string))
	case []any:
		b := b.([]any)
		for i := range min(len(a), len(b)) {
			if c := Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		return len(a) - len(b)
	case *Object:
		return compareObjects(a, b.(*Object))
	}
	return 0
}

func compareObjects(a, b *Object) int {
	oa, ob := a.Sorted(), b.Sorted()
	for i := range min(len(oa), len(ob)) {
		if c := strings.Compare(a.Key(oa[i]), b.Key(ob[i])); c != 0 {
			return c
		}
	}
	if len(oa) != len(ob) {
		return len(oa) - len(ob)
	}
	for i := range oa {
		if c := Compare(a.Val(oa[i]), b.Val(ob[i])); c != 0 {
			return c
		}
	}
	return 0
}

func truthy(v any) bool {
	b, isBool := v.(bool)
	return v != nil && (!isBool || b)
}

// ValueError is an error that a program can catch: its value is what catch
// sees.
type ValueError struct{ Value any }

func (e *ValueError) Error() string {
	if s, ok := e.Value.(string); ok {
		return s
	}
	return fmt.Sprint(string(Encode(nil, e.Value, Style{})) + " (not a string)")
}

func fail(parts ...string) error { return &ValueError{strings.Join(parts, "")} }

// show is a value in an error message: its type and its text, cut short.
func show(v any) string {
	s := string(Encode(nil, v, Style{}))
	if len(s) > 14 {
		cut := 11
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut] + "..."
	}
	return typeName(v) + " (" + s + ")"
}
