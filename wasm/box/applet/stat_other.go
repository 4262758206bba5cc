//go:build !linux && !darwin && !wasip1

package applet

import "io/fs"

// Mode returns fi's type and permission bits, also inside wasm, where
// fi.Mode() does not know the latter.
func Mode(fi fs.FileInfo) fs.FileMode { return fi.Mode() }

// Stat returns what fi.Sys() holds.
func Stat(fi fs.FileInfo) Info {
	return Info{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
}
