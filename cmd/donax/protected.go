package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// protected denies changes of protected names on mounts that are written
// directly, so that the refusal of the file system has a reason that is shown
// and recorded like any other. The file system refuses them also where nobody
// asks.
type protected struct {
	policy.Engine
	layout func() *vfs.Mount // nil before there is one
}

// Decide implements [policy.Engine].
func (p protected) Decide(ctx context.Context, a policy.Action) (policy.Decision, error) {
	if f := a.File; f != nil && f.Op != "read" && f.Op != "list" {
		names := []string{f.Path, f.To}
		if f.Op == "link" {
			names = names[1:] // a link may lead to such a place, but not be one
		}
		for _, name := range names {
			if name != "" && p.refuses(f.Op, name) {
				return policy.Decision{Reasons: []policy.Reason{{
					Rule: "protected-names",
					Msg:  fmt.Sprintf("%s is what the tools on this machine run or obey by themselves", name),
					Hint: "write it elsewhere and let a person move it; whoever starts donax can allow a folder by mounting it itself",
				}}}, nil
			}
		}
	}
	return p.Engine.Decide(ctx, a)
}

// refuses reports whether the file system refuses op at name. Folders above
// a protected name may be made and filled, but not be moved or anything else.
func (p protected) refuses(op, name string) bool {
	m := p.layout()
	if m == nil {
		return false
	}
	yes, onWay := m.Protected(name)
	return yes && (!onWay || op != "create" && op != "chmod" && op != "remove")
}

// Constant implements [policy.Constanter]: about files there is more to say.
func (p protected) Constant(k policy.Kind) (policy.Decision, bool) {
	if c, ok := p.Engine.(policy.Constanter); ok && k != policy.KindFile {
		return c.Constant(k)
	}
	return policy.Decision{}, false
}

// Repeats implements [policy.Repeater]: what is refused depends on names alone.
func (p protected) Repeats(a policy.Action) bool {
	if c, ok := p.Engine.(policy.Constanter); ok {
		if _, ok := c.Constant(a.Kind); ok {
			return true
		}
	}
	r, ok := p.Engine.(policy.Repeater)
	return ok && r.Repeats(a)
}

// Layers returns the engine within, for tools that explain it.
func (p protected) Layers() []policy.Engine { return []policy.Engine{p.Engine} }

// Reads says for tools that explain it what answers depend on: the names of
// what is changed.
func (p protected) Reads(a policy.Action, fields []string) []string {
	if a.File == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f != "op" && f != "path" && f != "to" })
}
