package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools that the conformance suite expects a server under test to have.
// What each does is written in the suite's scenarios.

// onePixel is a PNG of one pixel, and silence a WAV file without samples.
var (
	onePixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")
	silence  = []byte("RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00")
)

func says(text string) *sdk.CallToolResult { return shows(&sdk.TextContent{Text: text}) }

func shows(c ...sdk.Content) *sdk.CallToolResult { return &sdk.CallToolResult{Content: c} }

func resource(uri, mime, text string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: mime, Text: text}}
}

type suiteCall = func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// always is a tool that answers the same each time.
func always(r *sdk.CallToolResult) suiteCall {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return r, nil }
}

func addSuiteTool(s *sdk.Server, name, properties string, call suiteCall) {
	schema := json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s}}`, properties))
	s.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: schema}, call)
}

func addSuiteTools(s *sdk.Server) {
	image := &sdk.ImageContent{Data: onePixel, MIMEType: "image/png"}
	for name, result := range map[string]*sdk.CallToolResult{
		"test_simple_text":       says("This is a simple text response for testing."),
		"test_image_content":     shows(image),
		"test_audio_content":     shows(&sdk.AudioContent{Data: silence, MIMEType: "audio/wav"}),
		"test_embedded_resource": shows(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
		"test_multiple_content_types": shows(&sdk.TextContent{Text: "Multiple content types test:"}, image,
			resource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)),
		"test_error_handling":        {IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "This tool intentionally returns an error for testing"}}},
		"test_streaming_elicitation": says("nothing but the result comes on this stream"),
	} {
		addSuiteTool(s, name, "", always(result))
	}
	addSuiteTool(s, "test_tool_with_logging", "", suiteLogging)
	addSuiteTool(s, "test_logging_tool", "", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return says("logged"), r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "logged"})
	})
	addSuiteTool(s, "test_tool_with_progress", "", suiteProgress)
	addSuiteTool(s, "test_sampling", `"prompt":{"type":"string"}`, suiteSampling)
	addSuiteTool(s, "test_elicitation", `"message":{"type":"string"}`, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return suiteElicit(ctx, r, in.Message, `"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}`, `"username","email"`)
	})
	addSuiteTool(s, "test_elicitation_sep1034_defaults", "", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return suiteElicit(ctx, r, "Review these values", `"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},`+
			`"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}`, "")
	})
	addSuiteTool(s, "test_elicitation_sep1330_enums", "", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return suiteElicit(ctx, r, "Choose", `"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},`+
			`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},`+
			`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},`+
			`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},`+
			`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}`, "")
	})
	addSuiteTool(s, "test_missing_capability", "", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
			return says("the client can sample"), nil
		}
		data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client has not declared sampling", Data: data}
	})
	addSuiteTool(s, "test_trigger_tool_change", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		addSuiteTool(s, "passing_by", "", always(says("here")))
		return says("the list of tools has changed"), nil
	})
	addSuiteTool(s, "test_trigger_prompt_change", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddPrompt(&sdk.Prompt{Name: "passing_by", Description: "A prompt that comes late."}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
		return says("the list of prompts has changed"), nil
	})
	addSuiteQuestions(s)
}

func suiteLogging(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			time.Sleep(50 * time.Millisecond)
		}
		if err := r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: text}); err != nil {
			return nil, err
		}
	}
	return says("logged three times"), nil
}

func suiteProgress(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	token := r.Params.GetProgressToken()
	for i := range 3 {
		if i > 0 {
			time.Sleep(50 * time.Millisecond)
		}
		if token == nil {
			continue
		}
		if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(50 * i), Total: 100}); err != nil {
			return nil, err
		}
	}
	return says("went all the way"), nil
}

func suiteSampling(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		Prompt string `json:"prompt"`
	}
	if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
		return nil, err
	}
	m, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: in.Prompt}}}})
	if err != nil {
		return nil, err
	}
	text, ok := m.Content.(*sdk.TextContent)
	if !ok {
		return nil, errors.New("the answer is no text")
	}
	return says("LLM response: " + text.Text), nil
}

func suiteElicit(ctx context.Context, r *sdk.CallToolRequest, message, properties, required string) (*sdk.CallToolResult, error) {
	answer, err := r.Session.Elicit(ctx, elicitation(message, properties, required))
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(answer.Content)
	if err != nil {
		return nil, err
	}
	return says(fmt.Sprintf("Elicitation completed: action=%s, content=%s", answer.Action, content)), nil
}

func elicitation(message, properties, required string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s]}`, properties, required))}
}
