package main

import (
	"context"
	"fmt"
	"io"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/termhost"
)

// keptShell is the shell of a named session.
type keptShell struct {
	termhost.Shell
	box *opened
}

// shell opens a shell for a named session.
func (o *opened) shell(context.Context) (termhost.Shell, error) {
	if o.pool != nil {
		return keptShell{o.pool.NewShell(), o}, nil
	}
	return keptShell{&homeShell{homes: o.homes}, o}, nil
}

// Run is [opened.Run] in the kept shell.
func (k keptShell) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	if err := k.box.prepare(ctx, errw); err != nil {
		return sandbox.StatusFault, err
	}
	return k.Shell.Run(ctx, c, in, out, errw)
}

// raiseServed says to an MCP client how a limit is raised: what it can do
// itself, or whose the limit is.
func raiseServed(flag string, lowered bool) string {
	switch {
	case flag == "--timeout" && lowered:
		return "raise with timeoutMs, unless the policy set it"
	case lowered:
		return "set by policy"
	}
	return fmt.Sprintf("set by the server's operator with %s", flag)
}
