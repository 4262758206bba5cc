package wasi

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// name is a path argument: absolute and canonical, in the sandbox's own name
// space. dir is the folder that it is relative to; folder says that it ended
// in a slash.
type name struct {
	path, dir string
	folder    bool
}

// at reads a path argument relative to a folder's descriptor.
func (c *call) at(fd, ptr, n uint32) (name, errno) {
	d, e := c.get(fd)
	if e != 0 {
		return name{}, e
	}
	if !d.dir {
		return name{}, eNOTDIR
	}
	rel, e := c.mem.str(ptr, n, maxPath)
	switch {
	case e != 0:
		return name{}, e
	case rel == "":
		return name{}, eNOENT
	case rel[0] == '/': // preview 1 has relative paths only: "/etc" must not be looked up from anywhere
		return name{}, ePERM
	}
	last := rel[strings.LastIndexByte(rel, '/')+1:]
	folder := last == "" || last == "." || last == ".."
	dir := d.path
	if d.orelse != "" && c.lies(rel, d.orelse) && !c.lies(rel, dir) {
		dir = d.orelse
	}
	if !hasDotDot(rel) {
		return name{path.Join(dir, rel), dir, folder}, 0
	}
	// A folder's descriptor is the capability for what is below it. Of the
	// working directory only the root is the end.
	if d.path != "/" && d.preopen != "." && climbs(rel) {
		return name{}, ePERM
	}
	p, err := c.physical(dir, rel)
	if err != nil {
		return name{}, c.tell(err)
	}
	return name{p, dir, folder}, 0
}

// lies reports whether the first element of rel is in the folder dir.
func (j *Job) lies(rel, dir string) bool {
	first, _, _ := strings.Cut(path.Clean(rel), "/")
	_, err := j.cfg.FS.Lstat(path.Join(dir, first))
	return err == nil
}

func hasDotDot(rel string) bool {
	for e := range strings.SplitSeq(rel, "/") {
		if e == ".." {
			return true
		}
	}
	return false
}

