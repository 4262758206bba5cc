package main

import (
	"context"
	"runtime"
)

// checkIsolation starts a worker and tells what of its jail holds.
func checkIsolation(ctx context.Context, r *report) {
	found, err := isolationFindings(ctx)
	if err != nil {
		if runtime.GOOS == "linux" {
			r.fail("workers", "serve --isolation none", "%v", err)
		} else {
			r.warn("workers", "Linux", "%v", err)
		}
		return
	}
	for _, f := range found {
		switch {
		case f.OK:
			r.ok(f.Name, "%s", f.Detail)
		case f.Required:
			r.fail(f.Name, "serve --isolation none", "%s", f.Detail)
		default:
			r.warn(f.Name, "a newer or less confined kernel", "%s", f.Detail)
		}
	}
}
