package main

import (
	"fmt"
	"time"

	"github.com/donax-sh/donax/wasm"
	"github.com/spf13/cobra"
)

func newWarm(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "warm",
		Short: "Compile the box into the cache now, for images and CI",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir := cacheDir()
			if dir == "" {
				return &exitError{exitFault, &hint{fmt.Errorf("there is no place for the cache"), "DONAX_CACHE=DIR donax warm"}}
			}
			rt, err := wasm.New(wasm.Config{CacheDir: dir})
			if err != nil {
				return &exitError{exitFault, err}
			}
			defer rt.Close()
			start := time.Now()
			if err := rt.Warm(cmd.Context()); err != nil {
				return &exitError{exitFault, err}
			}
			fmt.Fprintf(std.out, "the box is ready in %s (%.1fs)\n", dir, time.Since(start).Seconds())
			return nil
		},
	}
}
