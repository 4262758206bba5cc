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

// served are the methods that a capability was declared for. The SDK answers
// more: empty lists of prompts and resources, for example, which a client
// takes for a feature.
var served = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call",
	"notifications/initialized", "notifications/cancelled",
}

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
			err = withCode(err)
		}()
		if !slices.Contains(served, method) {
			return nil, methodNotFound(jsonrpc.ID{}, method).err
		}
		if method == "tools/call" {
			select {
			case s.calls <- struct{}{}:
				defer func() { <-s.calls }()
			default:
				return onePass(errorResult(fmt.Sprintf("busy: %d calls are in progress, which is the limit; retry in a moment", cap(s.calls))), modern(req)), nil
			}
			if l := linkFrom(ctx); l != nil {
				// The SDK hides the end of its server's context from handlers.
				var cancel context.CancelCauseFunc
				ctx, cancel = context.WithCancelCause(ctx)
				defer cancel(nil)
				defer context.AfterFunc(l.base, func() { cancel(context.Cause(l.base)) })()
			}
		}
		res, err = next(ctx, method, req)
		if call, ok := res.(*sdk.CallToolResult); ok && call != nil && err == nil {
			return onePass(call, modern(req)), nil
		}
		if list, ok := res.(*sdk.ListToolsResult); ok && err == nil {
			// The SDK sorts by name; clients read the list as a way to go.
			slices.SortStableFunc(list.Tools, func(a, b *sdk.Tool) int { return s.order(a.Name) - s.order(b.Name) })
		}
		return res, err
	}
}

func modern(req sdk.Request) bool {
	r, ok := req.(*sdk.CallToolRequest)
	return ok && r.ProtocolVersion() >= modernRevision
}

func (s *Server) order(name string) int {
	return slices.IndexFunc(s.tools, func(t Tool) bool { return t.Name == name })
}

var errInternal = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}

// withCode makes err an error of the protocol.
func withCode(err error) error {
	if err == nil {
		return nil
	}
	var e *jsonrpc.Error
	if errors.As(err, &e) && e.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
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
