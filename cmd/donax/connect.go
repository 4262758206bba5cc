package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/donax-sh/donax/mcp/client"
	"github.com/spf13/cobra"
)

// connectFlags are the flags of connect.
type connectFlags struct {
	policies, mounts []string
	write, check     bool
	file             string
}

func newConnect(std stdio) *cobra.Command {
	var names []string
	for n := range mcpClients() {
		names = append(names, n)
	}
	sort.Strings(names)
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "connect " + strings.Join(names, "|") + " [flags] [-- SERVE-FLAG...]",
		Short: "Print, write or check the configuration that an MCP client needs",
		Long: `Print the configuration with which an MCP client starts donax serve. With --write it is
put into the client's own file: what else is there stays as it is, and what changes is shown.
With --check the server is started as the client would start it, and must answer. What follows --
goes to donax serve.`,
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 1 || n == 0 || n < 0 && len(args) != 1 {
				return usageError("donax connect "+names[0], "one client is needed: %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ok := mcpClients()[args[0]]
			if !ok {
				return usageError("donax connect "+names[0], "no client %q is known: %s", args[0], strings.Join(names, ", "))
			}
			return f.connect(cmd.Context(), std, c, args[1:])
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringArrayVar(&f.policies, "policy", nil, "admit by the Rego in `PATH` (repeatable)")
	fl.StringArrayVar(&f.mounts, "mount", nil, "show a host folder: `SRC[:DST][:MODE]` (repeatable)")
	fl.BoolVar(&f.write, "write", false, "put it into the client's file")
	fl.BoolVar(&f.check, "check", false, "start the server as the client would, and see that it answers")
	fl.StringVar(&f.file, "file", "", "the client's file is `PATH`, not where it usually is")
	return cmd
}

// connect prints, writes and checks.
func (f *connectFlags) connect(ctx context.Context, std stdio, c mcpClient, more []string) error {
	args, err := f.serveArgs(more)
	if err != nil {
		return err
	}
	command := ownCommand()
	file, err := c.file()
	if f.file != "" {
		file, err = f.file, nil
	}
	if err != nil {
		return &exitError{exitFault, err}
	}
	switch given := len(args) > 1; {
	case f.write:
		if err := c.write(std, file, command, args); err != nil {
			return err
		}
	case f.check && !given: // the file says how
		if command, args, err = c.read(file, command, args); err != nil {
			return err
		}
	default:
		c.print(std, file, command, args)
	}
	if f.check {
		return checkServer(ctx, std, command, args)
	}
	return nil
}

// serveArgs are the arguments of donax, with paths that hold wherever the
// client starts it.
func (f *connectFlags) serveArgs(more []string) ([]string, error) {
	args := []string{"serve"}
	for _, p := range f.policies {
		if _, err := os.Stat(p); err != nil {
			return nil, usageError("donax policy init > rules.rego", "--policy %s: %v", p, bareError(err))
		}
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, &exitError{exitFault, err}
		}
		args = append(args, "--policy", abs)
	}
	mounts, err := parseMounts(f.mounts)
	if err != nil {
		return nil, err
	}
	for _, m := range mounts {
		args = append(args, "--mount", m.src+":"+m.dst+":"+m.mode)
	}
	return append(args, more...), nil
}

// ownCommand is what starts this program: its name, where that finds it.
func ownCommand() string {
	self, err := os.Executable()
	if err != nil {
		return "donax"
	}
	found, err := exec.LookPath("donax")
	if err != nil {
		return self
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(found)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return self // another donax would be started by the name
	}
	return "donax"
}

// checkTime is how long the server may take to answer: on a machine's first
// run it compiles nothing before it does.
const checkTime = 30 * time.Second

// checkServer starts the server as clients of both eras do.
func checkServer(ctx context.Context, std stdio, command string, args []string) error {
	for _, revision := range []string{"", "2025-11-25"} {
		if err := checkRevision(ctx, std, command, args, revision); err != nil {
			line := quoteWords(append([]string{command}, args...))
			return &exitError{exitNo, &hint{fmt.Errorf("the server does not answer: %s: %w", line, err), "run it in a terminal: " + line}}
		}
	}
	return nil
}

func checkRevision(ctx context.Context, std stdio, command string, args []string, revision string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var log strings.Builder
	c, err := client.Start(ctx, client.Config{Command: append([]string{command}, args...), Stderr: &log, Name: "donax-connect", Version: version(), Revision: revision})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(log.String()))
	}
	defer c.Close()
	tools, err := c.Tools(ctx)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(log.String()))
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	if !slices.Contains(names, "terminal_create") {
		return fmt.Errorf("it is not donax: its tools are %s", strings.Join(names, ", "))
	}
	name, v, spoken := c.Server()
	fmt.Fprintf(std.out, "%s %s answers in MCP %s: %s\n", name, v, spoken, strings.Join(names, " "))
	return nil
}

// quoteWords joins words for a shell.
func quoteWords(words []string) string {
	var out []string
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
