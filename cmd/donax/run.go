package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/worker"
	"github.com/spf13/cobra"
)

// runFlags are the flags of -c and run.
type runFlags struct {
	sandboxFlags
	line     string
	json     bool
	preopens []string
}

func (f *runFlags) add(cmd *cobra.Command) {
	d := sandbox.DefaultLimits
	f.sandboxFlags.add(cmd, d.Timeout, d.Memory, d.Output)
	f.isolation.add(cmd.Flags(), worker.None)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object {exit, reason, stdout, stderr, wallMs} when the line has ended")
}

func newRun(std stdio) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] FILE|- [-- ARG...]",
		Short: "Run a script or a WebAssembly program from a file, or a script from stdin",
		Long: `Run a script from a file of this machine, or from stdin with -. Its $0 is FILE and
its $1, $2 and so on follow it. The exit status is the script's own.

FILE may also be a WebAssembly program for WASI preview 1. It sees the files of the
sandbox, with / and the working folder open, and its stdin, and nothing else.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch p, err := moduleFile(args[0], f.preopens); {
			case err != nil:
				return err
			case p != nil:
				f.program = []program{*p}
				return f.run(cmd.Context(), std, policy.Command{Args: append([]string{p.name}, args[1:]...)})
			}
			src, err := readScript(args[0], std.in)
			if err != nil {
				return err
			}
			if args[0] == "-" {
				args[0], std.in = "bash", nil // the script was the input
			}
			return f.run(cmd.Context(), std, policy.Command{Text: src, Script: true, Name: args[0], Params: args[1:]})
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&f.preopens, "preopen", nil, "let a WebAssembly program find this folder of the sandbox open, rather than / and the working one: `NAME[=PATH]` (repeatable; none for no folder at all)")
	return cmd
}

func readScript(name string, stdin io.Reader) (string, error) {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", usageError("donax run -", "cannot read the script: %v", err)
		}
		defer file.Close()
		in = file
	}
	// One byte more than allowed, so that the sandbox reports its own limit.
	src, err := io.ReadAll(io.LimitReader(in, sandbox.DefaultLimits.Source+1))
	if err != nil {
		return "", &exitError{exitFault, fmt.Errorf("read the script: %w", err)}
	}
	return string(src), nil
}

// run runs one command and returns its exit status as an error.
func (f *runFlags) run(ctx context.Context, std stdio, c policy.Command) error {
	collectLate()
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // the operator has not set GOMEMLIMIT
		debug.SetMemoryLimit(sandbox.Limits{Memory: int64(f.memory)}.Heap())
	}
	box, err := f.open(ctx, std.err, policy.Session{ID: "c_" + rand.Text(), Transport: "cli"})
	if err != nil {
		return err
	}
	defer box.Close()

	start, out, errw := time.Now(), std.out, std.err
	var outBuf, errBuf bytes.Buffer
	if f.json {
		out, errw = &outBuf, &errBuf
	}
	c.Cwd = "/workspace"
	status, err := box.run(ctx, c, std.in, out, errw)
	var limit *sandbox.LimitError
	var syntax *sandbox.ParseError
	var lost *worker.LostError // the line's fault, as a limit is
	if err != nil && !errors.As(err, &limit) && !errors.As(err, &syntax) && !errors.As(err, &lost) && !errors.Is(err, policy.ErrDenied) && ctx.Err() == nil {
		status = sandbox.StatusFault
	}
	if f.json {
		reason := "exited"
		if err != nil {
			reason = err.Error()
		}
		enc := json.NewEncoder(std.out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]any{
			"exit": status, "reason": reason, "wallMs": time.Since(start).Milliseconds(),
			"stdout": outBuf.String(), "stderr": errBuf.String(),
		}); err != nil {
			return &exitError{exitFault, err}
		}
	}
	if status == 0 {
		return nil
	}
	return &exitError{code: status}
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
