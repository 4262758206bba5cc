package rego

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Scaffold writes a folder to work in: policy.rego and policy_test.rego with
// the given texts, and in hidden folders, which [Load] skips, the schema of
// the input, the capabilities of policies, and settings that make regal and
// the OPA extension of VS Code use them. It returns the files it wrote and
// refuses to replace any.
func Scaffold(dir, policyText, testText string) ([]string, error) {
	caps, err := capabilitiesText()
	if err != nil {
		return nil, err
	}
	files := []struct{ name, text string }{
		{"policy.rego", policyText},
		{"policy_test.rego", testText},
		{".schemas/input.json", string(schemaText)},
		{".regal/capabilities.json", caps},
		{".regal/config.yaml", regalConfig},
		{".vscode/settings.json", vscodeSettings},
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("policy: %s is there already: choose an empty folder", filepath.Join(dir, f.name))
		}
	}
	var written []string
	for _, f := range files {
		name := filepath.Join(dir, f.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return written, fmt.Errorf("policy: %w", err)
		}
		out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return written, fmt.Errorf("policy: %w", err)
		}
		_, err = out.WriteString(f.text)
		if err := errors.Join(err, out.Close()); err != nil {
			return written, fmt.Errorf("policy: %w", err)
		}
		written = append(written, name)
	}
	return written, nil
}

// capabilitiesText returns what policies may use as OPA's tools read it.
func capabilitiesText() (string, error) {
	c := newCapabilities()
	text, err := json.MarshalIndent(struct {
		*ast.Capabilities
		AllowNet []string `json:"allow_net"` // written also when empty: left out, it means every host
	}{c, c.AllowNet}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("policy: %w", err)
	}
	return string(text) + "\n", nil
}

const regalConfig = `# What donax lets policies use; rules are asked from outside, so they look unused.
capabilities:
  from:
    file: .regal/capabilities.json
rules:
  idiomatic:
    no-defined-entrypoint:
      level: ignore
`

const vscodeSettings = `{
  "opa.schema": "${workspaceFolder}/.schemas/input.json",
  "opa.strictMode": true
}
`
