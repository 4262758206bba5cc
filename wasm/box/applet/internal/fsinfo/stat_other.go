//go:build !linux && !wasip1

package fsinfo

import "io/fs"

// Mode returns fi's type and permissions, also inside wasm, where fi.Mode()
// does not know the latter.
func Mode(fi fs.FileInfo) fs.FileMode { return fi.Mode() }

// Of returns what fi.Sys() holds.
func Of(fi fs.FileInfo) Info {
	return Info{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
}
