package wasm

import (
	"path"
	"slices"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm/wasi"
)

// preopens returns those of one run of a program.
func preopens(given []Preopen, proc *sandbox.Proc) []Preopen {
	pre := slices.Clone(given)
	if pre == nil && proc.FS != nil {
		pre = everything(proc.FS, proc.Dir)
	}
	for i := range pre {
		if pre[i].Path == "" {
			pre[i].Path = proc.Dir
		}
	}
	return pre
}

// everything returns the preopens of a program that may see all of fsys from
// the working directory dir. Go programs use "/" alone. wasi-libc takes off
// the "/" of a name, so that "/x" and "x" are one to it, and looks for the
// longest name of a preopen that fits, the last of them first: so that both
// "/tmp/x" and "x" lead where they say, each folder below "/" is a preopen,
// and the working directory is the last.
func everything(fsys vfs.FS, dir string) []wasi.Preopen {
	pre := []wasi.Preopen{{Name: "/", Path: "/"}}
	if path.Clean(dir) != "/" {
		for _, name := range topFolders(fsys) {
			// "tmp/x" is either of "/tmp/x" and a file below the working directory.
			pre = append(pre, wasi.Preopen{Name: "/" + name, Path: "/" + name, Else: path.Join(dir, name)})
		}
	}
	return append(pre, wasi.Preopen{Name: "."})
}

// maxTop bounds the preopens of one run: each takes a descriptor.
const maxTop = 64

// topFolders returns the names of the folders in the root.
func topFolders(fsys vfs.FS) []string {
	if g, ok := fsys.(interface{ Quiet() vfs.FS }); ok {
		fsys = g.Quiet()
	}
	f, err := fsys.Open("/", 0, 0)
	if err != nil {
		return nil // what the policy does not let it list is no preopen
	}
	defer f.Close()
	ents, err := f.ReadDir(-1)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range ents {
		if fi, err := fsys.Stat("/" + e.Name()); err == nil && fi.IsDir() && len(names) < maxTop {
			names = append(names, e.Name())
		}
	}
	return names
}
