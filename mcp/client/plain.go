package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// plain rewrites the result of a tool so that the SDK reads all of it:
// content of kinds that are not known becomes text where the SDK would fail
// the call, a missing content becomes an empty one, and structuredContent
// becomes a text that holds its JSON, where the SDK would turn big integers
// into floats. Any other message comes back as it is.
func plain(msg []byte) []byte {
	if !bytes.Contains(msg, []byte(`"content"`)) && !bytes.Contains(msg, []byte(`"structuredContent"`)) {
		return msg
	}
	var m map[string]json.RawMessage
	var r map[string]json.RawMessage
	if json.Unmarshal(msg, &m) != nil || m["result"] == nil || json.Unmarshal(m["result"], &r) != nil {
		return msg
	}
	content, structured := r["content"], r["structuredContent"]
	blank := content == nil || string(content) == "null"
	if (blank && structured == nil) || r["inputRequests"] != nil {
		return msg
	}
	if string(structured) == "null" {
		structured = nil
	}
	delete(r, "structuredContent")
	if structured != nil {
		r["structuredContent"] = text(string(structured))
	}
	r["content"] = json.RawMessage("[]")
	if !blank {
		var blocks []json.RawMessage
		if json.Unmarshal(content, &blocks) != nil {
			blocks = []json.RawMessage{content}
		}
		known := make([]json.RawMessage, len(blocks))
		for i, b := range blocks {
			known[i] = block(b)
		}
		r["content"] = marshal(known)
	}
	m["result"] = marshal(r)
	return marshal(m)
}

// block leaves a known block as it is and turns another into text.
func block(b json.RawMessage) json.RawMessage {
	var head struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
		Data *[]byte `json:"data"` // fails when it is no base64
	}
	err := json.Unmarshal(b, &head)
	switch head.Type {
	case "text", "image", "audio", "resource", "resource_link":
		if err == nil && (head.Type != "text" || head.Text != nil) {
			return b
		}
	}
	return marshal(map[string]json.RawMessage{"type": text("text"), "text": text(string(b))})
}

func text(s string) json.RawMessage { return marshal(s) }

// marshal encodes what cannot fail, without escaping <, > and &.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

var idMember = regexp.MustCompile(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)\s*[,}]`)

// tooLong is the answer in place of a message that was dropped for its size,
// or nil when it does not say, at its start or end, what it answers: a server
// can only mislead its own calls that way.
func tooLong(head, tail []byte, limit int) []byte {
	var id []byte
	for _, part := range [][]byte{head, tail} {
		if all := idMember.FindAllSubmatch(part, -1); len(all) > 0 {
			id = all[len(all)-1][1]
		}
	}
	if id == nil {
		return nil
	}
	return failure(id, limit)
}

// failure is a JSON-RPC error about a message over the limit.
func failure(id []byte, limit int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the answer is longer than the limit of %d bytes"}}`, id, limit)
}
