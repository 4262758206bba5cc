package mcp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Result is what a call returns.
type Result struct {
	Structured any    // marshals to a JSON object, or nil
	Text       string // for clients that show text; "" means Structured as JSON
	IsError    bool   // the call failed in a way that the model should read

	size int // about what Structured takes as JSON; 0: little
}

func (r *Result) encode() (*sdk.CallToolResult, error) {
	out := &sdk.CallToolResult{IsError: r.IsError}
	text := r.Text
	if r.Structured != nil {
		var b bytes.Buffer
		b.Grow(r.size)
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // or a model reads \u003c where the output has <
		if err := e.Encode(r.Structured); err != nil {
			return nil, err
		}
		raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		if !r.IsError { // clients check structured content against the output schema
			out.StructuredContent = r.Structured
		}
		if text == "" {
			text = string(raw)
		}
	}
	out.Content = []sdk.Content{&sdk.TextContent{Text: text}}
	return out, nil
}

// wireResult is a sdk.CallToolResult that marshals in one pass. The SDK's own
// goes over its text again for every layer of its types, which is most of the
// work of a large result.
type wireResult struct {
	sdk.ResultBase
	Content    []wireText `json:"content"`
	Structured any        `json:"structuredContent,omitempty"`
	IsError    bool       `json:"isError,omitempty"`
	ResultType string     `json:"resultType,omitempty"`
}

type wireText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// onePass returns r in the form that is cheap to marshal, if there is one.
func onePass(r *sdk.CallToolResult, modern bool) sdk.Result {
	if r.InputRequests != nil {
		return r
	}
	w := &wireResult{ResultBase: sdk.ResultBase{Meta: r.Meta}, Structured: r.StructuredContent, IsError: r.IsError, Content: []wireText{}}
	for _, c := range r.Content {
		t, ok := c.(*sdk.TextContent)
		if !ok || t.Meta != nil || t.Annotations != nil {
			return r
		}
		w.Content = append(w.Content, wireText{"text", t.Text})
	}
	if modern {
		w.ResultType = "complete"
	}
	return w
}

func errorResult(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
