package main

import (
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/spf13/cobra"
)

// newRoot returns the command tree. The root itself runs a line: -c.
func newRoot(std stdio) *cobra.Command {
	var f runFlags
	root := &cobra.Command{
		Use:   "donax -c 'LINE' [flags] [-- NAME ARG...]",
		Short: "Run command lines for agents that nobody trusts",
		Long: `donax runs a bash command line in a WebAssembly sandbox: no host program is ever
started, no file is seen but those of --mount, no host is reached but those of --allow-net, and a Rego
policy is asked before anything takes effect.

  donax -c 'seq 5 | paste -sd+ | tr + "\n" | sort -rn'
  donax -c 'grep -rn TODO . | wc -l' --mount .
  donax serve --policy rules.rego --mount .

Exit status of -c and run: the script's own; 124 time limit, 125 donax itself
failed, 126 denied by policy, 127 no such command, 128+n killed (137: kill or any
limit but time). Every flag is also a variable: --mount is DONAX_MOUNT.`,
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd.Flags()) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("command") {
				if len(args) > 0 {
					return usageError("donax -c '"+strings.Join(args, " ")+"'", "unknown verb %q", args[0])
				}
				return cmd.Help()
			}
			if dash := cmd.ArgsLenAtDash(); len(args) > 0 && dash != 0 {
				return usageError("donax -c 'LINE' -- NAME ARG...", "unexpected argument %q: the line's own arguments follow --", args[0])
			}
			name := "bash"
			if len(args) > 0 {
				name, args = args[0], args[1:]
			}
			return f.run(cmd.Context(), std, policy.Command{Text: f.line, Name: name, Params: args})
		},
	}
	root.Flags().SortFlags = false
	root.Flags().StringVarP(&f.line, "command", "c", "", "run `LINE`")
	f.add(root)
	root.AddCommand(
		newRun(std), newServe(std), newDemo(std), newPolicy(std), newApprovals(std), newBrake(std), newEvents(std),
		newCommands(std), newConnect(std), newUpstream(std), newWarm(std), newVersion(std), newWorker(std),
		newDoctor(std), newCompileModule(std),
	)
	tellUsage(root)
	return root
}
