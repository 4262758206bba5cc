package rego

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
)

// A BundleKey verifies the signatures of bundles.
type BundleKey struct {
	ID        string // names the key; signatures are verified with this key, whatever id they carry
	Key       string // public key in PEM, or the secret of an HS algorithm
	Algorithm string // RS256, ES256, HS256, ...; "" means RS256
	Scope     string // scope that signatures must have; "" accepts only those without one
}

// isBundle reports whether a path names a bundle.
func isBundle(name string) bool {
	name = strings.ToLower(filepath.Base(name))
	return strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

func (k *BundleKey) check(name string) error {
	if k == nil {
		return fmt.Errorf("policy: %s: bundles are only loaded with a key that verifies their signature", name)
	}
	if k.ID == "" || k.Key == "" {
		return fmt.Errorf("policy: %s: the bundle key needs an id and a key", name)
	}
	return nil
}

// bundle reads a signed bundle. What is not signed by key, and bundles that
// only change another one, are refused.
func (s *sources) bundle(name string, key *BundleKey, withTests bool) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	defer f.Close()
	return s.bundleFrom(f, name, key, withTests)
}

func (s *sources) bundleFrom(r io.Reader, name string, key *BundleKey, withTests bool) error {
	if err := key.check(name); err != nil {
		return err
	}
	alg := key.Algorithm
	if alg == "" {
		alg = "RS256"
	}
	config := bundle.NewVerificationConfig(map[string]*bundle.KeyConfig{key.ID: {Key: key.Key, Algorithm: alg}}, key.ID, key.Scope, nil)
	b, err := bundle.NewReader(r).
		WithBundleName(filepath.Base(name)).
		WithBundleVerificationConfig(config). // never with an optional signature: then an unsigned one would do
		WithCapabilities(newCapabilities()).
		WithRegoVersion(ast.RegoV1).
		WithSizeLimitBytes(maxFile).
		Read()
	if err != nil {
		return fmt.Errorf("policy: bundle %s: %w", name, err)
	}
	if b.Type() != bundle.SnapshotBundleType {
		return fmt.Errorf("policy: bundle %s: only whole bundles are loaded, not deltas", name)
	}
	if len(b.WasmModules)+len(b.PlanModules) > 0 {
		return fmt.Errorf("policy: bundle %s: it holds compiled rules, which cannot be checked", name)
	}
	prefix := filepath.ToSlash(name) + ":"
	for _, m := range b.Modules {
		at := prefix + path.Clean(strings.TrimPrefix(m.Path, "/"))
		switch {
		case slices.ContainsFunc(strings.Split(m.Path, "/"), func(p string) bool { return strings.HasPrefix(p, ".") && p != "." }):
		case !isTest(m.Path):
			s.modules[at] = string(m.Raw)
		case withTests:
			s.tests[at] = string(m.Raw)
		}
	}
	if len(b.Data) > 0 {
		s.data = append(s.data, dataFile{name: name, value: b.Data})
	}
	return nil
}
