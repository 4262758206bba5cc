//go:build !unix

package wasm

import "io/fs"

// owned says whether the file is ours; this system keeps no owner in its
// modes, and the user's own cache folder is private by inheritance.
func owned(fs.FileInfo) bool { return true }
