// Command upstream shows what it saves to let the tools of MCP servers be
// commands. A model wants to know who has the most open tickets, and to save
// the answer with another server: once as one line through donax, once by
// calling the servers' tools itself. It prints how many bytes of results
// reached the client, where they would be a model's to read.
//
// It is an example of embedding as well: a sandbox, the upstream servers, a
// policy and the MCP server are put together here, in one process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/mcp/client"
	"github.com/donax-sh/donax/mcp/upstream"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/rego"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/termhost"
	"github.com/donax-sh/donax/wasm"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		serve(os.Args[2], os.Stdin, os.Stdout) // it is one of the two servers
		return
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		err = demo(context.Background(), os.Stdout, filepath.Join(cache, "donax"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// line is what a model would write.
const line = `tickets.export | grep '"state":"open"' | sed 's/.*"owner":"//; s/".*//' | sort | uniq -c | sort -rn | head -3 > /tmp/top
ledger.save --title 'open tickets' --text "$(cat /tmp/top)" && ledger.pay --amount 20000`

func demo(ctx context.Context, out io.Writer, cache string) error {
	tools, err := servers()
	if err != nil {
		return err
	}
	defer tools.Close()
	through, text, err := throughDonax(ctx, tools, cache)
	if err != nil {
		return err
	}
	direct, err := directly(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the line:\n%s\n\nwhat came back:\n%s\n", line, text)
	fmt.Fprintf(out, "results that reached the client\n")
	fmt.Fprintf(out, "  one line through donax  %9d bytes\n", through)
	fmt.Fprintf(out, "  direct tool calls       %9d bytes\n", direct)
	fmt.Fprintf(out, "  that is 1/%d\n", direct/max(1, through))
	return nil
}

// servers writes a configuration as people have it and opens it.
func servers() (*upstream.Manager, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "donax-example-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, ".mcp.json")
	config := fmt.Sprintf(`{"mcpServers": {
		"tickets": {"command": %[1]q, "args": ["serve", "tickets"], "donax": {"confirm": "trust"}},
		"ledger": {"command": %[1]q, "args": ["serve", "ledger"], "donax": {"confirm": "trust"}, "cwd": "/"}
	}}`, self)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	list, err := upstream.Load(file, nil)
	if err != nil {
		return nil, err
	}
	list.Servers[0].Dir = "/" // the folder of the file is gone when they start
	return upstream.New(upstream.Config{Servers: list.Servers}), nil
}

// throughDonax serves a sandbox with the tools, runs the line as a client of
// MCP, and returns how many bytes of results the client was given.
func throughDonax(ctx context.Context, tools *upstream.Manager, cache string) (int, string, error) {
	engine, err := rego.Load(ctx, rego.Config{Sources: map[string]string{"policy.rego": policyText}})
	if err != nil {
		return 0, "", err
	}
	runtime, err := wasm.New(wasm.Config{CacheDir: cache})
	if err != nil {
		return 0, "", err
	}
	defer runtime.Close()
	files := vfs.NewMem(vfs.MemConfig{})
	if err := errors.Join(files.Mkdir("/tmp", 0o755), files.Mkdir("/workspace", 0o755), runtime.Warm(ctx)); err != nil {
		return 0, "", err
	}
	session, err := sandbox.New(sandbox.Config{FS: files, Programs: runtime.Programs(), Lookup: tools.Lookup, Policy: engine, Dir: "/workspace", Limits: sandbox.Limits{Timeout: -1}})
	if err != nil {
		return 0, "", err
	}
	host := termhost.New(termhost.Config{Runner: session, Engine: engine})
	defer host.Close()
	server, err := mcp.New(mcp.Config{Host: host, More: tools.Instructions()})
	if err != nil {
		return 0, "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, "", err
	}
	web := mcp.NewHTTPServer(server.Handler(ctx, mcp.HTTPConfig{Auth: oneToken{}}))
	go web.Serve(listener)
	defer web.Close()

	c, err := client.Start(ctx, client.Config{URL: "http://" + listener.Addr().String() + "/mcp", Bearer: func() (string, error) { return token, nil }})
	if err != nil {
		return 0, "", err
	}
	defer c.Close()
	bytes := 0
	call := func(tool string, args map[string]any) (client.Result, error) {
		r, err := c.Call(ctx, tool, args, nil)
		bytes += len(r.Text)
		if err == nil && r.IsError {
			err = errors.New(r.Text)
		}
		return r, err
	}
	r, err := call("terminal_create", map[string]any{"command": line})
	if err != nil {
		return 0, "", err
	}
	id := map[string]any{"terminalId": r.Structured["terminalId"]}
	for running := true; running; running = r.Structured["running"] == true {
		if r, err = call("terminal_wait_for_exit", id); err != nil {
			return 0, "", err
		}
	}
	if r, err = call("terminal_output", id); err != nil {
		return 0, "", err
	}
	text, _ := r.Structured["output"].(string)
	return bytes, text, nil
}

// directly asks the first server as a client without donax has to: the whole
// export comes back, for the model to read.
func directly(ctx context.Context) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	c, err := client.Start(ctx, client.Config{Command: []string{self, "serve", "tickets"}})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	r, err := c.Call(ctx, "export", nil, nil)
	return len(r.Text), err
}

const token = "only-on-loopback"

// oneToken lets in the client of this process.
type oneToken struct{}

func (oneToken) Authenticate(r *http.Request) (mcp.Identity, error) {
	if r.Header.Get("Authorization") != "Bearer "+token {
		return mcp.Identity{}, errors.New("unknown token")
	}
	return mcp.Identity{Principal: policy.Principal{Sub: "example", Auth: "bearer"}}, nil
}
