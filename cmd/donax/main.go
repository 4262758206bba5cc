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
	"runtime"
	"runtime/debug"
	"syscall"
)

func main() {
	collectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// collectLate lets the first collection of garbage wait for 16 MiB: a process
// that runs one line has done its work by then. From there on collections are
// as frequent as usual.
func collectLate() {
	usual := debug.SetGCPercent(400)
	if usual != 100 { // the operator has set GOGC
		debug.SetGCPercent(usual)
		return
	}
	first := new([16]byte) // as large as is needed to be collected by itself
	runtime.AddCleanup(first, func(int) { debug.SetGCPercent(usual) }, 0)
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
