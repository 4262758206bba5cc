package vfs

import (
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// hostDir is an open folder of the host.
type hostDir struct {
	*os.Root
	info    fs.FileInfo
	refs    int  // guarded by dirCache.mu
	dropped bool // no longer in the cache; guarded by dirCache.mu
}

// dirCache keeps folders open that were on the way to a name, so that the
// next walk only has to look whether the same folder is still there. Its
// zero value is empty.
type dirCache struct {
	mu   sync.Mutex
	dirs map[string]*hostDir // by canonical name
}

// take returns the kept folder under name if it is the one that was seen.
func (c *dirCache) take(name string, seen fs.FileInfo) *hostDir {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.dirs[name]
	if d == nil || !os.SameFile(d.info, seen) {
		return nil
	}
	d.refs++
	return d
}

// keep puts a folder that is in use into the cache, instead of an older one
// or of any when the cache is full.
func (c *dirCache) keep(name string, d *hostDir) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d.refs = 1
	if keepDirs == 0 {
		d.dropped = true
		return
	}
	if c.dirs == nil {
		c.dirs = map[string]*hostDir{}
	}
	if old := c.dirs[name]; old != nil {
		c.drop(name, old)
	}
	for other, old := range c.dirs {
		if len(c.dirs) < keepDirs {
			break
		}
		c.drop(other, old)
	}
	c.dirs[name] = d
}

func (c *dirCache) drop(name string, d *hostDir) {
	delete(c.dirs, name)
	d.dropped = true
	if d.refs == 0 {
		d.Close()
	}
}

func (c *dirCache) release(d *hostDir) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.refs--; d.refs == 0 && d.dropped {
		d.Close()
	}
}

func (c *dirCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, d := range c.dirs {
		c.drop(name, d)
	}
}

// dirHandle is the use of a folder until done.
type dirHandle struct {
	*hostDir
	r *Root
}

func (d dirHandle) done() {
	if d.hostDir != d.r.top {
		d.r.dirs.release(d.hostDir)
	}
}

// dir opens the folder with a canonical name, element by element.
func (r *Root) dir(name string) (dirHandle, syscall.Errno) {
	cur := dirHandle{r.top, r}
	for start := 1; start < len(name); {
		elem, _ := next(name[start:])
		sub, e := r.step(cur.Root, elem, name[:start+len(elem)])
		cur.done()
		if e != 0 {
			return dirHandle{}, e
		}
		cur.hostDir = sub
		start += len(elem) + 1
	}
	return cur, 0
}

// step opens the folder elem of cur, whose whole name is name, and no other:
// os.Root would follow a symlink swapped in after the look, so what was
// opened, now or earlier, is compared with what is there.
func (r *Root) step(cur *os.Root, elem, name string) (*hostDir, syscall.Errno) {
	if !hostName(elem) {
		return nil, syscall.ENOENT
	}
	seen, err := cur.Lstat(elem)
	switch {
	case err != nil:
		return nil, errnoOf(err)
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, syscall.ELOOP
	case !seen.IsDir():
		return nil, syscall.ENOTDIR
	}
	if d := r.dirs.take(name, seen); d != nil {
		return d, 0
	}
	sub, err := cur.OpenRoot(elem)
	if err != nil {
		return nil, errnoOf(err)
	}
	got, err := sub.Stat(".")
	if err != nil || !os.SameFile(seen, got) {
		sub.Close()
		return nil, syscall.ELOOP
	}
	d := &hostDir{Root: sub, info: got}
	r.dirs.keep(name, d)
	return d, 0
}
