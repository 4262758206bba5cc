package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// whereTracer notes where each member of a set rule, or the value of allow,
// came from.
type whereTracer struct {
	s    *snapshot
	rule string
	hits []hit
}

type hit struct {
	member *ast.Term // nil when it could not be computed
	at     string
}

func (*whereTracer) Enabled() bool { return true }

func (*whereTracer) Config() topdown.TraceConfig { return topdown.TraceConfig{PlugLocalVars: true} }

func (w *whereTracer) TraceEvent(e topdown.Event) {
	if e.Op != topdown.ExitOp {
		return
	}
	r, ok := e.Node.(*ast.Rule)
	if !ok || headName(r) != w.rule || r.Module == nil || !w.s.inPackage(r.Module) {
		return
	}
	h := hit{at: place(r.Loc())}
	if r.Head.Key != nil {
		h.member = plug(r.Head.Key, e.Locals)
	}
	w.hits = append(w.hits, h)
}

func place(loc *ast.Location) string { return fmt.Sprintf("%s:%d", loc.File, loc.Row) }

// plug replaces variables by their values; nil when one has none.
func plug(t *ast.Term, vars *ast.ValueMap) *ast.Term {
	if t.IsGround() || vars == nil {
		return t
	}
	x, err := ast.Transform(ast.NewGenericTransformer(func(x any) (any, error) {
		if v, ok := x.(ast.Var); ok {
			if val := vars.Get(v); val != nil {
				return val, nil
			}
		}
		return x, nil
	}), t.Copy())
	out, ok := x.(*ast.Term)
	if err != nil || !ok || !out.IsGround() {
		return nil
	}
	return out
}

// place fills in locations: those of the rules that made exactly this member,
// or of all that took part when that is not known.
func (w *whereTracer) place(reasons []policy.Reason, members []*ast.Term) {
	for i := range reasons {
		var exact, any []string
		for _, h := range w.hits {
			if h.member != nil && i < len(members) && h.member.Equal(members[i]) && !slices.Contains(exact, h.at) {
				exact = append(exact, h.at)
			}
			if h.member == nil && !slices.Contains(any, h.at) {
				any = append(any, h.at)
			}
		}
		if len(exact) == 0 {
			exact = any
		}
		reasons[i].Location = strings.Join(exact, ", ")
	}
}
