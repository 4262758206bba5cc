package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// Threats: PR-1.
func TestScan(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, ""},
		{` [1, -0.5e+3 , "a\u00e9\n", true, false, null, {"a":{"a":1}}] `, ""},
		{`"\ud83d\ude00"`, ""},
		{``, "no JSON value at byte 0"},
		{`{} x`, "text after the value at byte 3"},
		{`{"a":1,}`, "no member name at byte 7"},
		{`[1,]`, "no JSON value at byte 3"},
		{`[1 2]`, "no comma or bracket at byte 3"},
		{`{"a" 1}`, "no colon at byte 5"},
		{`{"a":1 "b":2}`, "no comma or brace at byte 7"},
		{`{a:1}`, "no member name at byte 1"},
		{`01`, "text after the value at byte 1"},
		{`1.`, "bad number at byte 2"},
		{`-`, "bad number at byte 1"},
		{`1e`, "bad number at byte 2"},
		{`nul`, "no JSON value at byte 0"},
		{`"\x"`, "bad escape at byte 2"},
		{`"\u12"`, "bad escape at byte 2"},
		{"\"\t\"", "control character in a string at byte 1"},
		{"\"\xff\"", "invalid UTF-8 at byte 1"},
		{"\"\xed\xa0\x80\"", "invalid UTF-8 at byte 1"},
		{`{"a":1,"a":2}`, `duplicate member "a" at byte 7`},
		{`{"a":1,"\u0061":2}`, `duplicate member "a" at byte 7`},
		{`[{"b":1},{"b":2,"c":{"b":3}}]`, ""},
		{`"\ud83d"`, "lone surrogate at byte 1"},
		{`"\ude00"`, "lone surrogate at byte 1"},
		{`"\ud83d\ud83d\ude00"`, "lone surrogate at byte 1"},
		{`"\ud83dx"`, "lone surrogate at byte 1"},
		{`1e999`, "number out of range at byte 0"},
		{strings.Repeat("9", 401), "number too long at byte 0"},
		{strings.Repeat("[", 100) + strings.Repeat("]", 100), ""},
		{strings.Repeat("[", 101) + strings.Repeat("]", 101), "nested deeper than 100 at byte 100"},
	} {
		got := ""
		if err := scan([]byte(c.in)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%.60q: got %q, want %q", c.in, got, c.want)
		}
	}
	var many strings.Builder
	for i := range 100 {
		many.WriteString(`,"k` + strings.Repeat("x", i) + `":1`)
	}
	if err := scan([]byte(`{"a":1` + many.String() + `}`)); err != nil {
		t.Errorf("a hundred members: %v", err)
	}
	if err := scan([]byte(`{"a":1` + many.String() + `,"kxx":1}`)); err == nil {
		t.Error("a duplicate among a hundred was not found")
	}
}

// The standard library is the judge of what is JSON and of what it means.
//
// Threats: PR-1.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":"c\ud83d\ude00"}],"d":null}`, `[[]]`, `{"a":1,"a":2}`, `1e5`, "\"\xff\"", `{"x":"}"}`, ` { "a" : "\\" , "b" : [ ] } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := scan(b)
		valid := json.Valid(b) && utf8.Valid(b)
		if err == nil && !valid {
			t.Fatalf("%q is taken", b)
		}
		if err != nil && err.syntax && valid {
			t.Fatalf("%q: %v", b, err)
		}
		got := map[string]string{}
		object := members(b, func(name string, v []byte) { got[name] = string(v) }) // must not panic, whatever b is
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if isObject := json.Unmarshal(b, &want) == nil && want != nil; isObject != object {
			t.Fatalf("%q: object %v", b, object)
		}
		if len(want) != len(got) {
			t.Fatalf("%q: %d members, want %d", b, len(got), len(want))
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Fatalf("%q: member %q is %q, want %q", b, k, got[k], v)
			}
		}
	})
}

func TestToText(t *testing.T) {
	for _, c := range []struct {
		in, want string
		lossy    bool
	}{
		{"plain é😀", "plain é😀", false},
		{"\xff\xfe\x00\x80A\xed\xa0\x80", "��\x00�A���", true},
		{"�", "�", false},
		{"a\xe2\x82", "a��", true},
	} {
		if got, lossy := toText([]byte(c.in)); got != c.want || lossy != c.lossy {
			t.Errorf("%q: got %q %v", c.in, got, lossy)
		}
	}
	for in, want := range map[string]int{"": 0, "a": 0, "é": 0, "a\xc3": 1, "\xe2\x82": 2, "\xf0\x9f\x98": 3, "\x80\x80\x80\x80": 0, "\xff": 0, "a\xc3b": 0, "\xf0\x9f\x98\x80": 0} {
		if got := unfinished([]byte(in)); got != want {
			t.Errorf("unfinished(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestWireCostIsAnUpperBound(t *testing.T) {
	for _, b := range [][]byte{[]byte("plain\n"), []byte("\x00\x01\x1f\x7f"), []byte(`"\<>&`), []byte("é😀"), {0xff, 0x80, 0xc3}} {
		text, _ := toText(b)
		cost := 0
		for _, c := range b {
			cost += wireCost(c)
		}
		r, err := (&Result{Structured: map[string]string{"o": text}}).encode()
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(onePass(r, true))
		if err != nil {
			t.Fatal(err)
		}
		empty, err := (&Result{Structured: map[string]string{"o": ""}}).encode()
		if err != nil {
			t.Fatal(err)
		}
		base, err := json.Marshal(onePass(empty, true))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(line) - len(base); got > cost {
			t.Errorf("%q takes %d bytes, reckoned %d", b, got, cost)
		}
	}
	long := make([]byte, maxWire)
	most := 0
	for _, c := range wireCosts() {
		most = max(most, c)
	}
	if most != maxCost { // what surely fits is not counted
		t.Errorf("a byte costs up to %d, not %d", most, maxCost)
	}
	if n := fitTail(long); n != fitHead(long) || n*wireCost(0) > maxWire || n == 0 {
		t.Errorf("%d zeros fit", n)
	}
}
