package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/donax-sh/donax/wasm/box"
	"github.com/spf13/cobra"
)

// version returns the module's version as Go recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func newVersion(std stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and the digests of the box",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			tiers, err := box.Tiers()
			if err != nil {
				return &exitError{exitFault, err}
			}
			sums := map[string]string{}
			for _, t := range tiers {
				sums[t.Name] = t.SHA256
			}
			if asJSON {
				return json.NewEncoder(std.out).Encode(map[string]any{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "box": sums})
			}
			fmt.Fprintf(std.out, "donax %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			for _, t := range tiers {
				fmt.Fprintf(std.out, "box %-6s sha256:%s\n", t.Name, t.SHA256)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
