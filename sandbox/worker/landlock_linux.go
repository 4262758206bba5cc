package worker

import (
	"debug/elf"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockFS is what a ruleset of each version can refuse; what it does not
// name it leaves alone.
func landlockFS(abi int) uint64 {
	all := uint64(unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM)
	if abi >= 2 {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// landlockABI is the version of the kernel; 0 means that it has none.
func landlockABI() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(v), nil
}

// restrictThread takes the file system away from the calling thread and from
// all that it starts, but for reading below readable, and for starting this
// program again. It cannot be undone.
func restrictThread(readable []string) Finding {
	f := Finding{Name: "landlock"}
	abi, err := landlockABI()
	if err != nil {
		f.Detail = "the kernel has none: " + err.Error()
		return f
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: landlockFS(abi)}
	if abi >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	size := unsafe.Offsetof(attr.Quiet_access_fs)
	switch { // a kernel refuses fields that it does not know
	case abi < 4:
		size = unsafe.Offsetof(attr.Handled_access_net)
	case abi < 6:
		size = unsafe.Offsetof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		f.Detail = "no ruleset: " + errno.Error()
		return f
	}
	defer unix.Close(int(fd))
	const read, dirs, run = unix.LANDLOCK_ACCESS_FS_READ_FILE, unix.LANDLOCK_ACCESS_FS_READ_DIR, unix.LANDLOCK_ACCESS_FS_EXECUTE
	for _, dir := range readable {
		if err := allowBelow(int(fd), dir, read|dirs); err != nil {
			f.Detail = err.Error()
			return f
		}
	}
	if err := allowBelow(int(fd), "/proc/self/exe", read|run); err != nil {
		f.Detail = err.Error()
		return f
	}
	for _, dir := range loaderPlaces() {
		_ = allowBelow(int(fd), dir, read|run) // not every system has each
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		f.Detail = "no_new_privs: " + err.Error()
		return f
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		f.Detail = "refused: " + errno.Error()
		return f
	}
	f.OK, f.Detail = true, fmt.Sprintf("version %d: nothing but reading compiled code", abi)
	return f
}

func allowBelow(ruleset int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("%s: %w", path, errno)
	}
	return nil
}

// loaderPlaces are what the system's loader reads to start this program, when
// it was built with cgo. A program without cgo needs none.
func loaderPlaces() []string {
	self, err := elf.Open("/proc/self/exe")
	if err != nil {
		return nil
	}
	defer self.Close()
	for _, p := range self.Progs {
		if p.Type == elf.PT_INTERP {
			return []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/nix/store"}
		}
	}
	return nil
}

// fileIsClosed reports whether files outside of readable are out of reach, by
// trying.
func fileIsClosed() bool {
	f, err := os.Open("/")
	if err == nil {
		f.Close()
	}
	return err != nil
}
