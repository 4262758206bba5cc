package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy/rego"
)

// TestMain makes the test binary be one of the servers when it is started as
// one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		serve(os.Args[2], os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

func TestDemo(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cache := os.Getenv("DONAX_CACHE")
	if dir, err := os.UserCacheDir(); cache == "" && err == nil {
		cache = filepath.Join(dir, "donax")
	}
	var out bytes.Buffer
	if err := demo(ctx, &out, cache); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	for _, want := range []string{"saved open tickets\n", "ledger.pay: denied by policy: at most 10000 in one payment [rule amount"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	counts := regexp.MustCompile(`(?m)(\d+) bytes$`).FindAllStringSubmatch(out.String(), -1)
	if len(counts) != 2 {
		t.Fatal(counts)
	}
	through, _ := strconv.Atoi(counts[0][1])
	direct, _ := strconv.Atoi(counts[1][1])
	if through == 0 || through > 5000 || direct < 5<<20 {
		t.Errorf("%d bytes through donax, %d directly", through, direct)
	}
}

// TestPolicy holds the recipe of docs/upstream.md.
func TestPolicy(t *testing.T) {
	c := rego.Config{Paths: []string{"."}}
	report, err := rego.Check(t.Context(), c)
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%v\n%s", err, report)
	}
	tests, err := rego.Test(t.Context(), rego.TestConfig{Config: c})
	if err != nil || !tests.OK() || tests.Coverage < 90 {
		t.Errorf("%v\n%s", err, tests)
	}
	for _, name := range []string{"policy.rego", "policy_test.rego"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if formatted, err := rego.Format(name, text); err != nil || !bytes.Equal(formatted, text) {
			t.Errorf("%s is not in canonical layout: %v\n%s", name, err, formatted)
		}
	}
	manual, err := os.ReadFile("../../docs/upstream.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, recipe, ok := strings.Cut(policyText, "package donax\n"); !ok || !strings.Contains(string(manual), recipe) {
		t.Error("docs/upstream.md does not show policy.rego as it is")
	}
}
