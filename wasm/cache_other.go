//go:build !unix

package wasm

import (
	"errors"
	"io/fs"
	"os"
)

// owned says whether the file is ours; this system keeps no owner in its
// modes, and the user's own cache folder is private by inheritance.
func owned(fs.FileInfo) bool { return true }

// lockShared needs no lock where nothing can be locked alone: no entry of the
// cache is ever removed there.
func lockShared(*os.File) error { return nil }
func lockAlone(*os.File) error  { return errors.ErrUnsupported }
