package wasi

import (
	"io/fs"
	"path"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// dirent is one entry of a folder.
type dirent struct {
	name string
	kind uint8
	ino  uint64
}

// maxEntries bounds what one listing may hold.
const maxEntries = 1 << 20

// list reads the folder anew.
func (c *call) list(d *descriptor) ([]dirent, error) {
	f, err := c.cfg.FS.Open(d.path, 0, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	self, err := f.Stat()
	if err != nil {
		return nil, err
	}
	parent, err := c.cfg.FS.Stat(path.Dir(d.path))
	if err != nil {
		parent = self
	}
	ents, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	ents = ents[:min(len(ents), maxEntries)]
	list := make([]dirent, 0, len(ents)+2)
	list = append(list, dirent{".", typeDir, inode(self)}, dirent{"..", typeDir, inode(parent)})
	for i, e := range ents {
		if i%256 == 0 {
			c.alive()
		}
		var ino uint64
		if fi, err := e.Info(); err == nil {
			ino = inode(fi)
		}
		list = append(list, dirent{e.Name(), typeOf(e.Type()), ino})
	}
	return list, nil
}

func inode(fi fs.FileInfo) uint64 {
	if s, ok := fi.Sys().(*vfs.Stat); ok {
		return s.Ino
	}
	return 0
}

// fdReaddir hands out the listing that was made when it was asked for from
// the start, so that a program may remove what it reads. The cookie of an
// entry is its place in that listing. The last entry may be cut short.
func fdReaddir(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	if !d.dir {
		return eNOTDIR
	}
	cookie := c.p[3]
	if cookie == 0 || d.list == nil {
		var err error
		if d.list, err = c.list(d); err != nil {
			return c.tell(err)
		}
	}
	buf, ok := c.mem.bytes(c.u32(1), c.u32(2))
	if !ok {
		return eFAULT
	}
	used := 0
	for i := cookie; i < uint64(len(d.list)) && used < len(buf); i++ {
		var head [24]byte
		ent := d.list[i]
		le.PutUint64(head[:], i+1)
		le.PutUint64(head[8:], ent.ino)
		le.PutUint32(head[16:], uint32(len(ent.name)))
		head[20] = ent.kind
		used += copy(buf[used:], head[:])
		used += copy(buf[used:], ent.name)
	}
	return c.mem.put32(c.u32(4), uint32(used))
}
