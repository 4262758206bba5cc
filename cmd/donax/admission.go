package main

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/approve"
	"github.com/donax-sh/donax/policy/rego"
)

// policyMode says whether what a policy decides is done.
type policyMode string

const (
	enforce policyMode = "enforce"
	dryRun  policyMode = "dry-run"
)

func (m *policyMode) String() string { return string(*m) }
func (m *policyMode) Type() string   { return "mode" }
func (m *policyMode) Set(s string) error {
	if s != string(enforce) && s != string(dryRun) {
		return fmt.Errorf("want enforce or dry-run")
	}
	*m = policyMode(s)
	return nil
}

// admission puts round the loaded policies who is asked and whether they are
// enforced.
func (f *sandboxFlags) admission(e policy.Engine, stderr io.Writer, session policy.Session) (policy.Engine, *approve.Book, error) {
	book, err := f.confirm.book(func(err error) { fmt.Fprintln(stderr, "donax:", err) })
	if err != nil {
		return nil, nil, err
	}
	if f.explain { // an ask is shown as one
		return e, book, nil
	}
	if f.mode == dryRun {
		fmt.Fprintln(stderr, "donax: DRY RUN: policies are asked but NOT ENFORCED; what they would refuse happens all the same (end it with --policy-mode enforce)")
		return policy.DryRun(e, reportOnce(stderr)), book, nil
	}
	return policy.Asking(e, book.Wrap(asker(stderr, session))), book, nil
}

// asker returns who can be asked at this process: nobody when it is a server,
// which asks the person at its client instead.
func asker(stderr io.Writer, session policy.Session) policy.Approver {
	if session.Transport != "cli" {
		return nil
	}
	return prompter(stderr)
}

// maxReports bounds what a dry run remembers having said.
const maxReports = 10_000

// reportOnce tells what a dry run lets through, the same thing once.
func reportOnce(w io.Writer) func(policy.Action, policy.Decision, error) {
	var mu sync.Mutex
	said := map[string]bool{}
	return func(a policy.Action, d policy.Decision, err error) {
		if err == nil {
			return
		}
		text := fmt.Sprintf("%s %s: %s", a.Kind, policy.Describe(a), (&policy.DeniedError{Action: a, Decision: policy.Decision{Effect: d.Effect, Reasons: d.Reasons}}).Error())
		mu.Lock()
		defer mu.Unlock()
		if said[text] || len(said) >= maxReports {
			return
		}
		said[text] = true
		first, _, _ := strings.Cut(text, "\n")
		fmt.Fprintln(w, "donax: not enforced:", first)
	}
}

// bundleKey reads the key that verifies bundles.
func bundleKey(flag string) (*rego.BundleKey, error) {
	if flag == "" {
		return nil, nil
	}
	id, file, ok := strings.Cut(flag, "=")
	if !ok {
		id, file = "default", flag
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError("--policy-key key.pem", "--policy-key: %v", err)
	}
	k := &rego.BundleKey{ID: id, Key: string(text), Algorithm: "RS256"}
	if block, _ := pem.Decode(text); block == nil {
		return nil, usageError("--policy-key key.pem", "--policy-key %s is no public key in PEM", file)
	} else if pub, err := x509.ParsePKIXPublicKey(block.Bytes); err == nil {
		if _, ok := pub.(*ecdsa.PublicKey); ok {
			k.Algorithm = "ES256"
		}
	}
	return k, nil
}

// outsideMounts refuses policies and approvals in a folder that the line may
// change: it could then allow itself what it likes.
func (f *sandboxFlags) outsideMounts(mounts []mount) error {
	guarded := map[string][]string{"--policy": f.policies}
	if f.confirm.file != "" {
		guarded["--approvals"] = []string{f.confirm.file}
	}
	for flag, files := range guarded {
		for _, file := range files {
			at := realFile(file)
			for _, m := range mounts {
				if m.mode != "rw" {
					continue
				}
				src := realFile(m.src)
				for _, inside := range []string{at, absolute(file)} { // where it is, and the link that leads there
					if rel, err := filepath.Rel(src, inside); err == nil && filepath.IsLocal(rel) {
						return usageError(fmt.Sprintf("keep it elsewhere, or --mount %s:ro", m.src), "%s %s lies in %s, which lines may write: they could change it", flag, file, m.src)
					}
				}
			}
		}
	}
	return nil
}

func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// realFile follows the links of a path as far as it exists.
func realFile(name string) string {
	name = absolute(name)
	if r, err := filepath.EvalSymlinks(name); err == nil {
		return r
	}
	if _, err := os.Lstat(name); err != nil && filepath.Dir(name) != name {
		return filepath.Join(realFile(filepath.Dir(name)), filepath.Base(name))
	}
	return name
}
