package rego

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// TestKeysHoldEveryField: a field that is added to the facts and not to the
// keys would make two different actions share an answer.
func TestKeysHoldEveryField(t *testing.T) {
	for k, fields := range keyFields {
		a := policy.Action{Kind: k}
		var facts reflect.Value
		switch k {
		case policy.KindExec:
			a.Exec = &policy.Exec{}
			facts = reflect.ValueOf(a.Exec).Elem()
		case policy.KindFile:
			a.File = &policy.File{}
			facts = reflect.ValueOf(a.File).Elem()
		case policy.KindNet:
			a.Net = &policy.Net{}
			facts = reflect.ValueOf(a.Net).Elem()
		}
		var names []string
		for i := range facts.NumField() {
			name, _, _ := strings.Cut(facts.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
			at := slices.Index(fields, name)
			if at < 0 {
				t.Errorf("%s.%s is in no key", k, name)
				continue
			}
			before := string(addField(nil, &a, at))
			f := facts.Field(i)
			switch f.Kind() {
			case reflect.String:
				f.SetString("v")
			case reflect.Int, reflect.Int64:
				f.SetInt(7)
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Slice:
				f.Set(reflect.ValueOf([]string{"v"}))
			}
			if after := string(addField(nil, &a, at)); after == before {
				t.Errorf("%s.%s does not change its key", k, name)
			}
		}
		if len(names) != len(fields) {
			t.Errorf("%s: facts %v, keys %v", k, names, fields)
		}
	}
}

// TestKeysAreUnambiguous: no two lists of arguments may have one key.
func TestKeysAreUnambiguous(t *testing.T) {
	seen := map[string][]string{}
	for _, list := range [][]string{nil, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"ab"}, {"a", "b"}, {"a\x01b"}, {"\x01a"}, {strings.Repeat("x", 300)}} {
		k := string(addStrings(nil, list))
		if old, dup := seen[k]; dup {
			t.Errorf("%q and %q share a key", old, list)
		}
		seen[k] = list
	}
}

// TestFailuresAreNotCached: what failed once is asked again.
func TestFailuresAreNotCached(t *testing.T) {
	e := mustLoad(t, head+"allow if input.exec.name == \"ls\"\n\ndeny contains \"x\" if to_number(input.exec.args[0]) > 1\n")
	if _, err := e.Decide(t.Context(), execAction("ls", "x")); class(err) != policy.FailEval {
		t.Fatalf("%v", err)
	}
	if d := decide(t, e, execAction("ls", "1")); d.Effect != policy.Allow {
		t.Error("1 is allowed")
	}
	if _, err := e.Decide(t.Context(), execAction("ls", "x")); class(err) != policy.FailEval {
		t.Errorf("%v", err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	e := mustLoad(t, head+"allow if startswith(input.exec.name, \"l\")\n")
	for i := range maxCached + 10 {
		decide(t, e, execAction("l"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+strings.Repeat("y", i/1300)+string(rune(0x4e00+i))))
	}
	c := &e.cur.Load().cache
	if n := len(c.decisions); n == 0 || n > maxCached {
		t.Errorf("%d decisions", n)
	}
	if n := len(c.projections[policy.KindExec]); n > maxProject {
		t.Errorf("%d projections", n)
	}
}

// TestBigFactsAreBoundedWhateverIsCached: an answer for small arguments must
// not serve large ones that the bound on the input refuses.
func TestBigFactsAreBoundedWhateverIsCached(t *testing.T) {
	e := mustLoad(t, head+"allow if input.exec.name == \"ls\"\n")
	decide(t, e, execAction("ls"))
	if _, err := e.Decide(t.Context(), execAction("ls", strings.Repeat("x", DefaultMaxInput))); class(err) != policy.FailTooLarge {
		t.Errorf("%v", err)
	}
}
