package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools and the prompt of the conformance suite that ask their client
// before they answer.

func askName(message string) *sdk.ElicitParams {
	return elicitation(message, `"name":{"type":"string"}`, `"name"`)
}

func askModel(text string, tokens int64) *sdk.CreateMessageWithToolsParams {
	return &sdk.CreateMessageWithToolsParams{MaxTokens: tokens, Messages: []*sdk.SamplingMessageV2{{Role: "user", Content: []sdk.Content{&sdk.TextContent{Text: text}}}}}
}

// asks is a tool that answers once it has an answer to every question.
func asks(questions sdk.InputRequestMap, state string, then func(r *sdk.CallToolRequest) string) suiteCall {
	return func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for key := range questions {
			if r.Params.InputResponses[key] == nil {
				return &sdk.CallToolResult{InputRequests: questions, RequestState: state}, nil
			}
		}
		if r.Params.RequestState != state {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request's state is not the one that was given"}
		}
		return says(then(r)), nil
	}
}

func addSuiteQuestions(s *sdk.Server) {
	const prefix = "test_input_required_result_"
	done := func(*sdk.CallToolRequest) string { return "answered, state-ok" }
	addSuiteTool(s, prefix+"elicitation", "", asks(sdk.InputRequestMap{"user_name": askName("What is your name?")}, "", func(r *sdk.CallToolRequest) string {
		if e, ok := r.Params.InputResponses["user_name"].(*sdk.ElicitResult); ok {
			return fmt.Sprintf("Hello, %v!", e.Content["name"])
		}
		return "Hello, whoever you are!"
	}))
	addSuiteTool(s, prefix+"sampling", "", asks(sdk.InputRequestMap{"capital_question": askModel("What is the capital of France?", 100)}, "", done))
	addSuiteTool(s, prefix+"list_roots", "", asks(sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}, "", func(r *sdk.CallToolRequest) string {
		var uris []string
		if l, ok := r.Params.InputResponses["client_roots"].(*sdk.ListRootsResult); ok {
			for _, root := range l.Roots {
				uris = append(uris, root.URI)
			}
		}
		return "roots: " + strings.Join(uris, ", ")
	}))
	confirm := sdk.InputRequestMap{"confirm": elicitation("Please confirm", `"ok":{"type":"boolean"}`, `"ok"`)}
	addSuiteTool(s, prefix+"request_state", "", asks(confirm, "state of one tool", done))
	addSuiteTool(s, prefix+"tampered_state", "", asks(confirm, "state of another", done))
	addSuiteTool(s, prefix+"multiple_inputs", "", asks(sdk.InputRequestMap{
		"user_name": askName("What is your name?"), "greeting": askModel("Generate a greeting", 50), "client_roots": &sdk.ListRootsParams{},
	}, "state of three", done))
	addSuiteTool(s, prefix+"multi_round", "", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if r.Params.RequestState == "second" {
			return asks(sdk.InputRequestMap{"step2": elicitation("Step 2: What is your favorite color?", `"color":{"type":"string"}`, `"color"`)}, "second", done)(ctx, r)
		}
		first := sdk.InputRequestMap{"step1": askName("Step 1: What is your name?")}
		if r.Params.InputResponses["step1"] == nil || r.Params.RequestState != "first" {
			return &sdk.CallToolResult{InputRequests: first, RequestState: "first"}, nil
		}
		return &sdk.CallToolResult{RequestState: "second", InputRequests: sdk.InputRequestMap{"step2": elicitation("Step 2: What is your favorite color?", `"color":{"type":"string"}`, `"color"`)}}, nil
	})
	addSuiteTool(s, prefix+"capabilities", "", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		questions := sdk.InputRequestMap{}
		if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
			questions["model"] = askModel("Say something", 50)
		} else if c != nil && c.Elicitation != nil {
			questions["person"] = askName("What is your name?")
		}
		for key := range questions {
			if r.Params.InputResponses[key] == nil {
				return &sdk.CallToolResult{InputRequests: questions}, nil
			}
		}
		return says("nothing left to ask"), nil
	})
	s.AddPrompt(&sdk.Prompt{Name: prefix + "prompt", Description: "A prompt that asks first."}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if r.Params.InputResponses["user_context"] == nil {
			return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{
				"user_context": elicitation("What context should the prompt use?", `"context":{"type":"string"}`, `"context"`),
			}}, nil
		}
		return prompts(&sdk.TextContent{Text: "with the context that was given"}), nil
	})
}

func prompts(content ...sdk.Content) *sdk.GetPromptResult {
	r := &sdk.GetPromptResult{}
	for _, c := range content {
		r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: c})
	}
	return r
}

func addSuitePrompts(s *sdk.Server) {
	add := func(name string, arguments []string, get func(args map[string]string) *sdk.GetPromptResult) {
		p := &sdk.Prompt{Name: name, Description: "A fixture of the conformance suite."}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Description: "Argument " + a, Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return get(r.Params.Arguments), nil
		})
	}
	add("test_simple_prompt", nil, func(map[string]string) *sdk.GetPromptResult {
		return prompts(&sdk.TextContent{Text: "This is a simple prompt for testing."})
	})
	add("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) *sdk.GetPromptResult {
		return prompts(&sdk.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])})
	})
	add("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) *sdk.GetPromptResult {
		return prompts(resource(a["resourceUri"], "text/plain", "Embedded resource content for testing."), &sdk.TextContent{Text: "Please process the embedded resource above."})
	})
	add("test_prompt_with_image", nil, func(map[string]string) *sdk.GetPromptResult {
		return prompts(&sdk.ImageContent{Data: onePixel, MIMEType: "image/png"}, &sdk.TextContent{Text: "Please analyze the image above."})
	})
}

func addSuiteResources(s *sdk.Server) {
	add := func(name, uri, mime string, contents sdk.ResourceContents) {
		contents.URI, contents.MIMEType = uri, mime
		s.AddResource(&sdk.Resource{Name: name, URI: uri, MIMEType: mime, Description: "A fixture of the conformance suite."},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&contents}}, nil
			})
	}
	add("static-text", "test://static-text", "text/plain", sdk.ResourceContents{Text: "This is the content of the static text resource."})
	add("static-binary", "test://static-binary", "image/png", sdk.ResourceContents{Blob: onePixel})
	add("watched-resource", "test://watched-resource", "text/plain", sdk.ResourceContents{Text: "Watched."})
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json", Description: "A fixture of the conformance suite."},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			text := fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: text}}}, nil
		})
}

// suiteServer is a server of the SDK with all that the suite looks for.
func suiteServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "donax-fixture", Version: "1"}, &sdk.ServerOptions{
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{"paris", "park", "party"}, Total: 3}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.TTLMs, c.CacheScope = int(time.Minute/time.Millisecond), "public"
		},
	})
	addSuiteTools(s)
	addSuitePrompts(s)
	addSuiteResources(s)
	return s
}

// suiteMethods are the methods that suiteServer serves beside those of tools.
var suiteMethods = []string{
	"logging/setLevel", "completion/complete", "prompts/list", "prompts/get", "subscriptions/listen",
	"resources/list", "resources/read", "resources/templates/list", "resources/subscribe", "resources/unsubscribe",
}
