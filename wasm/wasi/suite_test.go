//go:build linux

package wasi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm/wasi"
)

// What the public test suite of preview 1 asks of a host, in calls of our
// own: over a folder of the host and over the namespace that a sandbox has.

const (
	eEXIST    = 20
	eISDIR    = 31
	eNOTEMPTY = 55
	eNOTSOCK  = 57
	eNOTCAP   = 76
	eACCES    = 2

	oCreate, oDirectory, oExcl, oTrunc = 1, 2, 4, 8

	rRead, rSeek, rWrite, rSetSize, rPathSetSize = 1 << 1, 1 << 2, 1 << 6, 1 << 22, 1 << 19
)

// namespace shows fsys as /w.
func namespace(t *testing.T, fsys vfs.FS) vfs.FS {
	t.Helper()
	m, err := vfs.NewMount(vfs.MountPoint{Path: "/w", FS: fsys, Mode: vfs.ReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// suite is a guest with an empty folder open as descriptor 3.
type suite struct{ *guest }

func suites(t *testing.T, f func(t *testing.T, s suite)) {
	t.Run("host folder", func(t *testing.T) {
		root, err := vfs.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		f(t, suite{newGuest(t, wasi.Config{FS: namespace(t, root), Preopens: []wasi.Preopen{{Name: "/", Path: "/w"}}})})
	})
	t.Run("namespace", func(t *testing.T) {
		f(t, suite{newGuest(t, wasi.Config{FS: namespace(t, vfs.NewMem(vfs.MemConfig{})), Preopens: []wasi.Preopen{{Name: "/", Path: "/w"}}})})
	})
}

// want checks the error number of a call.
func (s suite) want(what string, got uint64, want ...uint64) {
	s.t.Helper()
	for _, w := range want {
		if got == w {
			return
		}
	}
	s.t.Errorf("%s: error %d, want %d", what, got, want)
}

func (s suite) open(dir uint64, p string, follow, oflags, rights, flags uint64) (fd, errno uint64) {
	ptr, n := s.put(1024, p)
	errno = s.call("path_open", dir, follow, ptr, n, oflags, rights, 0, flags, 512)
	return uint64(s.u32(512)), errno
}

// create makes a file.
func (s suite) create(p string) {
	s.t.Helper()
	fd, e := s.open(3, p, 0, oCreate, 0, 0)
	s.want("creating "+p, e, 0)
	s.want("closing "+p, s.call("fd_close", fd), 0)
}

// on calls a function whose arguments are a descriptor and a path.
func (s suite) on(name, p string) uint64 {
	ptr, n := s.put(1024, p)
	return s.call(name, 3, ptr, n)
}

// two calls a function of two paths.
func (s suite) two(name, from, to string) uint64 {
	a, an := s.put(1024, from)
	b, bn := s.put(1536, to)
	switch name {
	case "path_symlink":
		return s.call(name, a, an, 3, b, bn)
	case "path_link":
		return s.call(name, 3, 0, a, an, 3, b, bn)
	}
	return s.call(name, 3, a, an, 3, b, bn)
}

// filestat returns a stat's kind, size, mtime and inode.
func (s suite) filestat(p string, follow uint64) (kind byte, size, mtime, ino uint64) {
	s.t.Helper()
	ptr, n := s.put(1024, p)
	s.want("stat of "+p, s.call("path_filestat_get", 3, follow, ptr, n, 4096), 0)
	kind, _ = s.mem.ReadByte(4096 + 16)
	return kind, s.u64(4096 + 32), s.u64(4096 + 48), s.u64(4096 + 8)
}

func (s suite) write(fd uint64, text string) uint64 {
	s.put(8192, text)
	return s.call("fd_write", fd, s.iovec(0, 8192, uint32(len(text))), 1, 512)
}

func (s suite) read(fd uint64, n uint32) (string, uint64) {
	e := s.call("fd_read", fd, s.iovec(0, 8192, n), 1, 512)
	b, _ := s.mem.Read(8192, s.u32(512))
	return string(b), e
}

func (s suite) seek(fd uint64, off int64, whence uint64) (pos, errno uint64) {
	e := s.call("fd_seek", fd, uint64(off), whence, 512)
	return s.u64(512), e
}

func (s suite) rights(fd uint64) (base, inherit uint64) {
	s.want("fdstat", s.call("fd_fdstat_get", fd, 4096), 0)
	return s.u64(4096 + 8), s.u64(4096 + 16)
}

func TestSuiteFolders(t *testing.T) {
	suites(t, func(t *testing.T, s suite) {
		s.on("path_create_directory", "d")
		fd, e := s.open(3, "d", 0, oDirectory, rSeek|rRead, 0)
		s.want("open", e, 0)
		iov := s.iovec(0, 8192, 16)
		for what, got := range map[string]uint64{
			"fd_read":              s.call("fd_read", fd, iov, 1, 512),
			"fd_pread":             s.call("fd_pread", fd, iov, 1, 0, 512),
			"fd_write":             s.call("fd_write", fd, iov, 1, 512),
			"fd_pwrite":            s.call("fd_pwrite", fd, iov, 1, 0, 512),
			"fd_seek":              s.call("fd_seek", fd, 0, 1, 512),
			"fd_tell":              s.call("fd_tell", fd, 512),
			"fd_allocate":          s.call("fd_allocate", fd, 0, 1),
			"fd_filestat_set_size": s.call("fd_filestat_set_size", fd, 0),
		} {
			if what == "fd_filestat_set_size" {
				s.want(what, got, eISDIR, eBADF, eINVAL, eNOTCAP)
			} else {
				s.want(what, got, eISDIR, eBADF, eNOTCAP)
			}
		}
		if base, _ := s.rights(fd); base&(rSeek|rSetSize) != 0 {
			t.Errorf("a folder has the rights %#x", base)
		}
		_, e = s.open(3, ".", 0, oDirectory, rRead|rWrite, 0)
		s.want("a folder for reading and writing", e, eISDIR)
		base, inherit := s.rights(3)
		ptr, n := s.put(1024, ".")
		s.want("with the same rights", s.call("path_open", 3, 0, ptr, n, 0, base, inherit, 0, 512), 0)
		_, e = s.open(3, ".", 0, 0, 0, 4)
		s.want("not blocking", e, 0)
		s.want("a name too short", s.call("fd_prestat_dir_name", 3, 2048, 0), eINVAL, eNAME)
		s.want("a name too long", s.call("fd_prestat_dir_name", 3, 2048, 20), 0)
		s.create("f")
		s.want("rmdir of a file", s.on("path_remove_directory", "f"), eNOTDIR)
		s.want("rmdir of a file, slash", s.on("path_remove_directory", "f/"), eNOTDIR)
		s.want("unlink of a folder", s.on("path_unlink_file", "d"), eISDIR)
		s.want("unlink of a folder, slash", s.on("path_unlink_file", "d/"), eISDIR)
		s.want("unlink of a file, slash", s.on("path_unlink_file", "f/"), eNOTDIR)
		s.create("d/f")
		s.want("rmdir, not empty", s.on("path_remove_directory", "d"), eNOTEMPTY)
		s.want("unlink", s.on("path_unlink_file", "d/f"), 0)
		s.want("rmdir, slash", s.on("path_remove_directory", "d/"), 0)
		f, _ := s.open(3, "f", 0, 0, 0, 0)
		_, e = s.open(f, "x", 0, oCreate, 0, 0)
		s.want("below a file", e, eNOTDIR, eNOTCAP)
		_, e = s.open(3, "f", 0, oCreate|oExcl, 0, 0)
		s.want("there already", e, eEXIST)
		_, e = s.open(3, "nothing", 0, 0, 0, 0)
		s.want("missing", e, eNOENT)
	})
}

func TestSuitePaths(t *testing.T) {
	suites(t, func(t *testing.T, s suite) {
		s.on("path_create_directory", "dir")
		s.on("path_create_directory", "dir/nested")
		s.create("dir/nested/file")
		for p, want := range map[string][]uint64{
			"/dir/nested/file": {ePERM, eNOTCAP},
			"dir/.//nested/../../dir/nested/../nested///./file": {0},
			"dir/nested/file\x00":                               {eINVAL, 25, eNOENT},
			"dir/nested/file/":                                  {eNOTDIR, eNOENT},
			"dir/nested/file///":                                {eNOTDIR, eNOENT},
			"dir/nested/":                                       {0},
			"dir/nested///":                                     {0},
			"dir/nested/../../../w/dir/nested/file":             {ePERM, eNOTCAP},
		} {
			_, e := s.open(3, p, 0, 0, 0, 0)
			s.want(p, e, want...)
		}
		for _, c := range [][3]string{{"dir/", "b"}, {"b", "dir/"}, {"dir/", "b/"}, {"b", "dir"}} {
			s.want("rename "+c[0]+" "+c[1], s.two("path_rename", c[0], c[1]), 0)
		}
		s.create("f")
		s.want("rename of a file, slash", s.two("path_rename", "f/", "g"), eNOTDIR)
		s.want("rename of a file to a slash", s.two("path_rename", "f", "g/"), eNOTDIR)
		s.want("rename of a folder to a full one", s.two("path_rename", "dir", "dir/nested"), eINVAL, eNOTEMPTY)
		s.on("path_create_directory", "empty")
		s.want("rename of a file to a folder", s.two("path_rename", "f", "empty"), eISDIR)
		s.want("rename of a folder to a file", s.two("path_rename", "empty", "f"), eNOTDIR)
		s.want("rename of a full folder to an empty one", s.two("path_rename", "dir", "empty"), 0)
		s.on("path_create_directory", "dir")
		s.want("rename of an empty folder to a full one", s.two("path_rename", "dir", "empty"), eNOTEMPTY)
		s.create("g")
		s.want("rename of a file to a file", s.two("path_rename", "f", "g"), 0)
	})
}

func TestSuiteLinks(t *testing.T) {
	suites(t, func(t *testing.T, s suite) {
		s.create("file")
		s.on("path_create_directory", "dir")
		s.want("link", s.two("path_link", "file", "link"), 0)
		if _, _, _, a := s.filestat("file", 0); true {
			if _, _, _, b := s.filestat("link", 0); a != b || a == 0 {
				t.Errorf("a link is file %d, what it links is %d", b, a)
			}
		}
		s.want("link to what is there", s.two("path_link", "file", "link"), eEXIST)
		s.want("link to itself", s.two("path_link", "file", "file"), eEXIST)
		s.want("link to a folder's name", s.two("path_link", "file", "dir"), eEXIST)
		s.want("link of a folder", s.two("path_link", "dir", "x"), ePERM, eACCES)
		s.want("link with a slash", s.two("path_link", "file", "x/"), eNOENT)
		s.want("symlink", s.two("path_symlink", "nothing", "s"), 0)
		s.want("link of a symlink", s.two("path_link", "s", "t"), 0)
		s.want("link to a symlink's name", s.two("path_link", "file", "s"), eEXIST)
		a, an := s.put(1024, "s")
		b, bn := s.put(1536, "u")
		s.want("link, following", s.call("path_link", 3, 1, a, an, 3, b, bn), eINVAL, eNOENT)

		_, e := s.open(3, "s", 0, oDirectory, 0, 0)
		s.want("a dangling link as a folder", e, eNOTDIR, eLOOP)
		_, e = s.open(3, "s", 0, 0, 0, 0)
		s.want("a dangling link", e, eLOOP)
		s.two("path_symlink", "loop", "loop")
		_, e = s.open(3, "loop", 1, 0, 0, 0)
		s.want("a loop", e, eLOOP)
		_, e = s.open(3, "loop", 0, 0, 0, 0)
		s.want("a loop, not followed", e, eLOOP)
		s.two("path_symlink", "dir", "sd")
		s.two("path_symlink", "file", "sf")
		for _, c := range []struct {
			p              string
			follow, oflags uint64
			want           []uint64
		}{
			{"sd", 0, oDirectory, []uint64{eLOOP, eNOTDIR}},
			{"sd", 0, 0, []uint64{eLOOP, eACCES}},
			{"sd", 1, oDirectory, []uint64{0}},
			{"sf", 0, oDirectory, []uint64{eLOOP, eNOTDIR}},
			{"sf", 0, 0, []uint64{eLOOP}},
			{"sf", 1, oDirectory, []uint64{eNOTDIR}},
			{"sf", 1, 0, []uint64{0}},
		} {
			_, e := s.open(3, c.p, c.follow, c.oflags, 0, 0)
			s.want(c.p, e, c.want...)
		}
		for p, want := range map[string][2]byte{"dir": {3, 3}, "file": {4, 4}, "sd": {7, 3}, "sf": {7, 4}} {
			for follow := range want {
				if kind, _, _, _ := s.filestat(p, uint64(follow)); kind != want[follow] {
					t.Errorf("%s has kind %d", p, kind)
				}
			}
		}
		s.want("symlink to a slash", s.two("path_symlink", "x", "new/"), eNOENT)
		s.want("symlink over a folder, slash", s.two("path_symlink", "x", "dir/"), eEXIST)
		s.want("symlink over a folder", s.two("path_symlink", "x", "dir"), eEXIST)
		s.want("symlink over a file, slash", s.two("path_symlink", "x", "file/"), eNOTDIR)
		s.want("symlink over a file", s.two("path_symlink", "x", "file"), eEXIST)
		s.want("an absolute symlink", s.two("path_symlink", "/", "abs"), ePERM)

		ptr, n := s.put(1024, "sf")
		s.mem.Write(4096, make([]byte, 16))
		s.want("readlink", s.call("path_readlink", 3, ptr, n, 4096, 3, 512), 0)
		if b, _ := s.mem.Read(4096, 4); s.u32(512) != 3 || string(b) != "fil\x00" {
			t.Errorf("readlink: %d %q", s.u32(512), b)
		}
		s.want("readlink of a file", s.call("path_readlink", 3, ptr+1, 1, 4096, 3, 512), eNOENT)
	})
}

func TestSuiteTimes(t *testing.T) {
	suites(t, func(t *testing.T, s suite) {
		const mtim, mtimNow, atim, atimNow = 4, 8, 1, 2
		s.create("file")
		s.two("path_symlink", "file", "s")
		set := func(p string, follow, m, flags uint64) uint64 {
			ptr, n := s.put(1024, p)
			return s.call("path_filestat_set_times", 3, follow, ptr, n, 0, m, flags)
		}
		_, _, m, _ := s.filestat("file", 0)
		s.want("mtime", set("file", 0, m-100, mtim), 0)
		if _, _, now, _ := s.filestat("file", 0); now != m-100 {
			t.Errorf("the time is %d, not %d", now, m-100)
		}
		s.want("mtime twice", set("file", 0, m, mtim|mtimNow), eINVAL)
		s.want("atime twice", set("file", 0, m, atim|atimNow), eINVAL)
		if _, _, now, _ := s.filestat("file", 0); now != m-100 {
			t.Error("a refused call changed the time")
		}
		_, _, l, _ := s.filestat("s", 0)
		s.want("of a link", set("s", 0, l-200, mtim), 0)
		if _, _, now, _ := s.filestat("s", 0); now != l-200 {
			t.Error("the link's time has not changed")
		}
		if _, _, now, _ := s.filestat("s", 1); now != m-100 {
			t.Error("the file's time has")
		}
		s.want("through a link", set("s", 1, m-300, mtim), 0)
		if _, _, now, _ := s.filestat("file", 0); now != m-300 {
			t.Error("the file's time has not changed")
		}
		fd, _ := s.open(3, "file", 0, 0, allRights&^rWrite, 0)
		s.want("by descriptor", s.call("fd_filestat_set_times", fd, 1, m-400, mtim), 0)
		s.want("by descriptor, twice", s.call("fd_filestat_set_times", fd, 1, 1, mtim|mtimNow), eINVAL)
		if _, _, now, _ := s.filestat("file", 0); now != m-400 {
			t.Error("the file's time has not changed by descriptor")
		}
	})
}

func TestSuiteFiles(t *testing.T) {
	suites(t, func(t *testing.T, s suite) {
		fd, e := s.open(3, "f", 0, oCreate, allRights, 1) // append
		s.want("open", e, 0)
		s.want("write", s.write(fd, "aaaa"), 0)
		s.seek(fd, 0, 0)
		s.want("write", s.write(fd, "bbbb"), 0)
		s.want("flags off", s.call("fd_fdstat_set_flags", fd, 0), 0)
		s.seek(fd, 0, 0)
		s.want("write", s.write(fd, "cc"), 0)
		s.seek(fd, 0, 0)
		if got, _ := s.read(fd, 100); got != "ccaabbbb" {
			t.Errorf("without append: %q", got)
		}
		s.want("flags on", s.call("fd_fdstat_set_flags", fd, 1), 0)
		s.seek(fd, 0, 0)
		s.want("write", s.write(fd, "dd"), 0)
		s.seek(fd, 0, 0)
		if got, _ := s.read(fd, 100); got != "ccaabbbbdd" {
			t.Errorf("with append again: %q", got)
		}
		_, e = s.seek(fd, -2000, 1)
		s.want("before the beginning", e, eINVAL)
		if pos, _ := s.seek(fd, 1000, 1); pos != 1010 {
			t.Errorf("beyond the end: %d", pos)
		}
		s.want("size", s.call("fd_filestat_set_size", fd, 100), 0)
		s.want("advise", s.call("fd_advise", fd, 10, 50, 0), 0)
		s.want("allocate", s.call("fd_allocate", fd, 10, 10), 0)
		s.want("allocate", s.call("fd_allocate", fd, 90, 20), 0)
		if _, size, _, _ := s.filestat("f", 0); size != 110 {
			t.Errorf("size %d", size)
		}
		// Rights go, and do not come back.
		base, inherit := s.rights(fd)
		s.want("fewer rights", s.call("fd_fdstat_set_rights", fd, base&^(rRead|rWrite), inherit), 0)
		_, e = s.read(fd, 1)
		s.want("read", e, eBADF, eNOTCAP)
		s.want("write", s.write(fd, "x"), eBADF, eNOTCAP)
		s.want("rights again", s.call("fd_fdstat_set_rights", fd, base, inherit), eNOTCAP)

		ro, _ := s.open(3, "f", 0, 0, rRead, 0)
		s.want("write to what is read", s.write(ro, "x"), eBADF, eNOTCAP, eACCES)
		wo, _ := s.open(3, "f", 0, 0, rWrite, 0)
		_, e = s.read(wo, 1)
		s.want("read of what is written", e, eBADF, eNOTCAP, eACCES)

		s.want("renumber", s.call("fd_renumber", ro, wo), 0)
		s.want("close of what was renumbered", s.call("fd_close", ro), eBADF)
		s.want("renumber to nothing", s.call("fd_renumber", wo, ro), eBADF)
		if base, _ := s.rights(wo); base&(rRead|rWrite) != rRead {
			t.Errorf("rights %#x", base)
		}
		for stdio := range uint64(3) {
			to, _ := s.open(3, "f", 0, 0, 0, 0)
			s.want("renumber of stdio", s.call("fd_renumber", stdio, to), 0)
			s.want("stat of it", s.call("fd_fdstat_get", stdio, 4096), eBADF)
		}

		// Truncating needs the folder's right.
		base, inherit = s.rights(3)
		_, e = s.open(3, "f", 0, oTrunc, 0, 0)
		s.want("truncate", e, 0)
		s.want("fewer inherited", s.call("fd_fdstat_set_rights", 3, base, inherit&^rSetSize), 0)
		_, e = s.open(3, "f", 0, oTrunc, 0, 0)
		s.want("truncate", e, 0)
		s.want("fewer rights", s.call("fd_fdstat_set_rights", 3, base&^rPathSetSize, inherit&^rSetSize), 0)
		_, e = s.open(3, "f", 0, oTrunc, 0, 0)
		s.want("truncate without the right", e, ePERM, eNOTCAP)
		s.want("shutdown of a file", s.call("sock_shutdown", wo, 1), eNOTSOCK)
		s.want("shutdown of nothing", s.call("sock_shutdown", 200, 1), eBADF)
		s.want("close of a preopen", s.call("fd_close", 3), 0)
		s.want("stat of it", s.call("fd_fdstat_get", 3, 4096), eBADF)
	})
}

func TestSuiteManyEntries(t *testing.T) {
	suites(t, func(t *testing.T, s suite) {
		const many = 1000
		for i := range many {
			f, err := s.fs.Open("/w/file."+strings.Repeat("x", i%7)+string(rune('a'+i%26))+itoa(i), os.O_CREATE|os.O_WRONLY, 0o666)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		total, cookie := 0, uint64(0)
		for {
			s.want("readdir", s.call("fd_readdir", 3, 4096, 256, cookie, 512), 0)
			used := s.u32(512)
			b, _ := s.mem.Read(4096, used)
			for len(b) >= 24 && len(b) >= 24+int(b[16]) {
				total++
				cookie = uint64(b[0]) | uint64(b[1])<<8
				b = b[24+int(b[16]):]
			}
			if used < 256 {
				break
			}
		}
		if total != many+2 {
			t.Errorf("%d entries", total)
		}
	})
}

func itoa(n int) string {
	return string([]byte{byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10)})
}
