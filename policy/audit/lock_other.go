//go:build !unix

package audit

import "os"

// lockFile does nothing where there are no such locks: see that each server
// has a log of its own.
func lockFile(*os.File) error { return nil }
