package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/donax-sh/donax/policy"
)

// A Tool is something that clients can call. Beside the five terminal tools
// a program that embeds the server may bring its own: see [Config].
type Tool struct {
	Name         string // letters, digits, _ and -; at most 48, because clients prefix it
	Title        string
	Description  string          // under 2 KiB: clients cut it
	InputSchema  json.RawMessage // JSON Schema of an object. Single types and no null: some clients refuse all tools otherwise
	OutputSchema json.RawMessage // of Result.Structured; nil when there is none
	Hints        Hints

	// Call does the work. An error becomes a result that the model reads, so
	// its text must be fit for that; the end of ctx means that nobody waits.
	// It may be called several times at once.
	Call func(ctx context.Context, c *Call) (*Result, error)

	harmless bool // it can only look at, or end, what its caller has started: brakes let it pass
}

// Hints tell a client how careful to be. The zero value is the most careful.
type Hints struct {
	ReadOnly    bool // changes nothing
	Safe        bool // changes nothing that was there before
	Idempotent  bool // the same call again has no further effect
	ClosedWorld bool // reaches nothing outside the server
}

// Call is one call of a [Tool].
type Call struct {
	Arguments json.RawMessage // an object; every reader agrees on its value
	Subject   policy.Subject  // who calls; ctx carries it too

	terminals int // that the caller may run at a time; 0 means as many as anybody
	tool      string
	token     any
	sess      *sdk.ServerSession
	approvals *approvals
	answers   sdk.InputResponseMap
	state     string // that came back with answers
	canAsk    bool
}

// WantsProgress reports whether the client asked for progress.
func (c *Call) WantsProgress() bool { return c.token != nil }

// Progress tells the client how far the call is. done must grow from call to
// call. Without [Call.WantsProgress] it does nothing.
func (c *Call) Progress(ctx context.Context, done int64, message string) error {
	if c.token == nil {
		return nil
	}
	return c.sess.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: c.token, Progress: float64(done), Message: message})
}

// A count in the pattern would cost each start of a process a millisecond.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (t Tool) check() error {
	switch {
	case len(t.Name) > 48 || !toolName.MatchString(t.Name):
		return errors.New("a name is 1 to 48 of A-Z, a-z, 0-9, _ and -")
	case len(t.Description) > 2048:
		return errors.New("the description is longer than 2048 bytes")
	case t.Call == nil:
		return errors.New("Call is nil")
	}
	for _, schema := range []json.RawMessage{t.InputSchema, t.OutputSchema} {
		var s struct {
			Type string `json:"type"`
		}
		if schema == nil && t.InputSchema != nil {
			continue
		}
		if json.Unmarshal(schema, &s) != nil || s.Type != "object" {
			return errors.New("a schema is a JSON object of type object")
		}
	}
	return nil
}

// add registers t, in the place of an earlier tool of its name if there is one.
func (s *Server) add(t Tool) error {
	if err := t.check(); err != nil {
		return err
	}
	if i := s.order(t.Name); i >= 0 {
		s.tools[i] = t
	} else {
		s.tools = append(s.tools, t)
	}
	no := false
	hints := &sdk.ToolAnnotations{ReadOnlyHint: t.Hints.ReadOnly, IdempotentHint: t.Hints.Idempotent}
	if t.Hints.Safe || t.Hints.ReadOnly {
		hints.DestructiveHint = &no
	}
	if t.Hints.ClosedWorld {
		hints.OpenWorldHint = &no
	}
	out := &sdk.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, Annotations: hints}
	if t.OutputSchema != nil {
		out.OutputSchema = t.OutputSchema
	}
	s.sdk.AddTool(out, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.call(ctx, t, req)
	})
	return nil
}

// call adapts one call to a Tool.
func (s *Server) call(ctx context.Context, t Tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	l := linkFrom(ctx) // guardCall has seen that there is one
	subject, who := l.subject, l.identity
	if req.Extra != nil && req.Extra.TokenInfo != nil {
		// A session of the era of initialize keeps the context of its first request; this one may carry other roles.
		var ok bool
		if who, ok = req.Extra.TokenInfo.Extra[identityKey].(Identity); !ok {
			return nil, errInternal
		}
		subject.Principal = who.Principal
		subject.Session.ID = publicSession(req.Session.ID())
	}
	subject.Session.Protocol = req.ProtocolVersion()
	subject.Session.Client = clientOf(req)
	ctx = s.withOrigin(policy.WithSubject(ctx, subject), req.Params.Meta)

	c := &Call{
		Arguments: req.Params.Arguments, Subject: subject, terminals: who.Terminals, tool: t.Name, sess: req.Session,
		approvals: s.approvals, answers: req.Params.InputResponses, state: req.Params.RequestState, canAsk: canAsk(req),
	}
	switch token := req.Params.GetProgressToken().(type) {
	case string, float64: // 0 and "" are tokens too
		c.token = token
	}
	if args := bytes.TrimSpace(c.Arguments); len(args) == 0 || string(args) == "null" {
		c.Arguments = json.RawMessage("{}")
	}
	r, err := s.admitted(ctx, t, c)
	var ask *askError
	switch {
	case errors.As(err, &ask):
		return ask.result(), nil
	case err != nil && ctx.Err() != nil:
		return nil, err // cancelled: no answer is read
	case err != nil:
		return errorResult(err.Error()), nil
	case r == nil:
		r = &Result{}
	}
	return r.encode()
}

// canAsk reports whether the client has declared that it can ask a person.
func canAsk(req *sdk.CallToolRequest) bool {
	var caps map[string]any
	if m, ok := req.Params.Meta[sdk.MetaKeyClientCapabilities].(map[string]any); ok {
		caps = m
	} else if p := req.Session.InitializeParams(); p != nil && p.Capabilities != nil {
		return p.Capabilities.Elicitation != nil
	}
	e, ok := caps["elicitation"].(map[string]any)
	if !ok {
		return false
	}
	_, form := e["form"]
	return form || len(e) == 0 // as a client of an earlier revision declares it
}
