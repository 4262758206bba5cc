//go:build !linux

package vfs_test

import (
	"io/fs"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// realFolder needs openat2.
func realFolder(testing.TB) vfs.FS { return nil }

// hostLinks is the link count in a FileInfo of package os, where one is
// known.
func hostLinks(fs.FileInfo) uint64 { return 1 }
