package sandbox

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

const maxLinks = 40

// canonical returns the name that a file operation will act on: absolute,
// without symlinks but perhaps the last one. A name that does not exist is
// resolved as far as it does.
func (g *guard) canonical(name string, follow bool) (string, error) {
	at, rest := "/", strings.TrimPrefix(path.Clean(joinPath("/", name)), "/")
	for links := 0; rest != ""; {
		var elem string
		elem, rest, _ = strings.Cut(rest, "/")
		switch elem {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, elem)
		if rest == "" && !follow {
			return next, nil
		}
		fi, err := g.fs.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return path.Join(next, rest), nil
		}
		if err != nil {
			return "", err
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		dest, err := g.fs.Readlink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(dest) {
			at = "/"
		}
		rest = strings.TrimPrefix(dest+"/"+rest, "/")
	}
	return at, nil
}

// mountOf returns where the mount that holds a canonical name is mounted.
func (g *guard) mountOf(at string) string { return "/" }

func dirOf(name string) string { return path.Dir(path.Clean(name)) }
