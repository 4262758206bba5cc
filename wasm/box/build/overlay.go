package build

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
)

//go:embed overlay/*.txt
var additions embed.FS

// A patch completes one package of the standard library: a file is added,
// and functions that it replaces are renamed to std*, so that it can call
// them. No text of the library is kept here, and a Go version in which one of
// them is gone fails to build instead of building something else.
type patch struct {
	pkg     string
	file    string
	renamed map[string][]string // file: functions
}

var patches = []patch{
	{pkg: "runtime", file: "runtime.go.txt"},
	{pkg: "syscall", file: "syscall.go.txt", renamed: map[string][]string{
		"fs_wasip1.go": {
			"setDefaultMode", "openat", "Chmod", "Fchmod",
			"Open", "Mkdir", "Stat", "Lstat", "Unlink", "Rmdir", "UtimesNano", "Rename", "Truncate", "Chdir", "Readlink", "Link", "Symlink",
		},
		"syscall_wasip1.go": {"Umask"},
	}},
	{pkg: "internal/syscall/unix", file: "unix.go.txt", renamed: map[string][]string{
		"at_wasip1.go": {"Mkdirat", "Fchmodat"},
	}},
	{pkg: "os", file: "os.go.txt", renamed: map[string][]string{
		"stat_wasip1.go":      {"fillFileStatFromSys"},
		"file_open_wasip1.go": {"open"},
	}},
}

// writeOverlay writes the file for go build's -overlay, and the sources it
// names, into dir.
func writeOverlay(goroot, dir string) (string, error) {
	replace := map[string]string{}
	put := func(target string, src []byte) error {
		f := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[target] = f
		return os.WriteFile(f, src, 0o600)
	}
	for _, p := range patches {
		pkg := filepath.Join(goroot, "src", filepath.FromSlash(p.pkg))
		src, err := additions.ReadFile("overlay/" + p.file)
		if err != nil {
			return "", err
		}
		if err := put(filepath.Join(pkg, "zz_donax_wasip1.go"), src); err != nil {
			return "", err
		}
		for name, funcs := range p.renamed {
			target := filepath.Join(pkg, name)
			src, err := os.ReadFile(target)
			if err != nil {
				return "", err
			}
			if src, err = rename(target, src, funcs); err != nil {
				return "", err
			}
			if err := put(target, src); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	f := filepath.Join(dir, "overlay.json")
	return f, os.WriteFile(f, text, 0o600)
}

// rename puts std before the names of the functions where they are declared.
func rename(name string, src []byte, funcs []string) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var at []int
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && slices.Contains(funcs, fd.Name.Name) {
			at = append(at, fset.Position(fd.Name.Pos()).Offset)
		}
	}
	if len(at) != len(funcs) {
		return nil, fmt.Errorf("%s: not all of %v are here: this Go version is not known", name, funcs)
	}
	var out bytes.Buffer
	last := 0
	for _, o := range at {
		out.Write(src[last:o])
		out.WriteString("std")
		last = o
	}
	out.Write(src[last:])
	return out.Bytes(), nil
}
