package rego

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/bundle"
)

const bundleSecret = "a-secret-only-of-this-test-0123456789"

// writeBundle packs files; a key id of "" leaves the bundle unsigned.
func writeBundle(t *testing.T, keyID string, files map[string]string, data map[string]any) string {
	t.Helper()
	b := bundle.Bundle{Manifest: bundle.Manifest{Revision: "r1"}, Data: data}
	b.Manifest.Init()
	for name, text := range files {
		b.Modules = append(b.Modules, bundle.ModuleFile{URL: "/" + name, Path: "/" + name, Raw: []byte(text)})
	}
	if keyID != "" {
		if err := b.GenerateSignature(bundle.NewSigningConfig(bundleSecret, "HS256", ""), keyID, false); err != nil {
			t.Fatal(err)
		}
	}
	var buf bytes.Buffer
	if err := bundle.NewWriter(&buf).DisableFormat(true).Write(b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "policy.tar.gz")
	if err := os.WriteFile(name, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// Threats: PO-12.
func TestBundles(t *testing.T) {
	key := &BundleKey{ID: "k1", Key: bundleSecret, Algorithm: "HS256"}
	files := map[string]string{
		"p.rego":      head + "allow if input.exec.name in data.cfg.names\n\ndeny contains \"x\" if input.exec.name == \"rm\"\n",
		"p_test.rego": "package donax_test\n\nimport data.donax\n\ntest_ls if donax.allow with input as {\"action\": \"exec\", \"exec\": {\"name\": \"ls\"}}\n",
	}
	data := map[string]any{"cfg": map[string]any{"names": []any{"ls", "rm"}}}
	good := writeBundle(t, "k1", files, data)
	load := func(name string, key *BundleKey) (*Engine, error) {
		return Load(context.Background(), Config{Paths: []string{name}, Key: key})
	}
	e, err := load(good, key)
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(t, e, execAction("ls")); d.Effect != policy.Allow {
		t.Error("ls is allowed")
	}
	if d := decide(t, e, execAction("rm")); d.Effect != policy.Deny || !strings.HasSuffix(d.Reasons[0].Location, "policy.tar.gz:p.rego:7") {
		t.Errorf("%+v", d)
	}
	r, err := Test(context.Background(), TestConfig{Config: Config{Paths: []string{good}, Key: key}})
	if err != nil || !r.OK() {
		t.Errorf("%v %v", r, err)
	}
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file string
		key  *BundleKey
		want string
	}{
		"no key":         {good, nil, "only loaded with a key"},
		"empty key":      {good, &BundleKey{}, "needs an id and a key"},
		"other key":      {good, &BundleKey{ID: "k1", Key: "another", Algorithm: "HS256"}, "verif"},
		"other scope":    {good, &BundleKey{ID: "k1", Key: bundleSecret, Algorithm: "HS256", Scope: "write"}, "scope"},
		"unsigned":       {writeBundle(t, "", files, data), key, "signature"},
		"data as rules":  {writeBundle(t, "k1", files, map[string]any{"cfg": map[string]any{}, "donax": map[string]any{"deny": []any{}}}), key, "belongs to the rules"},
		"not an archive": {filepath.Join(writeFiles(t, map[string]string{"x.tar.gz": "text"}), "x.tar.gz"), key, "archive read failed"},
		"cut short":      {filepath.Join(writeFiles(t, map[string]string{"x.tar.gz": string(raw[:len(raw)/2])}), "x.tar.gz"), key, "bundle"},
	} {
		if _, err := load(c.file, c.key); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
