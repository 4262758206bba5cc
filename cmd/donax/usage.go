package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// tellUsage makes every verb say how it is used when its arguments are wrong
// or missing.
func tellUsage(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		tellUsage(c)
		if check := c.Args; check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				err := check(c, args)
				var told *exitError
				if err == nil || errors.As(err, &told) {
					return err
				}
				return usageError(c.CommandPath()+" --help", "%v; usage: %s", err, c.UseLine())
			}
		}
	}
}

// needVerb is what a verb does that is nothing without another behind it.
func needVerb(std stdio) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError(cmd.CommandPath()+" --help", "unknown verb %q of %s", args[0], cmd.CommandPath())
		}
		cmd.SetOut(std.err)
		return errors.Join(&exitError{code: exitUsage}, cmd.Help())
	}
}
