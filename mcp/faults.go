package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fault is the error reply to a message that never reaches the SDK. Its id is
// empty when none could be read, or when the id belongs to another call.
type fault struct {
	id  jsonrpc.ID
	err *jsonrpc.Error
}

// bytes is the reply on one line. JSON-RPC 2.0, section 5, wants an id of null
// where there is none, which the SDK's encoder leaves out.
func (f *fault) bytes() []byte {
	b, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", f.id.Raw(), f.err})
	if err != nil { // an id and two strings always encode
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return b
}

func faultOf(id jsonrpc.ID, code int64, msg string) *fault {
	return &fault{id, &jsonrpc.Error{Code: code, Message: msg}}
}

// check refuses a request that no session serves: for its revision, old or
// new, or for its method, which is not among served.
func (e *envelope) check(served []string) *fault {
	switch {
	case e.hasMeta && e.version == "":
		return faultOf(e.id, jsonrpc.CodeInvalidParams, "_meta "+metaVersion+" must be a string")
	case e.hasMeta && !slices.Contains(sdk.SupportedProtocolVersions(), e.version):
		return unsupported(e.id, e.version)
	case strings.HasPrefix(e.method, "notifications/"):
		return faultOf(e.id, jsonrpc.CodeInvalidRequest, fmt.Sprintf("%.100q is a notification: it takes no id", e.method))
	case !slices.Contains(served, e.method):
		return methodNotFound(e.id, e.method)
	}
	return nil
}

func methodNotFound(id jsonrpc.ID, method string) *fault {
	return faultOf(id, jsonrpc.CodeMethodNotFound, fmt.Sprintf("method not found: %.100q", method))
}

func unsupported(id jsonrpc.ID, version string) *fault {
	f := faultOf(id, sdk.CodeUnsupportedProtocolVersion, "unsupported protocol version")
	f.err.Data, _ = json.Marshal(sdk.UnsupportedProtocolVersionData{
		Supported: sdk.SupportedProtocolVersions(),
		Requested: version[:min(len(version), 64)],
	})
	return f
}
