package vfs

import (
	"io/fs"
	"strings"
	"syscall"
)

// maxLinks is how many symlinks one name may lead through.
const maxLinks = 40

// Resolve finds what name leads to, following symlinks against the whole
// namespace, the last one only when follow is set or a slash trails. When
// the last element does not exist but its parent does, the Location has no
// Info and can be created.
//
// There is no gap between looking and acting. Location.Path is where the
// object is, with no symlink in it, so it is what a policy can be asked
// about; the Location's methods act on exactly that name in the mount's file
// system, which follows no symlink in any element. Whatever is swapped in
// between, they reach the object under that very path, or fail with ELOOP.
func (m *Mount) Resolve(name string, follow bool) (Location, error) {
	l, e := m.resolve(name, follow, true)
	return l, pathErr("resolve", name, e)
}

// ResolveOpen finds what opening name with flag would open or create: it
// follows a last symlink as flag says.
func (m *Mount) ResolveOpen(name string, flag int) (Location, error) {
	l, e := m.resolve(name, FollowsLast(flag), true)
	if e == syscall.ENOTDIR && creates(flag) && strings.HasSuffix(name, "/") {
		// A trailing slash is not for files, even before there is one to see.
		if _, parent := m.resolve(name, false, false); parent == 0 {
			e = syscall.EISDIR
		}
	}
	return l, pathErr("open", name, e)
}

// ResolveEntry finds the folder entry that name means, for operations that
// make, remove, rename or link it: a last symlink is never followed, not even
// with a trailing slash.
func (m *Mount) ResolveEntry(name string) (Location, error) {
	l, e := m.resolve(name, false, false)
	return l, pathErr("resolve", name, e)
}

// resolve does both. slashFollows says what a trailing slash does to a last
// symlink.
func (m *Mount) resolve(name string, follow, slashFollows bool) (Location, syscall.Errno) {
	switch {
	case name == "":
		return Location{}, syscall.ENOENT
	case len(name) > maxPath:
		return Location{}, syscall.ENAMETOOLONG
	case name[0] != '/', strings.IndexByte(name, 0) >= 0:
		return Location{}, syscall.EINVAL
	}
	l := Location{Requested: name, m: m, last: lastElem(name)}
	l.slash = l.last == ""
	l.dirOnly = l.slash || l.last == "." || l.last == ".."
	cur, rest, links := "/", name, 0 // cur is a folder, with no symlink in its name
	for {
		cand, tail, up := run(cur, rest)
		last := tail == "" && !up
		fi, synth, e := m.lstat(cand)
		switch {
		case e == syscall.ELOOP:
			cur, rest, e = m.expand(cur, cand, tail, up, &links)
			if e != 0 {
				return Location{}, e
			}
			continue
		case e == syscall.ENOENT && last:
			return m.absent(l, cand)
		case e != 0:
			return Location{}, e
		case fi.Mode()&fs.ModeSymlink != 0:
			if last && !follow && l.last != "." && !(l.dirOnly && slashFollows) {
				return l.put(cand, fi, false), 0
			}
			target, e := m.readlink(cand, &links)
			if e != 0 {
				return Location{}, e
			}
			if last && l.last != "." && strings.HasSuffix(target, "/") {
				l.dirOnly, l.slash = true, true
			}
			cur, rest = through(cand, target, tail, up)
			continue
		case fi.IsDir():
			if last {
				return l.put(cand, fi, synth), 0
			}
			cur, rest = cand, tail
			if up {
				cur = "/"
				if cand != "/" {
					cur, _ = split(cand)
				}
			}
			continue
		case !last, l.last == ".", l.dirOnly && slashFollows:
			return Location{}, syscall.ENOTDIR
		}
		return l.put(cand, fi, false), 0
	}
}

// lastElem returns what stands behind the last slash.
func lastElem(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// run appends to cur the elements of rest up to the first ".."; up says that
// one was found, and tail is what follows it.
func run(cur, rest string) (cand, tail string, up bool) {
	if cur == "/" && checkName(rest) == 0 {
		return rest, "", false // the common case: already canonical
	}
	cand = cur
	for rest != "" {
		var elem string
		elem, rest = next(rest)
		switch elem {
		case "", ".":
		case "..":
			return cand, rest, true
		default:
			cand = join(cand, elem)
		}
	}
	return cand, "", false
}

// through replaces the symlink cand by its target in front of what is left.
func through(cand, target, tail string, up bool) (cur, rest string) {
	if up {
		tail = "../" + tail
	}
	cur = "/"
	if !strings.HasPrefix(target, "/") {
		cur, _ = split(cand)
	}
	return cur, target + "/" + tail
}

// expand finds the first symlink among the elements of cand below cur and
// follows it.
func (m *Mount) expand(cur, cand, tail string, up bool, links *int) (newCur, rest string, e syscall.Errno) {
	at := cur
	for below := strings.TrimPrefix(cand[len(cur):], "/"); below != ""; {
		var elem string
		elem, below = next(below)
		at = join(at, elem)
		fi, _, e := m.lstat(at)
		if e != 0 {
			return "", "", e
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, e := m.readlink(at, links)
		if e != 0 {
			return "", "", e
		}
		if up {
			tail = "../" + tail
		}
		if below != "" {
			tail = below + "/" + tail
		}
		newCur, rest = through(at, target, tail, false)
		return newCur, rest, 0
	}
	// It was there a moment ago: somebody is swapping it.
	if *links++; *links > maxLinks {
		return "", "", syscall.ELOOP
	}
	if up {
		tail = "../" + tail
	}
	return cur, cand[len(cur):] + "/" + tail, 0
}

// readlink reads a symlink and counts it.
func (m *Mount) readlink(name string, links *int) (string, syscall.Errno) {
	if *links++; *links > maxLinks {
		return "", syscall.ELOOP
	}
	p, rel := m.at(name)
	target, err := p.FS.Readlink(rel)
	if err == nil && target == "" {
		return "", syscall.ENOENT
	}
	return target, errnoOf(err)
}

// absent returns the Location of a name that is free, if its parent is a
// folder.
func (m *Mount) absent(l Location, name string) (Location, syscall.Errno) {
	dir, _ := split(name)
	fi, synth, e := m.lstat(dir)
	switch {
	case e != 0:
		return Location{}, e
	case !fi.IsDir():
		return Location{}, syscall.ENOTDIR
	case l.last == "." || l.last == "..":
		return Location{}, syscall.ENOENT
	}
	l = l.put(name, nil, false)
	l.noParent = synth
	return l, 0
}
