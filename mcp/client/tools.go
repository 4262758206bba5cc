package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is one tool as the server describes it. All of it is the server's
// claim.
type Tool struct {
	Name, Title, Description string
	InputSchema              any // JSON as encoding/json decodes it; nil when there is none
	OutputSchema             any
	Annotations              Annotations
}

// Annotations are a server's hints about a tool, with the defaults of the
// specification where it gives none.
type Annotations struct {
	ReadOnly    bool `json:"readOnly"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
	OpenWorld   bool `json:"openWorld"`
}

// Tools lists the server's tools in the order it gives. A list that does not
// end within the limits is an error.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	list, cursor := []Tool{}, ""
	for range c.cfg.Limits.Pages {
		r, err := c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, t := range r.Tools {
			if list = append(list, tool(t)); len(list) > c.cfg.Limits.Tools {
				return nil, fmt.Errorf("the server lists more than %d tools", c.cfg.Limits.Tools)
			}
		}
		if r.NextCursor == "" {
			return list, nil
		}
		cursor = r.NextCursor
	}
	return nil, fmt.Errorf("the list of tools does not end after %d pages", c.cfg.Limits.Pages)
}

func tool(t *mcp.Tool) Tool {
	out := Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		Annotations: Annotations{Destructive: true, OpenWorld: true},
	}
	if a := t.Annotations; a != nil {
		out.Annotations = Annotations{
			ReadOnly: a.ReadOnlyHint, Idempotent: a.IdempotentHint,
			Destructive: a.DestructiveHint == nil || *a.DestructiveHint,
			OpenWorld:   a.OpenWorldHint == nil || *a.OpenWorldHint,
		}
		out.Title = or(out.Title, a.Title)
	}
	return out
}

// Call calls a tool. When progress is not nil, it is given the message of
// each progress notification as it comes, or its numbers. A tool's own
// failure is a Result with IsError; the error is for a failed call. The end
// of ctx ends the call, and the server is told.
func (c *Client) Call(ctx context.Context, tool string, args map[string]any, progress func(message string)) (Result, error) {
	if args == nil {
		args = map[string]any{} // some servers reject null
	}
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	in := &call{ctx}
	token := ""
	if progress != nil {
		token = fmt.Sprintf("p%d", c.tokens.Add(1))
		p.SetProgressToken(token)
	}
	c.mu.Lock()
	c.calls[in] = true
	if progress != nil {
		c.progress[token] = progress
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, in)
		delete(c.progress, token)
		c.mu.Unlock()
	}()
	r, err := c.session.CallTool(ctx, p)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return Result{}, fmt.Errorf("%s: %w", tool, err)
	}
	return result(r), nil
}

// result takes over what the SDK decoded; plain has made structuredContent a
// text, so that no number loses digits.
func result(r *mcp.CallToolResult) Result {
	res := Result{IsError: r.IsError}
	if text, ok := r.StructuredContent.(string); ok {
		res.JSON = json.RawMessage(text)
		if len(text) <= maxDecoded {
			_ = json.Unmarshal(res.JSON, &res.Structured) // only objects
		}
	}
	var texts []string
	for _, block := range r.Content {
		switch b := block.(type) {
		case *mcp.TextContent:
			res.Content = append(res.Content, Content{Kind: Text, Text: b.Text})
			texts = append(texts, b.Text)
		case *mcp.ImageContent:
			res.Content = append(res.Content, Content{Kind: Image, MIME: b.MIMEType, Data: b.Data})
		case *mcp.AudioContent:
			res.Content = append(res.Content, Content{Kind: Audio, MIME: b.MIMEType, Data: b.Data})
		case *mcp.ResourceLink:
			res.Content = append(res.Content, Content{Kind: Link, URI: b.URI, Name: b.Name, MIME: b.MIMEType})
		case *mcp.EmbeddedResource:
			if x := b.Resource; x != nil {
				one := Content{Kind: Resource, URI: x.URI, MIME: x.MIMEType, Data: x.Blob}
				if x.Blob == nil {
					one.Data = []byte(x.Text)
				}
				res.Content = append(res.Content, one)
			}
		}
	}
	res.Text = strings.Join(texts, "\n")
	return res
}
