package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/worker"
	"github.com/spf13/cobra"
)

// runFlags are the flags of -c and run.
type runFlags struct {
	sandboxFlags
	line string
	json bool

	script bool // the line is a script
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
		Short: "Run a script from a file or from stdin",
		Long: `Run a script from a file of this machine, or from stdin with -. Its $0 is FILE and
its $1, $2 and so on follow it. The exit status is the script's own.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := readScript(args[0], std.in)
			if err != nil {
				return err
			}
			if args[0] == "-" {
				args[0], std.in = "bash", nil // the script was the input
			}
			f.script = true
			return f.run(cmd.Context(), std, src, args[0], args[1:])
		},
	}
	f.add(cmd)
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

// run runs one line or script and returns its exit status as an error.
func (f *runFlags) run(ctx context.Context, std stdio, src, name string, params []string) error {
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
	status, err := box.run(ctx, policy.Command{Text: src, Script: f.script, Name: name, Params: params, Cwd: "/workspace"}, std.in, out, errw)
	var limit *sandbox.LimitError
	var syntax *sandbox.ParseError
	if err != nil && !errors.As(err, &limit) && !errors.As(err, &syntax) && !errors.Is(err, policy.ErrDenied) && ctx.Err() == nil {
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
