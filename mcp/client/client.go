// Package client dials MCP servers. It is the other side of package mcp: the
// demo drives donax with it.
//
// A [Client] starts a server as a child process and speaks to it over its
// standard streams, in whichever era the server answers: 2026-07-28, or an
// initialize revision.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config says which server to start and as whom.
type Config struct {
	Command []string  // program and arguments; the program is looked up in PATH
	Env     []string  // NAME=VALUE; nil means the environment of this process
	Dir     string    // "" means the current folder
	Stderr  io.Writer // the server's stderr; nil discards it

	Name, Version string // how the client introduces itself; "" means donax
	Revision      string // the MCP revision to ask for; "" means the newest
}

// Client is one connection. Its methods may be called concurrently.
type Client struct {
	session *mcp.ClientSession
	tokens  atomic.Int64

	mu       sync.Mutex
	progress map[string]func(message string) // by token; guarded by mu
}

// Tool is one tool that a server offers.
type Tool struct {
	Name, Description string
}

// Result is what a tool answered.
type Result struct {
	Text       string         // the text blocks, joined by newlines
	Structured map[string]any // structuredContent; nil when there is none
	IsError    bool           // the tool itself reports a failure; Text says why
}

// closeGrace is how long a server may take to end after its stdin is closed.
const closeGrace = 2 * time.Second

// Start starts a server and shakes hands with it. The server ends when ctx
// does, or with [Client.Close].
func Start(ctx context.Context, cfg Config) (*Client, error) {
	if len(cfg.Command) == 0 {
		return nil, errors.New("no server command was given")
	}
	cmd := exec.CommandContext(ctx, cfg.Command[0], cfg.Command[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = cfg.Env, cfg.Dir, cfg.Stderr

	c := &Client{progress: map[string]func(string){}}
	name, version := cfg.Name, cfg.Version
	if name == "" {
		name = "donax"
	}
	if version == "" {
		version = "0"
	}
	sdk := mcp.NewClient(&mcp.Implementation{Name: name, Version: version}, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{}, // the SDK's default claims roots, which this client does not have
		ProgressNotificationHandler: c.onProgress,
	})
	session, err := sdk.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: closeGrace},
		&mcp.ClientSessionOptions{ProtocolVersion: cfg.Revision})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", cfg.Command[0], err)
	}
	c.session = session
	return c, nil
}

// Server returns the server's name and version and the MCP revision in use.
func (c *Client) Server() (name, version, revision string) {
	r := c.session.InitializeResult()
	if r == nil {
		return "", "", ""
	}
	if r.ServerInfo != nil {
		name, version = r.ServerInfo.Name, r.ServerInfo.Version
	}
	return name, version, r.ProtocolVersion
}

// maxTools ends the listing of a server whose pages never do.
const maxTools = 1000

// Tools lists the server's tools in the order it gives.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	var list []Tool
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if list = append(list, Tool{t.Name, t.Description}); len(list) == maxTools {
			return nil, fmt.Errorf("the server lists more than %d tools", maxTools)
		}
	}
	return list, nil
}

// Call calls a tool. When progress is not nil, it is given the message of
// each progress notification as it comes. A tool's own failure is a Result
// with IsError; the error is for a failed call.
func (c *Client) Call(ctx context.Context, tool string, args map[string]any, progress func(message string)) (Result, error) {
	if args == nil {
		args = map[string]any{} // some servers reject null
	}
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	if progress != nil {
		token := fmt.Sprintf("p%d", c.tokens.Add(1))
		p.SetProgressToken(token)
		c.mu.Lock()
		c.progress[token] = progress
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			delete(c.progress, token)
			c.mu.Unlock()
		}()
	}
	r, err := c.session.CallTool(ctx, p)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", tool, err)
	}
	res := Result{IsError: r.IsError}
	var texts []string
	for _, block := range r.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	res.Text = strings.Join(texts, "\n")
	res.Structured, _ = r.StructuredContent.(map[string]any)
	return res, nil
}

// Close ends the connection and the server.
func (c *Client) Close() error { return c.session.Close() }

func (c *Client) onProgress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, ok := r.Params.ProgressToken.(string)
	if !ok {
		return
	}
	c.mu.Lock()
	f := c.progress[token]
	c.mu.Unlock()
	if f != nil {
		f(r.Params.Message)
	}
}
