package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/donax-sh/donax/policy/rego"
)

// reloadOnHangup reads the policies again at each SIGHUP until ctx ends. The
// files are also looked at every second; the signal is for those who do not
// want to wait, and for bundles on a server, which are asked for twice a minute.
func reloadOnHangup(ctx context.Context, layers []*rego.Engine, report func(rego.Update)) {
	hup := make(chan os.Signal, 1)
	signal.Reset(syscall.SIGHUP) // it ends a process otherwise
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			for _, l := range layers {
				report(l.Reload(ctx))
			}
		}
	}
}
