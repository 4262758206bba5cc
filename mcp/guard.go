package mcp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolMethods are the methods that a server of tools serves. The SDK answers
// more: empty lists of prompts and resources, for example, which a client
// takes for a feature.
var toolMethods = []string{"initialize", "ping", "server/discover", "tools/list", "tools/call"}

// guard is the SDK's receiving middleware: every message of both transports
// passes it. It refuses methods that are not served, contains a panic, bounds
// the calls in progress, ends a call when its server ends, keeps the tools in
// their order, and gives every error a code that JSON-RPC allows.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil { // a bug in one tool must not end the others' work
				s.log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
				res, err = nil, errInternal
			}
			err = withCode(err, method)
		}()
		if !strings.HasPrefix(method, "notifications/") && !slices.Contains(s.served, method) {
			return nil, methodNotFound(jsonrpc.ID{}, method).err
		}
		if call, ok := req.(*sdk.CallToolRequest); ok {
			return s.guardCall(ctx, method, call, next)
		}
		res, err = next(ctx, method, req)
		if list, ok := res.(*sdk.ListToolsResult); ok && err == nil {
			// The SDK sorts by name; clients read the list as a way to go.
			slices.SortStableFunc(list.Tools, func(a, b *sdk.Tool) int { return s.order(a.Name) - s.order(b.Name) })
		}
		return res, err
	}
}

// guardCall is guard for a call of a tool.
func (s *Server) guardCall(ctx context.Context, method string, req *sdk.CallToolRequest, next sdk.MethodHandler) (sdk.Result, error) {
	tool, outcome := req.Params.Name, outcomeFault // also when it panics
	if s.order(tool) < 0 {
		tool = "unknown" // a client must not be able to make names in the metrics
	}
	defer func() { s.metrics.call(tool, outcome) }()
	modern := req.ProtocolVersion() >= modernRevision
	l := linkFrom(ctx)
	if l == nil { // a way in that was forgotten must not be one without a principal
		return nil, errInternal
	}
	leave, ok := s.enter(userID(l.subject.Principal))
	if !ok {
		outcome = outcomeBusy
		return onePass(errorResult(fmt.Sprintf("busy: %d calls are in progress, which is the limit; retry in a moment", s.limits.Calls)), modern), nil
	}
	defer leave()
	// The SDK hides the end of its server's context from handlers.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.base, func() { cancel(context.Cause(l.base)) })()

	res, err := next(ctx, method, req)
	if err != nil && ctx.Err() == nil && strings.HasPrefix(err.Error(), "multi-round-trip") {
		// The client was asked, and answered with an error: nobody has agreed.
		res, err = errorResult(errRefused.Error()), nil
	}
	r, ok := res.(*sdk.CallToolResult)
	if err != nil || !ok || r == nil {
		return res, err
	}
	outcome = outcomeOK
	if r.IsError {
		outcome = outcomeError
	}
	return onePass(r, modern), nil
}

// enter counts a call of a principal in progress, unless there are too many.
func (s *Server) enter(who string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[who] >= s.limits.Calls {
		return nil, false
	}
	s.calls[who]++
	s.metrics.inCall.Add(1)
	return func() {
		s.metrics.inCall.Add(-1)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls[who]--; s.calls[who] == 0 {
			delete(s.calls, who)
		}
	}, true
}

func (s *Server) order(name string) int {
	return slices.IndexFunc(s.tools, func(t Tool) bool { return t.Name == name })
}

var errInternal = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}

// withCode makes err, which method returned, an error of the protocol.
func withCode(err error, method string) error {
	if err == nil {
		return nil
	}
	var e *jsonrpc.Error
	if errors.As(err, &e) && e.Code != 0 {
		return err
	}
	code := int64(jsonrpc.CodeInternalError)
	if method == "initialize" { // a second one: the SDK gives it no code
		code = jsonrpc.CodeInvalidRequest
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// presentable bounds and rewords an error that the SDK made before the guard
// saw the request: those carry no code, or the whole params and Go's names.
func presentable(err error) error {
	if err == nil {
		return nil
	}
	out := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		out.Data = e.Data
		if e.Code != 0 {
			out.Code = e.Code
		}
	}
	if strings.Contains(out.Message, "unmarshal") {
		out.Message = "invalid params: a member has the wrong type"
	}
	if len(out.Message) > 500 {
		out.Message = strings.ToValidUTF8(out.Message[:500], "") + "..."
	}
	return out
}
