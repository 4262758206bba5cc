// Command donax runs command lines for agents that nobody trusts, in a
// WebAssembly sandbox under a policy, from the command line or behind MCP.
//
// This package is wiring only: flags become the Configs of the other rooms.
// One file holds one verb; exit.go holds every exit status.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// stdio is where a verb reads and writes. Tests give their own.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// run is donax without the process round it.
func run(ctx context.Context, args []string, std stdio) int {
	root := newRoot(std)
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	return exitStatus(root.ExecuteContext(ctx), std.err)
}
