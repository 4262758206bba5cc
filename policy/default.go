package policy

import "context"

// Default is the policy in force when nobody gave one: whatever stays inside
// the sandbox may run, nothing reaches outside. Commands, programs, files (as
// far as mounts grant them) and output are allowed; network connections,
// upstream tools and users' modules are denied.
//
// It is Go, not Rego, so that donax without a policy pays nothing for having
// an engine; policy/rego ships the same policy as text and tests that the two
// agree.
type Default struct {
	Net bool // network connections are allowed: whoever dials keeps a list
}

// Decide implements [Engine].
func (p Default) Decide(_ context.Context, a Action) (Decision, error) {
	d, _ := p.Constant(a.Kind)
	return d, nil
}

// Constant implements [Constanter]: every answer of Default is constant.
func (p Default) Constant(k Kind) (Decision, bool) {
	const hint = "start from the text that `donax policy init` prints, add a rule and pass it with --policy"
	why := map[Kind]string{
		KindNet:    "the network is closed unless a policy opens it",
		KindTool:   "upstream tools are closed unless a policy opens them",
		KindModule: "added programs are not loaded unless a policy allows them",
	}
	if k == KindNet && p.Net {
		return Decision{Effect: Allow}, true
	}
	switch k {
	case KindCommand, KindExec, KindFile, KindOutput:
		return Decision{Effect: Allow}, true
	case KindNet, KindTool, KindModule:
		return Decision{Reasons: []Reason{{Msg: why[k], Rule: "default", Hint: hint}}}, true
	}
	return Decision{}, true
}
