package policies_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/examples/policies"
	"github.com/donax-sh/donax/policy/rego"
)

func TestExamples(t *testing.T) {
	names := policies.Names()
	if len(names) < 4 {
		t.Fatalf("only %v", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			c := rego.Config{Paths: []string{name}, Enforce: rego.Obligations()}
			report, err := rego.Check(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Problems) > 0 {
				t.Errorf("problems:\n%s", report)
			}
			tests, err := rego.Test(ctx, rego.TestConfig{Config: c})
			if err != nil {
				t.Fatal(err)
			}
			if !tests.OK() || tests.Coverage < 90 {
				t.Errorf("tests:\n%s", tests)
			}
			ex, err := policies.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			if ex.Title == "" || strings.Count(ex.Readme, "\n") > 8 {
				t.Errorf("README: title %q", ex.Title)
			}
			if ex.Policy == "" || ex.Files["policy_test.rego"] == "" {
				t.Error("policy or test is missing")
			}
			for file, text := range ex.Files {
				if filepath.Ext(file) != ".rego" {
					continue
				}
				formatted, err := rego.Format(file, []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(formatted, []byte(text)) {
					t.Errorf("%s is not in canonical layout:\n%s", filepath.Join(name, file), formatted)
				}
			}
		})
	}
}

// TestExamplesCanBeWrittenOut does what `donax policy init DIR --example NAME`
// does.
func TestExamplesCanBeWrittenOut(t *testing.T) {
	for _, name := range policies.Names() {
		ex, err := policies.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), name)
		if _, err := rego.Scaffold(dir, ex.Files); err != nil {
			t.Fatal(err)
		}
		if r, err := rego.Check(context.Background(), rego.Config{Paths: []string{dir}, Enforce: rego.Obligations()}); err != nil || len(r.Problems) > 0 {
			t.Errorf("%s: %v %v", name, err, r)
		}
	}
}

func TestUnknownExample(t *testing.T) {
	if _, err := policies.Get("nope"); !errors.Is(err, policies.ErrUnknown) || !strings.Contains(err.Error(), "starter") {
		t.Errorf("got %v", err)
	}
}
