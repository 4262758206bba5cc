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
	maxProject = 1024 // projections for values of a pivot; further values use the general one
)

// A keyField is a field of an action's facts that can be part of a key.
type keyField struct {
	name string
	add  func(b []byte, a *policy.Action) []byte
}

// keyFields lists, for the kinds that are cached, all fields of their facts.
// A command is asked once and the facts of others are large or always change.
var keyFields = map[policy.Kind][]keyField{
	policy.KindExec: {
		{"name", func(b []byte, a *policy.Action) []byte { return addString(b, a.Exec.Name) }},
		{"args", func(b []byte, a *policy.Action) []byte { return addStrings(b, a.Exec.Args) }},
		{"kind", func(b []byte, a *policy.Action) []byte { return addString(b, a.Exec.Kind) }},
		{"sha256", func(b []byte, a *policy.Action) []byte { return addString(b, a.Exec.SHA256) }},
		{"cwd", func(b []byte, a *policy.Action) []byte { return addString(b, a.Exec.Cwd) }},
		{"depth", func(b []byte, a *policy.Action) []byte { return binary.AppendVarint(b, int64(a.Exec.Depth)) }},
		{"ancestors", func(b []byte, a *policy.Action) []byte { return addStrings(b, a.Exec.Ancestors) }},
		{"assigns", func(b []byte, a *policy.Action) []byte { return addStrings(b, a.Exec.Assigns) }},
		{"background", func(b []byte, a *policy.Action) []byte { return addBool(b, a.Exec.Background) }},
	},
	policy.KindFile: {
		{"op", func(b []byte, a *policy.Action) []byte { return addString(b, a.File.Op) }},
		{"path", func(b []byte, a *policy.Action) []byte { return addString(b, a.File.Path) }},
		{"requested", func(b []byte, a *policy.Action) []byte { return addString(b, a.File.Requested) }},
		{"to", func(b []byte, a *policy.Action) []byte { return addString(b, a.File.To) }},
		{"mount", func(b []byte, a *policy.Action) []byte { return addString(b, a.File.Mount) }},
		{"by", func(b []byte, a *policy.Action) []byte { return addString(b, a.File.By) }},
	},
	policy.KindNet: {
		{"scheme", func(b []byte, a *policy.Action) []byte { return addString(b, a.Net.Scheme) }},
		{"host", func(b []byte, a *policy.Action) []byte { return addString(b, a.Net.Host) }},
		{"port", func(b []byte, a *policy.Action) []byte { return binary.AppendVarint(b, int64(a.Net.Port)) }},
		{"method", func(b []byte, a *policy.Action) []byte { return addString(b, a.Net.Method) }},
		{"path", func(b []byte, a *policy.Action) []byte { return addString(b, a.Net.Path) }},
		{"ip", func(b []byte, a *policy.Action) []byte { return addString(b, a.Net.IP) }},
		{"by", func(b []byte, a *policy.Action) []byte { return addString(b, a.Net.By) }},
	},
}

// A pivot is the field by whose value most rules are chosen: once it is known,
// rules for other values drop out, and with them what they read.
type pivot struct {
	ref ast.Ref
	of  func(*policy.Action) string
}

var pivots = map[policy.Kind]pivot{
	policy.KindExec: {ast.MustParseRef("input.exec.name"), func(a *policy.Action) string { return a.Exec.Name }},
	policy.KindFile: {ast.MustParseRef("input.file.op"), func(a *policy.Action) string { return a.File.Op }},
	policy.KindNet:  {ast.MustParseRef("input.net.host"), func(a *policy.Action) string { return a.Net.Host }},
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
	value := pivots[a.Kind].of(a)
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
			b = fields[i].add(b, a)
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
	p = s.project(of.and(pivots[k].ref, value))
	general := s.project(of)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.projections == nil {
		c.projections = map[policy.Kind]map[string]*projection{}
		c.general = map[policy.Kind]*projection{}
	}
	c.general[k] = general
	if c.projections[k] == nil {
		c.projections[k] = map[string]*projection{}
	}
	if len(c.projections[k]) < maxProject { // names come from the command line: their number must not grow without bound
		c.projections[k][value] = p
		return p
	}
	return general
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
		if f.name == string(name) {
			return 1 << i
		}
	}
	return all
}
