package rego

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Scaffold writes a folder to work in: the given files (policy.rego,
// policy_test.rego, data), and in hidden folders, which [Load] skips, the
// schema of the input, the capabilities of policies, and settings that make
// regal and the OPA extension of VS Code use them. It returns the files it
// wrote and refuses to replace any.
func Scaffold(dir string, texts map[string]string) ([]string, error) {
	caps, err := capabilitiesText()
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		".schemas/input.json":      string(schemaText),
		".regal/capabilities.json": caps,
		".regal/config.yaml":       regalConfig,
		".vscode/settings.json":    vscodeSettings,
	}
	for name, text := range texts {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("policy: %s is not a name inside the folder", name)
		}
		files[name] = text
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("policy: %s is there already: choose an empty folder", filepath.Join(dir, name))
		}
	}
	var written []string
	for _, base := range names {
		name := filepath.Join(dir, base)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return written, fmt.Errorf("policy: %w", err)
		}
		out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return written, fmt.Errorf("policy: %w", err)
		}
		_, err = out.WriteString(files[base])
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
