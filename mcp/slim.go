package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/donax-sh/donax/policy"
)

// clientHeader carries what a client calls itself past the SDK, which has
// room for headers beside a request.
const clientHeader = "Donax-Client"

// slim takes the client's name out of the _meta of a modern call: the SDK
// would encode and decode it once more, with a buffer of 32 KiB each time.
// The name goes beside the request. e is left as it is where that cannot be.
func (e *envelope) slim() {
	var params, meta bytes.Buffer
	var info []byte
	add := func(b *bytes.Buffer, name string, v []byte) bool {
		key, err := json.Marshal(name)
		if err != nil {
			return false
		}
		b.WriteByte(map[bool]byte{true: '{', false: ','}[b.Len() == 0])
		b.Write(key)
		b.WriteByte(':')
		b.Write(v)
		return true
	}
	ok := true
	members(e.params, func(name string, v []byte) {
		if name != "_meta" {
			ok = ok && add(&params, name, v)
			return
		}
		members(v, func(name string, v []byte) {
			if name == sdk.MetaKeyClientInfo {
				info = v
				return
			}
			ok = ok && add(&meta, name, v)
		})
	})
	var client struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if !ok || info == nil || meta.Len() == 0 || json.Unmarshal(info, &client) != nil {
		return // the SDK says what is wrong with it
	}
	meta.WriteByte('}')
	if !add(&params, "_meta", meta.Bytes()) {
		return
	}
	params.WriteByte('}')
	e.params = params.Bytes()
	e.msg = &jsonrpc.Request{ID: e.id, Method: e.method, Params: e.params, Extra: &sdk.RequestExtra{
		Header: http.Header{clientHeader: {client.Name, client.Version}},
	}}
}

// clientOf returns what the client calls itself, shortened: it says what it
// likes, and a policy's input must stay small.
func clientOf(req *sdk.CallToolRequest) policy.Client {
	var name, version string
	if m, ok := req.Params.Meta[sdk.MetaKeyClientInfo].(map[string]any); ok {
		name, _ = m["name"].(string)
		version, _ = m["version"].(string)
	} else if req.Extra != nil && len(req.Extra.Header[clientHeader]) == 2 && req.Extra.TokenInfo == nil {
		h := req.Extra.Header[clientHeader]
		name, version = h[0], h[1]
	} else if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		name, version = p.ClientInfo.Name, p.ClientInfo.Version
	}
	return policy.Client{Name: cut(name, 200), Version: cut(version, 200)}
}
