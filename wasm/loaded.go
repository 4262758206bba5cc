package wasm

import (
	"context"
	"errors"

	"github.com/donax-sh/donax/sandbox"
)

// Loaded says what a program of [Runtime.Load] is, to a process that shares the
// cache and must compile nothing. It can be encoded as JSON.
type Loaded struct {
	Usage    sandbox.Usage
	Code     string   // hex digest of the module as it was compiled
	Calls    []string // exports that a run calls, in order
	Args     []string
	Env      []string
	Preopens []Preopen
}

// Loaded returns those of programs that came from [Runtime.Load], in order.
func (r *Runtime) Loaded(programs []sandbox.Program) (all []Loaded) {
	for _, p := range programs {
		if u, ok := p.(*userProgram); ok && u.rt == r {
			all = append(all, Loaded{Usage: u.UserModule.Usage, Code: u.code.sum, Calls: u.code.calls, Args: u.Args, Env: u.Env, Preopens: u.Preopens})
		}
	}
	return all
}

// errNotKept is the error of a program whose code is not in the cache any more.
var errNotKept = errors.New("wasm: the code of the program is not in the cache any more: start donax again")

// Reload returns a program that another process has loaded and had admitted,
// and what makes it ready; its first run does so else.
func (r *Runtime) Reload(l Loaded) (p sandbox.Program, ready func(context.Context) error) {
	m := newModule(r, l.Code, "program "+l.Usage.Name, func() ([]byte, error) { return nil, errNotKept })
	m.fresh, m.apart = true, true
	return &userProgram{
		rt:         r,
		code:       &userCode{module: m, calls: l.Calls},
		UserModule: UserModule{Usage: l.Usage, SHA256: l.Usage.SHA256, Args: l.Args, Env: l.Env, Preopens: l.Preopens},
	}, m.load
}
