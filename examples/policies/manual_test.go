package policies_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy/rego"
)

// TestManual loads every policy of docs/policy.md and runs its test.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```rego\n")[1:]
	if len(blocks) < 6 {
		t.Fatalf("only %d policies", len(blocks))
	}
	ctx := context.Background()
	last := ""
	for i, b := range blocks {
		src, _, _ := strings.Cut(b, "```")
		if formatted, err := rego.Format("manual.rego", []byte(src)); err != nil || string(formatted) != src {
			t.Errorf("policy %d is not in canonical layout: %v\n%s", i, err, formatted)
		}
		if strings.HasPrefix(src, "package donax_test") {
			dir := t.TempDir()
			for name, text := range map[string]string{"p.rego": last, "p_test.rego": src} {
				if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if r, err := rego.Test(ctx, rego.TestConfig{Config: rego.Config{Paths: []string{dir}, Enforce: rego.Obligations()}}); err != nil || !r.OK() {
				t.Errorf("policy %d: %v %v", i, r, err)
			}
			continue
		}
		last = src
		r, err := rego.Check(ctx, rego.Config{Sources: map[string]string{"manual.rego": src}, Enforce: rego.Obligations()})
		if err != nil || len(r.Problems) > 0 {
			t.Errorf("policy %d: %v\n%s", i, err, r)
		}
	}
}
