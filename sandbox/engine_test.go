package sandbox_test

import (
	"context"
	"sync"

	"github.com/donax-sh/donax/policy"
)

// rules is an engine of the tests: it records what it is asked and denies
// what deny names a reason for.
type rules struct {
	deny func(a policy.Action) string

	mu     sync.Mutex
	asked  []policy.Action
	denied []policy.Action
}

func (r *rules) Decide(_ context.Context, a policy.Action) (policy.Decision, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, a)
	if msg := r.deny(a); msg != "" {
		r.denied = append(r.denied, a)
		return policy.Decision{ID: "d1", Reasons: []policy.Reason{{Msg: msg, Rule: "keep", Hint: "move it to /tmp", Location: "rules.rego:7"}}}, nil
	}
	return policy.Decision{Effect: policy.Allow}, nil
}

// execs returns the facts of the exec actions about a program.
func (r *rules) execs(name string) (list []policy.Exec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.asked {
		if a.Exec != nil && a.Exec.Name == name {
			list = append(list, *a.Exec)
		}
	}
	return list
}

// denyProgram refuses one program by its canonical name.
func denyProgram(name string) *rules {
	return &rules{deny: func(a policy.Action) string {
		if a.Exec != nil && a.Exec.Name == name {
			return "nothing is deleted here"
		}
		return ""
	}}
}

// denyFiles refuses changes below a folder.
func denyFiles(below string, ops ...string) *rules {
	return &rules{deny: func(a policy.Action) string {
		if a.File == nil {
			return ""
		}
		for _, op := range ops {
			if a.File.Op == op && (within(a.File.Path, below) || within(a.File.To, below)) {
				return "the folder is kept"
			}
		}
		return ""
	}}
}

func within(name, dir string) bool {
	return name == dir || len(name) > len(dir) && name[:len(dir)+1] == dir+"/"
}
