//go:build !linux && !wasip1

package fsinfo

import "io/fs"

// Of returns what fi.Sys() holds.
func Of(fi fs.FileInfo) Info {
	return Info{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
}
