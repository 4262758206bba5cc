package applet

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// What Resolve demands of a name's parts.
const (
	MustExist    = iota // every part
	ParentsExist        // all but the last
	MayBeMissing        // none
)

// maxLinks ends loops of symlinks.
const maxLinks = 40

// Resolve returns the absolute name, without symlinks and dots, of the file
// that name leads to. demand is one of MustExist, ParentsExist, MayBeMissing.
func Resolve(name string, demand int) (string, error) {
	if name == "" {
		return "", syscall.ENOENT
	}
	if !strings.HasPrefix(name, "/") {
		wd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		name = wd + "/" + name
	}
	todo := strings.Split(name, "/")
	done := ""
	links := 0
	missing := false // done does not exist
	for i := 0; len(todo) > 0; i++ {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "":
			// A slash at the end wants a folder.
			continue
		case ".":
			continue
		case "..":
			done = done[:max(0, strings.LastIndexByte(done, '/'))]
			missing = missing && demand == MayBeMissing && !exists(done)
			continue
		}
		next := done + "/" + part
		if missing {
			done = next
			continue
		}
		fi, err := os.Lstat(next)
		if err != nil {
			last := strings.Trim(strings.Join(todo, ""), "/") == ""
			switch {
			case demand == MustExist,
				demand == ParentsExist && !last,
				demand == ParentsExist && !errors.Is(err, syscall.ENOENT):
				return "", err
			}
			done, missing = next, true
			continue
		}
		if fi.Mode()&os.ModeSymlink != 0 {
			if links++; links > maxLinks {
				if demand == MayBeMissing {
					done = next
					continue
				}
				return "", syscall.ELOOP
			}
			target, err := os.Readlink(next)
			if err != nil {
				return "", err
			}
			if strings.HasPrefix(target, "/") {
				done = ""
			}
			todo = append(strings.Split(target, "/"), todo...)
			continue
		}
		if !fi.IsDir() && len(todo) > 0 && demand != MayBeMissing {
			return "", syscall.ENOTDIR
		}
		done = next
	}
	if done == "" {
		done = "/"
	}
	return done, nil
}

func exists(name string) bool {
	if name == "" {
		return true
	}
	_, err := os.Lstat(name)
	return err == nil
}

// Base returns the last component of name without slashes after it, "/" for
// the root and "" for "".
func Base(name string) string {
	trimmed := strings.TrimRight(name, "/")
	if trimmed == "" && name != "" {
		return "/"
	}
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}

// Dir returns name without its last component, "." when that is all of it.
func Dir(name string) string {
	trimmed := strings.TrimRight(name, "/")
	if trimmed == "" && name != "" {
		return "/"
	}
	i := strings.LastIndexByte(trimmed, '/')
	if i < 0 {
		return "."
	}
	if dir := strings.TrimRight(trimmed[:i], "/"); dir != "" {
		return dir
	}
	return "/"
}

// Relative returns the name of the file to as seen from the folder from; both
// are absolute and clean.
func Relative(from, to string) string {
	if from == to {
		return "."
	}
	a := strings.FieldsFunc(from, isSlash)
	b := strings.FieldsFunc(to, isSlash)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	up := strings.Repeat("../", len(a)-same)
	return strings.TrimSuffix(up+strings.Join(b[same:], "/"), "/")
}

func isSlash(r rune) bool { return r == '/' }
