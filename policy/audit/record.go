package audit

import (
	"bytes"
	"encoding/json"
	"maps"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/donax-sh/donax/policy"
)

// Types of records. Those of decisions are the kinds of action: command, exec,
// file, net, tool, module, output.
const (
	TypeOpened    = "log.opened"
	TypeRecovered = "log.recovered" // the last writer did not close the log
	TypeClosed    = "log.closed"

	TypeCall       = "call"           // a client calls a tool
	TypeCallEnd    = "call.end"       // how the call ended
	TypeStart      = "command.start"  // an admitted command is about to run
	TypeEnd        = "command.end"    // how it ended
	TypePolicy     = "policy.changed" // from one revision to another
	TypePolicyKept = "policy.kept"    // a new one could not be loaded
	TypeBrakeOn    = "brake.on"
	TypeBrakeOff   = "brake.off"
	TypeStopped    = "brake.stopped" // what the brake has ended
	TypeTripped    = "brake.tripped" // a breaker
)

// A Record is one line of a log, as it is read.
type Record struct {
	Seq         int64             `json:"seq"`
	Prev        string            `json:"prev"` // hash of the record before; zeros for the first
	Type        string            `json:"type"`
	Timestamp   time.Time         `json:"timestamp"`
	DecisionID  string            `json:"decision_id"`
	Labels      map[string]string `json:"labels"`
	Path        string            `json:"path"`  // the rules that were asked: donax/KIND
	Input       json.RawMessage   `json:"input"` // the action, without what is a secret
	Result      *Result           `json:"result"`
	RequestedBy string            `json:"requested_by"`
	Revision    string            `json:"revision"` // of the policy
	Erased      []string          `json:"erased"`   // JSON pointers of what was left out
	Masked      []string          `json:"masked"`   // JSON pointers of what was made unreadable
	Metrics     map[string]int64  `json:"metrics"`
	TraceID     string            `json:"trace_id"`
	SpanID      string            `json:"span_id"`
	Error       *Failure          `json:"error"`
	Custom      map[string]any    `json:"custom"`
	Hash        string            `json:"hash"` // sha256 of the line up to this field, hex
}

// Result is what was decided.
type Result struct {
	Effect   string          `json:"effect"`
	Reasons  []policy.Reason `json:"reasons,omitempty"`
	Warnings []policy.Reason `json:"warnings,omitempty"`
	Limits   *policy.Limits  `json:"limits,omitempty"`
	Redact   []string        `json:"redact,omitempty"` // names of the redactions
	UnsetEnv []string        `json:"unset_env,omitempty"`
}

// Failure says why there is no proper result. It is for the operator.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// record is a Record being written, without what the chain adds.
type record struct {
	Type        string           `json:"type"`
	Timestamp   time.Time        `json:"timestamp"`
	DecisionID  string           `json:"decision_id,omitempty"`
	Labels      json.RawMessage  `json:"labels,omitempty"`
	Path        string           `json:"path,omitempty"`
	Input       any              `json:"input,omitempty"`
	Result      *Result          `json:"result,omitempty"`
	RequestedBy string           `json:"requested_by,omitempty"`
	Revision    string           `json:"revision,omitempty"`
	Erased      []string         `json:"erased,omitempty"`
	Masked      []string         `json:"masked,omitempty"`
	Metrics     map[string]int64 `json:"metrics,omitempty"`
	TraceID     string           `json:"trace_id,omitempty"`
	SpanID      string           `json:"span_id,omitempty"`
	Error       *Failure         `json:"error,omitempty"`
	Custom      map[string]any   `json:"custom,omitempty"`
}

// encode returns the members of the record without the braces round them.
func (r *record) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return oneLine(line[1 : len(line)-1]), nil
}

// oneLine escapes what json leaves as it is and some reader takes for the end
// of a line, for a command to the terminal, or for nothing at all.
func oneLine(b []byte) []byte {
	plain := true
	for _, c := range b {
		if c >= utf8.RuneSelf || c == 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r < utf8.RuneSelf && r != 0x7f || r >= utf8.RuneSelf && unicode.IsPrint(r) {
			out = append(out, b[:n]...)
		} else {
			out = appendEscaped(out, r)
		}
		b = b[n:]
	}
	return out
}

func appendEscaped(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	unit := func(u rune) {
		b = append(b, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	if r > 0xffff {
		r -= 0x10000
		unit(0xd800 + r>>10)
		unit(0xdc00 + r&0x3ff)
		return b
	}
	unit(r)
	return b
}

var traceParent = lazily(`^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$`)

// maxTraceState is what the W3C recommends to keep of a tracestate.
const maxTraceState = 512

func (r *record) trace(t policy.Trace) {
	m := traceParent().FindStringSubmatch(t.Parent)
	if m == nil {
		return
	}
	r.TraceID, r.SpanID = m[1], m[2]
	if t.State != "" && len(t.State) <= maxTraceState {
		custom := maps.Clone(r.Custom)
		if custom == nil {
			custom = map[string]any{}
		}
		custom["tracestate"] = t.State
		r.Custom = custom
	}
}

// labelCache keeps the labels of the origins that come again and again.
type labelCache struct {
	mu sync.Mutex
	m  map[policy.Origin]json.RawMessage // guarded by mu
}

const maxLabels = 1024 // origins; then the cache starts anew

func (c *labelCache) get(fixed map[string]string, o policy.Origin) json.RawMessage {
	o.Trace = policy.Trace{}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, ok := c.m[o]; ok {
		return b
	}
	labels := maps.Clone(fixed)
	if labels == nil {
		labels = map[string]string{}
	}
	for name, v := range map[string]string{"server": o.Server, "goal": o.Goal, "scope": o.Scope, "isolation": string(o.Isolation)} {
		if v != "" {
			labels[name] = v
		}
	}
	b, err := json.Marshal(labels)
	if err != nil {
		return nil
	}
	if c.m == nil || len(c.m) >= maxLabels {
		c.m = map[policy.Origin]json.RawMessage{}
	}
	c.m[o] = b
	return b
}
