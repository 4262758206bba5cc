//go:build !wasip1

package applet

import "io/fs"

// Umask returns 022, what the sandbox starts with: outside, commands only run
// in tests, side by side in one process, whose own must not be touched.
func Umask() fs.FileMode { return 0o022 }
