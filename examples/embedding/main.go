// Command embedding is a program that has donax inside: it serves the five
// terminal tools and one of its own over MCP on standard input and output, and
// says itself what this client may do, when it is stopped, and what is kept of
// it.
//
//	go run ./examples/embedding audit.jsonl
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
	"github.com/donax-sh/donax/policy/brake"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/termhost"
	"github.com/donax-sh/donax/wasm"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: embedding AUDIT-LOG")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cache, err := os.UserCacheDir()
	if err == nil {
		err = run(ctx, config{filepath.Join(cache, "donax"), os.Args[1], new(brake.Switch)}, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "embedding:", err)
		os.Exit(1)
	}
}

// config is what this program wants to be different in tests.
type config struct {
	cache, log string
	brake      *brake.Switch // pulled by whatever this program watches: a button, a bill, a pager
}

func run(ctx context.Context, c config, in io.Reader, out io.Writer) (err error) {
	// The record. What cannot be recorded does not happen.
	record, err := audit.Open(audit.Config{Path: c.log, Labels: map[string]string{"program": "embedding"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, record.Close()) }()

	// What stands before every action: record( brake( breakers( rules ))).
	breakers, err := brake.NewBreakers(brake.BreakersConfig{
		Run: brake.Limits{brake.Calls: {N: 100, Every: time.Minute}, brake.Repeats: {N: 5}, brake.Bytes: {N: 64 << 20}},
	})
	if err != nil {
		return err
	}
	engine := record.Engine(policy.Stack(c.brake, breakers, policy.Default{}))

	// A sandbox with the built-in commands and files in memory.
	runtime, err := wasm.New(wasm.Config{CacheDir: c.cache})
	if err != nil {
		return err
	}
	defer runtime.Close()
	session, err := sandbox.New(sandbox.Config{FS: vfs.NewMem(vfs.MemConfig{}), Programs: runtime.Programs(), Policy: engine})
	if err != nil {
		return err
	}
	host := termhost.New(termhost.Config{Runner: record.Runner(brake.Run(session, breakers)), Engine: engine})
	defer host.Close()

	server, err := mcp.New(mcp.Config{
		Info: mcp.Info{Name: "embedding", Version: "1"},
		Host: host,
		// A tool of this program: governed and recorded like the five.
		Tools: []mcp.Tool{{
			Name: "greet", Description: "Greet the caller.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Call: func(_ context.Context, call *mcp.Call) (*mcp.Result, error) {
				return &mcp.Result{Text: "hello " + call.Subject.Principal.Sub}, nil
			},
		}},
		Gate: record.Gate(policy.Gates(c.brake, breakers)),
		Goal: "show how donax is embedded",
	})
	if err != nil {
		return err
	}

	// What holds for this client alone is bound to the context that it is served with: who it is, what it
	// may do at all, and for how long. For HTTP the base context of Handler carries the same.
	ctx = policy.WithSubject(ctx, policy.Subject{Principal: policy.Principal{Sub: "guest", Auth: "embedding"}})
	ctx = policy.WithOrigin(ctx, policy.Origin{Scope: "demo data only"})
	ctx = policy.Bind(ctx, brake.Grant{
		Name:     "guests",
		Tools:    []string{"greet", "terminal_create", "terminal_output", "terminal_wait_for_exit", "terminal_kill", "terminal_release"},
		Commands: []string{"seq", "sort", "head", "tail", "wc", "cat", "grep", "ls"},
		Until:    time.Now().Add(time.Hour),
		Limits:   policy.Limits{TimeoutMS: 60_000, Commands: 1000},
	})
	return server.Serve(ctx, in, out)
}
