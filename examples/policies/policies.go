// Package policies holds example policies with their tests, as `donax policy
// init --example NAME` writes them. They use every kind of rule that this
// version enforces; each folder has a policy, its tests and a few lines of
// explanation.
package policies

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed */*
var files embed.FS

// ErrUnknown is matched by the error for a name that no example has.
var ErrUnknown = errors.New("no such example policy")

// Starter is the example that a new user starts from.
const Starter = "starter"

// An Example is one policy.
type Example struct {
	Name   string
	Title  string // one line
	Policy string // text of policy.rego
	Readme string
	Files  map[string]string // all files but the README, by name
}

// Names returns the names of all examples, sorted.
func Names() []string {
	ents, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range ents {
		names = append(names, e.Name())
	}
	return names
}

// Get returns the example called name. Its error matches [ErrUnknown] and
// lists the names there are.
func Get(name string) (Example, error) {
	if !slices.Contains(Names(), name) {
		return Example{}, fmt.Errorf("%w: %q (there are: %s)", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	e := Example{Name: name, Files: map[string]string{}}
	ents, err := fs.ReadDir(files, name)
	if err != nil {
		return Example{}, err
	}
	for _, ent := range ents {
		text, err := files.ReadFile(name + "/" + ent.Name())
		if err != nil {
			return Example{}, err
		}
		if ent.Name() == "README.md" {
			e.Readme = string(text)
			continue
		}
		e.Files[ent.Name()] = string(text)
	}
	e.Policy = e.Files["policy.rego"]
	e.Title, _, _ = strings.Cut(strings.TrimPrefix(e.Readme, "# "), "\n")
	return e, nil
}
