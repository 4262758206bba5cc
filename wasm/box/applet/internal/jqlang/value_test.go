package jqlang

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestDecoder reads values in all the ways in which they can be cut up.
func TestDecoder(t *testing.T) {
	text := ` {"a":1,"b":[1,{"a":2,"b":3},{"a":4,"c":"x\"]"}]} 12 "s" [ ] {"b":1,"a":2,"b":3} null {"a":1} {"a":1,"b":2} -0.5 123456789012345678901` + "\n true"
	want := []string{`{"a":1,"b":[1,{"a":2,"b":3},{"a":4,"c":"x\"]"}]}`, "12", `"s"`, "[]", `{"b":3,"a":2}`, "null", `{"a":1}`, `{"a":1,"b":2}`, "-0.5", "123456789012345678901", "true"}
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text))} {
		d := NewDecoder(r, false)
		for i := 0; ; i++ {
			v, err := d.Next()
			if err == io.EOF {
				if i != len(want) {
					t.Errorf("%s: %d values", name, i)
				}
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := string(Encode(nil, v, Style{})); got != want[i] {
				t.Errorf("%s: %s, want %s", name, got, want[i])
			}
		}
	}
}

// TestSharedKeys changes objects that share their keys: none may see what
// becomes of another.
func TestSharedKeys(t *testing.T) {
	base, err := ParseJSON(`[{"a":1,"b":2},{"a":3,"b":4}]`)
	if err != nil {
		t.Fatal(err)
	}
	x, y := base.([]any)[0].(*Object), base.([]any)[1].(*Object)
	x1, x2 := x.With("c", 5.0), x.With("d", 6.0)
	y1, y2 := y.With("c", 7.0), y.With("a", 8.0)
	x3 := x1.With("e", 9.0)
	x4 := x1.Without("a")
	for _, c := range []struct {
		o    *Object
		want string
	}{
		{x, `{"a":1,"b":2}`}, {y, `{"a":3,"b":4}`}, {x1, `{"a":1,"b":2,"c":5}`}, {x2, `{"a":1,"b":2,"d":6}`},
		{y1, `{"a":3,"b":4,"c":7}`}, {y2, `{"a":8,"b":4}`}, {x3, `{"a":1,"b":2,"c":5,"e":9}`}, {x4, `{"b":2,"c":5}`},
	} {
		if got := string(Encode(nil, c.o, Style{})); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if _, ok := x.Get("c"); ok {
		t.Error("a key of another object is seen")
	}
	many := NewObject(0)
	for i := range 100 {
		many = many.With(itoa(i), float64(i))
	}
	for i := range 100 {
		if v, ok := many.Get(itoa(i)); !ok || v != float64(i) {
			t.Fatalf("%d: %v", i, v)
		}
	}
}

func run(t *testing.T, src, input string) string {
	t.Helper()
	p, err := Compile(src, nil)
	if err != nil {
		return err.Error()
	}
	v, err := ParseJSON(input)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	in := &Interp{}
	if err := in.Run(p, v, func(v any) error { out.Write(append(Encode(nil, v, Style{}), ' ')); return nil }); err != nil {
		return "error: " + err.Error()
	}
	return strings.TrimSpace(out.String())
}

// TestOrder is what this package is for: keys keep their order.
func TestOrder(t *testing.T) {
	for _, c := range [][3]string{
		{`.`, `{"z":1,"a":2}`, `{"z":1,"a":2}`},
		{`. + {"b":3,"a":4}`, `{"z":1,"a":2}`, `{"z":1,"a":4,"b":3}`},
		{`{n, z: .z}`, `{"z":1,"n":2}`, `{"n":2,"z":1}`},
		{`to_entries | map(.key)`, `{"z":1,"a":2}`, `["z","a"]`},
		{`with_entries(.value += 1)`, `{"z":1,"a":2}`, `{"z":2,"a":3}`},
		{`.[]`, `{"z":1,"a":2}`, `1 2`},
		{`keys, keys_unsorted`, `{"z":1,"a":2}`, `["a","z"] ["z","a"]`},
		{`.q = 1 | .a = 0 | del(.z)`, `{"z":1,"a":2}`, `{"a":0,"q":1}`},
		{`map_values(. * 2)`, `{"z":1,"a":2}`, `{"z":2,"a":4}`},
		{`[.[] | . + {b: 1}] | .[0].a = 9 | .[1].c = 3`, `[{"z":1,"a":1},{"z":2,"a":2}]`, `[{"z":1,"a":9,"b":1},{"z":2,"a":2,"b":1,"c":3}]`},
		{`group_by(.g) | map(.[0])`, `[{"x":1,"g":2},{"x":2,"g":1}]`, `[{"x":2,"g":1},{"x":1,"g":2}]`},
	} {
		if got := run(t, c[0], c[1]); got != c[2] {
			t.Errorf("%s: %s, want %s", c[0], got, c[2])
		}
	}
}

// TestBombs ends what would not end by itself, or would take all memory.
func TestBombs(t *testing.T) {
	for _, src := range []string{`def f: 1 + f; f`, `def f: [f]; f`, `"x" * 1e9`, `[.[1e12] = 1]`} {
		if got := run(t, src, "null"); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: %.60s", src, got)
		}
	}
	deep := strings.Repeat("[", 100000)
	if _, err := ParseJSON(deep); err == nil {
		t.Error("deep nesting parsed")
	}
	p, err := Compile(`range(1e12)`, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	n := 0
	in := &Interp{}
	if err := in.Run(p, nil, func(any) error {
		if n++; n > 1000 {
			return stop
		}
		return nil
	}); err != stop {
		t.Error(err)
	}
}
