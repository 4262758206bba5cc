package mcp

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Revisions of the protocol. From modern on every request says in _meta what
// it speaks; before, a session opens with initialize.
const (
	modernRevision = "2026-07-28"
	legacyRevision = "2025-11-25"

	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

type messageKind int

const (
	kindRequest messageKind = iota
	kindNotification
	kindResponse
)

// envelope is what can be said of a message before anything acts on it.
type envelope struct {
	kind    messageKind
	msg     jsonrpc.Message
	id      jsonrpc.ID
	key     string // the id as a map key; "" without one
	method  string
	params  json.RawMessage
	hasMeta bool   // _meta names a revision, of whatever type
	version string // that revision, when it is a string
	tool    string // the name in a tools/call

	rewritten bool // msg differs from what was sent
}

// bulky reports whether the answer may be large. How many of those may wait
// for one client to read them is bounded; their calls never wait themselves.
func (e *envelope) bulky() bool { return e.kind == kindRequest && e.tool == outputTool }

func (e *envelope) modern() bool { return e.hasMeta && e.version >= modernRevision }

// idKey names an id so that 1 and "1" differ.
func idKey(id jsonrpc.ID) string {
	switch v := id.Raw().(type) {
	case string:
		return "s" + v
	case int64:
		return "n" + strconv.FormatInt(v, 10)
	}
	return ""
}

// readID reads a request id: a string, or an integer that no JSON reader
// rounds. It answers false to everything else, null included.
func readID(raw []byte) (id jsonrpc.ID, ok bool) {
	switch {
	case len(raw) == 0:
		return id, false
	case raw[0] == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil || len(s) > 1024 {
			return id, false
		}
		id, err := jsonrpc.MakeID(s)
		return id, err == nil
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return id, false
		}
		id, err := jsonrpc.MakeID(f)
		return id, err == nil
	}
	return id, false
}

// parseEnvelope checks one framed message. Either a message or a fault comes
// back; neither, for a notification that must be ignored.
func parseEnvelope(line []byte) (*envelope, *fault) {
	var none jsonrpc.ID
	bad := scan(line)
	if bad != nil && bad.syntax {
		return nil, faultOf(none, jsonrpc.CodeParseError, "parse error: "+bad.Error())
	}
	var rawID, version, method, params []byte
	ids, result, failure := 0, false, false
	object := members(line, func(name string, v []byte) {
		switch name {
		case "id":
			rawID = v
			ids++
		case "jsonrpc":
			version = v
		case "method":
			method = v
		case "params":
			params = v
		case "result":
			result = true
		case "error":
			failure = true
		}
	})
	id, idOK := readID(rawID)
	if ids > 1 {
		id, idOK = none, false // which of them would the client take for an answer?
	}
	switch {
	case bad != nil:
		return nil, faultOf(id, jsonrpc.CodeInvalidRequest, "invalid request: "+bad.Error())
	case !object && line[0] == '[':
		return nil, faultOf(none, jsonrpc.CodeInvalidRequest, "JSON-RPC batches are not served")
	case !object:
		return nil, faultOf(none, jsonrpc.CodeInvalidRequest, "a message is a JSON object")
	case string(version) != `"2.0"`:
		return nil, faultOf(id, jsonrpc.CodeInvalidRequest, `jsonrpc must be "2.0"`)
	case method == nil && result == failure:
		return nil, faultOf(id, jsonrpc.CodeInvalidRequest, "neither a request nor a response")
	case method == nil:
		return parseResponse(line, id, idOK)
	case result || failure:
		return nil, faultOf(id, jsonrpc.CodeInvalidRequest, "both a request and a response")
	case ids > 0 && !idOK:
		return nil, faultOf(none, jsonrpc.CodeInvalidRequest, "id must be a string or an integer below 2^53")
	}

	if string(params) == "null" {
		params = nil
	}
	e := &envelope{id: id, key: idKey(id), params: params}
	if ids == 0 {
		e.kind = kindNotification
	}
	if method[0] != '"' || json.Unmarshal(method, &e.method) != nil {
		return nil, faultOf(id, jsonrpc.CodeInvalidRequest, "method must be a string")
	}
	meta, why := e.checkParams()
	switch {
	case why != "" && e.kind == kindNotification:
		return nil, nil
	case why != "":
		return nil, faultOf(id, jsonrpc.CodeInvalidParams, "invalid params: "+why)
	}
	if v, ok := meta[metaVersion]; ok {
		e.hasMeta = true
		_ = json.Unmarshal(v, &e.version) // stays "" when it is no string
	}
	// Built here: the SDK's decoder allocates two 32 KiB buffers a message.
	e.msg = &jsonrpc.Request{ID: id, Method: e.method, Params: e.params}
	if e.negotiable() != nil {
		return nil, faultOf(id, jsonrpc.CodeInvalidParams, "invalid params")
	}
	return e, nil
}

// parseResponse reads the answer to a question of the server.
func parseResponse(line []byte, id jsonrpc.ID, ok bool) (*envelope, *fault) {
	if !ok {
		return nil, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "a response without an id")
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "malformed response")
	}
	return &envelope{kind: kindResponse, msg: m, id: id, key: idKey(id)}, nil
}

// negotiable rewrites an initialize that asks for a revision which has no
// initialize. The SDK answers it with the newest that has, as it must, but
// then takes the session for one of the revision that was asked for.
func (e *envelope) negotiable() error {
	if e.method != "initialize" || e.params == nil {
		return nil
	}
	var asked string
	params := map[string]json.RawMessage{}
	members(e.params, func(name string, v []byte) {
		params[name] = v
		if name == "protocolVersion" {
			_ = json.Unmarshal(v, &asked) // checkParams has seen that it is a string
		}
	})
	if asked < modernRevision {
		return nil
	}
	params["protocolVersion"] = json.RawMessage(strconv.Quote(legacyRevision))
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	e.params, e.rewritten = b, true
	e.msg = &jsonrpc.Request{ID: e.id, Method: e.method, Params: b}
	return nil
}