// climbs says whether rel leaves its starting point.
func climbs(rel string) bool {
	depth := 0
	for e := range strings.SplitSeq(rel, "/") {
		switch e {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// maxLinks bounds the symlinks followed in one name.
const maxLinks = 40

// physical resolves a name with ".." in it: the parent of a symlinked folder
// is that of the folder which the link means, so the links before each ".."
// have to be followed first.
func (j *Job) physical(dir, rel string) (string, error) {
	todo := strings.Split(rel, "/")
	cut := 0 // elements after the last ".." stay as they are
	for i, e := range todo {
		if e == ".." {
			cut = i + 1
		}
	}
	rest := path.Join(todo[cut:]...)
	todo = todo[:cut]
	links := 0
	for len(todo) > 0 {
		e := todo[0]
		todo = todo[1:]
		switch e {
		case "", ".":
			continue
		case "..":
			dir = path.Dir(dir)
			continue
		}
		next := path.Join(dir, e)
		fi, err := j.cfg.FS.Lstat(next)
		if err != nil {
			return "", err
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			if !fi.IsDir() {
				return "", syscall.ENOTDIR
			}
			dir = next
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		target, err := j.cfg.FS.Readlink(next)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(target, "/") {
			dir = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return path.Join(dir, rest), nil
}

const lookupFollow = 1

func (c *call) stat(n name, follow bool) (fs.FileInfo, error) {
	var fi fs.FileInfo
	var err error
	if follow || n.folder {
		fi, err = c.cfg.FS.Stat(n.path)
	} else {
		fi, err = c.cfg.FS.Lstat(n.path)
	}
	if err == nil && n.folder && !fi.IsDir() {
		return nil, syscall.ENOTDIR
	}
	return fi, err
}

func pathFilestatGet(c *call) errno {
	n, e := c.at(c.u32(0), c.u32(2), c.u32(3))
	if e != 0 {
		return e
	}
	follow := c.u32(1)&lookupFollow != 0
	if d := c.own(n.path); d != nil && follow {
		if d.file.f == nil && !d.dir {
			return c.putStreamStat(c.u32(4), d)
		}
		if d.file.f != nil {
			fi, err := d.file.f.Stat()
			if err != nil {
				return c.tell(err)
			}
			return c.putStat(c.u32(4), fi)
		}
	}
	fi, err := c.stat(n, follow)
	if err != nil {
		return c.tell(err)
	}
	return c.putStat(c.u32(4), fi)
}

// linkTimes is a file system that can set the times of a symlink itself.
type linkTimes interface {
	Lchtimes(name string, atime, mtime time.Time) error
}

func pathFilestatSetTimes(c *call) errno {
	n, e := c.at(c.u32(0), c.u32(2), c.u32(3))
	if e != 0 {
		return e
	}
	at, mt, e := c.times(c.p[4], c.p[5], c.u32(6))
	if e != 0 {
		return e
	}
	if c.u32(1)&lookupFollow == 0 {
		fi, err := c.stat(n, false)
		if err != nil {
			return c.tell(err)
		}
		if fi.Mode()&fs.ModeSymlink != 0 {
			l, ok := c.cfg.FS.(linkTimes)
			if !ok {
				return eNOTSUP
			}
			return c.tell(l.Lchtimes(n.path, at, mt))
		}
	}
	return c.tell(c.cfg.FS.Chtimes(n.path, at, mt))
}

func pathCreateDirectory(c *call) errno {
	perm := c.createMode(0o777)
	n, e := c.at(c.u32(0), c.u32(1), c.u32(2))
	if e != 0 {
		return e
	}
	return c.tell(c.cfg.FS.Mkdir(n.path, perm))
}

func pathLink(c *call) errno {
	from, e := c.at(c.u32(0), c.u32(2), c.u32(3))
	if e != 0 {
		return e
	}
	to, e := c.at(c.u32(4), c.u32(5), c.u32(6))
	if e != 0 {
		return e
	}
	if c.u32(1)&lookupFollow != 0 {
		return eINVAL
	}
	if to.folder {
		return eNOENT
	}
	if from.folder {
		if _, err := c.stat(from, true); err != nil {
			return c.tell(err)
		}
		return ePERM
	}
	return c.tell(c.cfg.FS.Link(from.path, to.path))
}

func pathReadlink(c *call) errno {
	n, e := c.at(c.u32(0), c.u32(1), c.u32(2))
	if e != 0 {
		return e
	}
	if n.folder {
		return eINVAL
	}
	target, err := c.cfg.FS.Readlink(n.path)
	if err != nil {
		return c.tell(err)
	}
	b, ok := c.mem.bytes(c.u32(3), c.u32(4))
	if !ok {
		return eFAULT
	}
	return c.mem.put32(c.u32(5), uint32(copy(b, target)))
}

func pathSymlink(c *call) errno {
	target, e := c.mem.str(c.u32(0), c.u32(1), maxPath)
	if e != 0 {
		return e
	}
	n, e := c.at(c.u32(2), c.u32(3), c.u32(4))
	switch {
	case e != 0:
		return e
	case target == "":
		return eNOENT
	case n.folder:
		if _, err := c.stat(n, false); err != nil {
			return c.tell(err)
		}
		return eEXIST
	case target[0] == '/' && n.dir != "/":
		return ePERM // it leaves what the folder's descriptor stands for
	}
	return c.tell(c.cfg.FS.Symlink(target, n.path))
}

func pathRemoveDirectory(c *call) errno {
	n, e := c.at(c.u32(0), c.u32(1), c.u32(2))
	if e != 0 {
		return e
	}
	if p, _ := c.mem.str(c.u32(1), c.u32(2), maxPath); p == "." || strings.HasSuffix(p, "/.") {
		return eINVAL
	}
	return c.tell(c.cfg.FS.Rmdir(n.path))
}

func pathUnlinkFile(c *call) errno {
	n, e := c.at(c.u32(0), c.u32(1), c.u32(2))
	if e != 0 {
		return e
	}
	if n.folder {
		if _, err := c.stat(n, true); err != nil {
			return c.tell(err)
		}
		return eISDIR
	}
	return c.tell(c.cfg.FS.Remove(n.path))
}

func pathRename(c *call) errno {
	from, e := c.at(c.u32(0), c.u32(1), c.u32(2))
	if e != 0 {
		return e
	}
	to, e := c.at(c.u32(3), c.u32(4), c.u32(5))
	if e != 0 {
		return e
	}
	if from.folder || to.folder {
		fi, err := c.cfg.FS.Lstat(from.path)
		if err != nil {
			return c.tell(err)
		}
		if !fi.IsDir() {
			return eNOTDIR
		}
	}
	err := c.cfg.FS.Rename(from.path, to.path)
	if err == nil {
		c.moved(from.path, to.path)
	}
	return c.tell(err)
}

// moved lets descriptors keep what they have open when it, or a folder above
// it, gets another name: they go by names.
func (j *Job) moved(from, to string) {
	for _, d := range j.fds {
		if d == nil {
			continue
		}
		if rest, ok := strings.CutPrefix(d.path, from); ok && (rest == "" || rest[0] == '/') {
			d.path = to + rest
		}
	}
}

// noMode says that the guest did not ask for particular permissions.
const noMode = ^uint32(0)

// createMode returns the permissions of a file about to be created.
func (j *Job) createMode(def uint32) os.FileMode {
	m := j.mode
	j.mode = noMode
	if m == noMode {
		m = def
	}
	return fileMode(m &^ j.umask)
}

func chmodPath(c *call) errno {
	n, e := c.at(c.u32(0), c.u32(2), c.u32(3))
	if e != 0 {
		return e
	}
	fi, err := c.stat(n, c.u32(1)&lookupFollow != 0)
	if err != nil {
		return c.tell(err)
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return eNOTSUP // a link has no permissions
	}
	return c.tell(c.cfg.FS.Chmod(n.path, fileMode(c.u32(4))))
}
