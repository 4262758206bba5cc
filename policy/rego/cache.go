package rego

import (
	"encoding/binary"
	"sync"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
)

// Decisions are cached under exactly the facts that they depend on. A key
// holds the bytes of those facts, never only their hash: two actions share an
// answer only if no rule can tell them apart.

const (
	maxCached  = 4096 // decisions; the cache is emptied when full
	maxKey     = 1024 // bytes
	maxText    = 4096 // bytes of messages in a decision; rules may quote what a command chose
	maxProject = 1024 // projections for values of a pivot; further values use the general one
)

// keyFields lists, for the kinds that are cached, all fields of their facts.
// A command is asked once, and the facts of the other kinds are large or
// change all the time. The bits of a projection are indexes into it.
var keyFields = map[policy.Kind][]string{
	policy.KindExec: {"name", "args", "kind", "sha256", "cwd", "depth", "ancestors", "assigns", "background"},
	policy.KindFile: {"op", "path", "requested", "to", "mount", "by"},
	policy.KindNet:  {"scheme", "host", "port", "method", "path", "ip", "by", "bytes"},
}

// addField appends the i-th of keyFields. It is a switch, not a table of
// functions, so that neither key nor action escape to the heap.
func addField(b []byte, a *policy.Action, i int) []byte {
	switch {
	case a.Exec != nil:
		x := a.Exec
		switch i {
		case 0:
			return addString(b, x.Name)
		case 1:
			return addStrings(b, x.Args)
		case 2:
			return addString(b, x.Kind)
		case 3:
			return addString(b, x.SHA256)
		case 4:
			return addString(b, x.Cwd)
		case 5:
			return binary.AppendVarint(b, int64(x.Depth))
		case 6:
			return addStrings(b, x.Ancestors)
		case 7:
			return addStrings(b, x.Assigns)
		}
		return addBool(b, x.Background)
	case a.File != nil:
		x := a.File
		return addString(b, [...]string{x.Op, x.Path, x.Requested, x.To, x.Mount, x.By}[i])
	}
	x := a.Net
	switch i {
	case 2:
		return binary.AppendVarint(b, int64(x.Port))
	case 7:
		return binary.AppendVarint(b, x.Bytes)
	}
	return addString(b, [...]string{x.Scheme, x.Host, "", x.Method, x.Path, x.IP, x.By}[i])
}

// A pivot is the field by whose value most rules are chosen: once it is known,
// rules for other values drop out, and with them what they read.
var pivots = map[policy.Kind]ast.Ref{
	policy.KindExec: ast.MustParseRef("input.exec.name"),
	policy.KindFile: ast.MustParseRef("input.file.op"),
	policy.KindNet:  ast.MustParseRef("input.net.host"),
}

func pivotOf(a *policy.Action) string {
	switch {
	case a.Exec != nil:
		return a.Exec.Name
	case a.File != nil:
		return a.File.Op
	}
	return a.Net.Host
}

func addString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func addStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = addString(b, s)
	}
	return b
}

func addBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// A projection says which facts a key must hold.
type projection struct {
	never   bool   // not cacheable
	subject bool   // who asks
	fields  uint32 // bits: indexes into keyFields
}

// decisionCache holds the decisions and projections of one snapshot.
type decisionCache struct {
	mu          sync.RWMutex
	decisions   map[string]*policy.Decision            // guarded by mu
	projections map[policy.Kind]map[string]*projection // by value of the pivot; guarded by mu
	general     map[policy.Kind]*projection            // for any value; guarded by mu
}

func (c *decisionCache) get(key []byte) *policy.Decision {
	c.mu.RLock()
	d := c.decisions[string(key)]
	c.mu.RUnlock()
	return d
}

func (c *decisionCache) put(key []byte, d policy.Decision) {
	n := 0
	for _, list := range [...][]policy.Reason{d.Reasons, d.Warnings} {
		for _, r := range list {
			n += len(r.Msg) + len(r.Rule) + len(r.Hint) + len(r.Location)
		}
	}
	if n > maxText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.decisions == nil || len(c.decisions) >= maxCached {
		c.decisions = map[string]*policy.Decision{}
	}
	c.decisions[string(key)] = &d
}

// key appends the key of a to b; nil means that the decision must not be
// cached.
func (s *snapshot) key(b []byte, a *policy.Action) []byte {
	fields := keyFields[a.Kind]
	if fields == nil || !wellFormed(a) || heavy(a, s.cfg.MaxInput/2) {
		return nil
	}
	value := pivotOf(a)
	p := s.projection(a.Kind, value)
	if p.never {
		return nil
	}
	// Which fields follow depends on kind and pivot, so both come first.
	b = append(b, a.Kind[0])
	b = addString(b, value)
	if p.subject {
		sub, err := s.subjects.get(&a.Subject)
		if err != nil {
			return nil
		}
		b = binary.LittleEndian.AppendUint64(b, sub.id)
	}
	for i := range fields {
		if p.fields&(1<<i) != 0 {
			b = addField(b, a, i)
		}
		if len(b) > maxKey {
			return nil
		}
	}
	return b
}

// heavy reports whether the facts weigh more than limit: then the bound on the
// input decides, which no cached answer may forestall.
func heavy(a *policy.Action, limit int) bool {
	if a.Exec == nil {
		return false // paths and hosts are bounded by those who build them, and by maxKey
	}
	n := 0
	for _, list := range [...][]string{a.Exec.Args, a.Exec.Ancestors, a.Exec.Assigns} {
		for _, s := range list {
			n += len(s) + weight
		}
	}
	return n > limit
}

// projection analyses actions of kind k whose pivot has the given value.
func (s *snapshot) projection(k policy.Kind, value string) *projection {
	c := &s.cache
	c.mu.RLock()
	p := c.projections[k][value]
	if p == nil && len(c.projections[k]) >= maxProject {
		p = c.general[k]
	}
	c.mu.RUnlock()
	if p != nil {
		return p
	}
	of := kindIs(k)
	p = s.project(of.and(pivots[k], value))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.projections == nil {
		c.projections = map[policy.Kind]map[string]*projection{}
		c.general = map[policy.Kind]*projection{}
	}
	if c.projections[k] == nil {
		c.projections[k] = map[string]*projection{}
		c.general[k] = s.project(of)
	}
	if len(c.projections[k]) < maxProject { // values come from the command line: their number must not grow without bound
		c.projections[k][value] = p
		return p
	}
	return c.general[k]
}

func (s *snapshot) project(of known) *projection {
	d := s.depends(of, s.queries[of.kind].names)
	if d.any {
		return &projection{never: true}
	}
	p := &projection{}
	for _, ref := range d.refs {
		switch field, _ := inputField(ref); field {
		case "principal", "session", "terminal":
			p.subject = true
		case string(of.kind):
			p.fields |= fieldBits(of.kind, ref)
		default: // usage, which changes all the time, and whatever is unknown here
			return &projection{never: true}
		}
	}
	return p
}

// fieldBits returns the bits of the fields that ref reads.
func fieldBits(k policy.Kind, ref ast.Ref) uint32 {
	all := uint32(1)<<len(keyFields[k]) - 1
	if len(ref) < 3 {
		return all
	}
	name, ok := ref[2].Value.(ast.String)
	if !ok {
		return all
	}
	for i, f := range keyFields[k] {
		if f == string(name) {
			return 1 << i
		}
	}
	return all
}
