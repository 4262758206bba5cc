//go:build !linux && !darwin && !wasip1

package applet

import "io/fs"

// Stat returns what fi.Sys() holds.
func Stat(fi fs.FileInfo) Info {
	return Info{Nlink: 1, Atime: fi.ModTime(), Ctime: fi.ModTime()}
}
