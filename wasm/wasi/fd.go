package wasi

// maxFDs bounds the descriptors of one job.
const maxFDs = 256

// Rights are kept and told, and decide whether a file can be read or written.
// Nothing else hangs on them: what a job may reach is what its FS shows.

// descriptor is one entry of a job's table.
type descriptor struct {
	file    *file
	path    string // absolute; "" for a stream
	dir     bool
	preopen string // the name it was given, for a preopen
	orelse  string // Preopen.Else
	rights  uint64
	inherit uint64
	dropped uint64   // rights that fd_fdstat_set_rights took away
	flags   uint16   // FDFLAGS
	opened  bool     // with O_APPEND, so that the file system appends
	list    []dirent // what fd_readdir hands out
}

const (
	rightDatasync = 1 << iota
	rightRead
	rightSeek
	rightSetFlags
	rightSync
	rightTell
	rightWrite
	rightAdvise
	rightAllocate
	rightMkdir
	rightCreate
	rightLinkFrom
	rightLinkTo
	rightOpen
	rightReaddir
	rightReadlink
	rightRenameFrom
	rightRenameTo
	rightPathStat
	rightPathSetSize
	rightPathSetTimes
	rightStat
	rightSetSize
	rightSetTimes
	rightSymlink
	rightRmdir
	rightUnlink
	rightPoll
	rightShutdown
	rightAccept
)

const (
	allRights  = 1<<30 - 1
	fileRights = rightDatasync | rightRead | rightSeek | rightSetFlags | rightSync | rightTell | rightWrite |
		rightAdvise | rightAllocate | rightStat | rightSetSize | rightSetTimes | rightPoll
	dirRights = rightSetFlags | rightSync | rightMkdir | rightCreate | rightLinkFrom | rightLinkTo | rightOpen |
		rightReaddir | rightReadlink | rightRenameFrom | rightRenameTo | rightPathStat | rightPathSetSize |
		rightPathSetTimes | rightStat | rightSetTimes | rightSymlink | rightRmdir | rightUnlink
)

const (
	flagAppend   = 1
	flagNonblock = 4
	allFlags     = 0x1f
)

// streamRights tells a guest what a standard stream can do. Only a file can
// seek: C programs take a character device without that right for a terminal.
func streamRights(f *file) uint64 {
	r := uint64(rightSetFlags | rightStat | rightPoll)
	if f.f != nil {
		r |= fileRights &^ (rightRead | rightWrite)
	}
	if f.w == nil {
		return r | rightRead
	}
	return r | rightWrite
}

// get returns descriptor n.
func (j *Job) get(n uint32) (*descriptor, errno) {
	if uint64(n) >= uint64(len(j.fds)) || j.fds[n] == nil {
		return nil, eBADF
	}
	return j.fds[n], 0
}

// add puts d at the lowest free number.
func (j *Job) add(d *descriptor) (uint32, errno) {
	for n, old := range j.fds {
		if old == nil {
			j.fds[n] = d
			return uint32(n), 0
		}
	}
	if len(j.fds) >= maxFDs {
		return 0, eMFILE
	}
	j.fds = append(j.fds, d)
	return uint32(len(j.fds) - 1), 0
}

// full says whether there is no free number.
func (j *Job) full() bool {
	for _, d := range j.fds {
		if d == nil {
			return false
		}
	}
	return len(j.fds) >= maxFDs
}

func fdClose(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	c.fds[c.u32(0)] = nil
	d.file.release()
	return 0
}

func fdRenumber(c *call) errno {
	from, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	to, e := c.get(c.u32(1))
	if e != 0 {
		return e
	}
	if from != to {
		to.file.release()
		c.fds[c.u32(1)], c.fds[c.u32(0)] = from, nil
	}
	return 0
}

func fdPrestatGet(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 || d.preopen == "" {
		return eBADF
	}
	b, ok := c.mem.bytes(c.u32(1), 8)
	if !ok {
		return eFAULT
	}
	clear(b)
	le.PutUint32(b[4:], uint32(len(d.preopen)))
	return 0
}

func fdPrestatDirName(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 || d.preopen == "" {
		return eBADF
	}
	if uint64(c.u32(2)) < uint64(len(d.preopen)) {
		return eNAMETOOLONG
	}
	b, ok := c.mem.bytes(c.u32(1), uint32(len(d.preopen)))
	if !ok {
		return eFAULT
	}
	copy(b, d.preopen)
	return 0
}

func fdFdstatGet(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	b, ok := c.mem.bytes(c.u32(1), 24)
	if !ok {
		return eFAULT
	}
	kind := uint8(typeUnknown)
	switch {
	case d.dir:
		kind = typeDir
	case d.file.f != nil:
		fi, err := d.file.f.Stat()
		if err != nil {
			return c.tell(err)
		}
		kind = typeOf(fi.Mode())
	}
	clear(b)
	b[0] = kind
	le.PutUint16(b[2:], d.flags)
	le.PutUint64(b[8:], d.rights)
	le.PutUint64(b[16:], d.inherit)
	return 0
}

func fdFdstatSetFlags(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	f := c.u32(1)
	if f&^allFlags != 0 {
		return eINVAL
	}
	if d.opened && f&flagAppend == 0 {
		if err := c.reopen(d); err != nil {
			return c.tell(err)
		}
	}
	d.flags = uint16(f)
	return 0
}

func fdFdstatSetRights(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	if c.p[1]&^d.rights != 0 || c.p[2]&^d.inherit != 0 { // rights only ever shrink
		return eNOTCAPABLE
	}
	d.dropped |= d.rights &^ c.p[1]
	d.rights, d.inherit = c.p[1], c.p[2]
	return 0
}

// chmodFD changes the permissions of an open file, by the name under which it
// was opened.
func chmodFD(c *call) errno {
	d, e := c.get(c.u32(0))
	if e != 0 {
		return e
	}
	if err := c.still(d); err != nil {
		return c.tell(err)
	}
	return c.tell(c.cfg.FS.Chmod(d.path, fileMode(c.u32(1))))
}
