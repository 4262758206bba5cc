package rego

import (
	"context"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
)

// FuzzLoad: whatever a file holds, loading ends with an engine that decides or
// with problems that can be printed.
func FuzzLoad(f *testing.F) {
	f.Add(simplePolicy, `{"a": 1}`)
	f.Add(defaultText, "a: [1, &x 2, *x]\n")
	f.Add(head+"deny contains {\"msg\": 1} if input.exec\n", "---\n")
	f.Add("package donax\n\nallow if {\n", "\xff")
	f.Fuzz(func(t *testing.T, src, data string) {
		root, err := mergeData([]dataFile{{name: "d.json", text: []byte(data)}, {name: "d.yaml", text: []byte(data), under: []string{"y"}}}, []string{"donax"})
		if err == nil && root == nil {
			t.Error("no data and no error")
		}
		c := Config{Sources: map[string]string{"p.rego": src}, Timeout: time.Second}
		r, err := Check(context.Background(), c)
		if err != nil {
			return
		}
		_ = r.String()
		e, err := Load(context.Background(), c)
		if (err == nil) != r.OK() {
			t.Errorf("load says %v, check %s", err, r)
		}
		if err != nil {
			return
		}
		for _, a := range actions() {
			if d, err := e.Decide(context.Background(), a); err != nil && d.Effect != policy.Deny {
				t.Errorf("%v with %v", d.Effect, err)
			}
		}
	})
}
