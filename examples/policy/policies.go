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
	"strings"
)

//go:embed */*.rego */README.md
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
	Test   string // text of policy_test.rego
	Readme string
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
	e := Example{Name: name}
	for file, into := range map[string]*string{"policy.rego": &e.Policy, "policy_test.rego": &e.Test, "README.md": &e.Readme} {
		text, err := files.ReadFile(name + "/" + file)
		if err != nil {
			return Example{}, fmt.Errorf("%w: %q (there are: %s)", ErrUnknown, name, strings.Join(Names(), ", "))
		}
		*into = string(text)
	}
	e.Title, _, _ = strings.Cut(strings.TrimPrefix(e.Readme, "# "), "\n")
	return e, nil
}
