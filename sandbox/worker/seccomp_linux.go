//go:build amd64 || arm64

package worker

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A stage is how much a worker's filter allows.
type stage int

const (
	stageLoad stage = iota // compiled programs are read and made executable
	stageRun               // never again
)

// always are the system calls that a Go program needs to compute, to read and
// to write what is open. Each is there because a worker stops without it.
// There is no way in this list to start a program, to open a socket, to change
// a file, or to touch another process. The most frequent come first.
var always = append([]uintptr{
	unix.SYS_FUTEX, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_EPOLL_PWAIT, unix.SYS_NANOSLEEP,
	unix.SYS_MADVISE, unix.SYS_MUNMAP, unix.SYS_SCHED_YIELD, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP,
	unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGACTION, unix.SYS_SIGALTSTACK,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETRANDOM, unix.SYS_CLOSE, unix.SYS_RESTART_SYSCALL,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_CREATE1, unix.SYS_EVENTFD2,
	unix.SYS_SCHED_GETAFFINITY, unix.SYS_MINCORE, unix.SYS_MREMAP, unix.SYS_BRK,
	unix.SYS_RSEQ, unix.SYS_SET_ROBUST_LIST, unix.SYS_GETTIMEOFDAY, unix.SYS_FCNTL, unix.SYS_FSTAT,
	unix.SYS_PREAD64, // which pages were written to; only of what is open
}, alsoAlways...)

// loading are those to read the cache of compiled programs with; where a file
// may be opened at all, Landlock says.
var loading = append([]uintptr{
	unix.SYS_GETDENTS64, unix.SYS_LSEEK, unix.SYS_READLINKAT, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
}, alsoLoading...)

// seccomp puts a filter on all threads of this process, on top of those that
// are there: what any of them refuses is refused.
func seccomp(st stage) Finding {
	f := Finding{Name: "seccomp", Required: true}
	prog := filter(st)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	tid, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	switch {
	case errno != 0:
		f.Detail = "the kernel has none: " + errno.Error()
		return f
	case tid != 0:
		f.Detail = fmt.Sprintf("thread %d could not be brought under the filter", tid)
		return f
	}
	f.OK, f.Detail = true, fmt.Sprintf("%d system calls of a thread that only computes; no program, socket, or write to a file", len(always)+len(loading))
	return f
}

// Offsets in struct seccomp_data.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16 // low half of the first, on little-endian machines
)

func filter(st stage) []unix.SockFilter {
	var p []unix.SockFilter
	load := func(off uint32) {
		p = append(p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off})
	}
	// jump goes on with the next instruction when the test holds, and else over skip ones.
	jump := func(op uint16, k uint32, skip uint8) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jf: skip, K: k})
	}
	ret := func(action uint32) {
		p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action})
	}
	refuse := func(no unix.Errno) { ret(unix.SECCOMP_RET_ERRNO | uint32(no)) }
	allow := func(nr uintptr) {
		jump(unix.BPF_JEQ, uint32(nr), 1)
		ret(unix.SECCOMP_RET_ALLOW)
	}
	// only allows a call when mask has no bit in common with argument arg.
	only := func(nr uintptr, arg, mask uint32) {
		jump(unix.BPF_JEQ, uint32(nr), 4)
		load(dataArgs + 8*arg)
		jump(unix.BPF_JSET, mask, 1)
		refuse(unix.EPERM)
		ret(unix.SECCOMP_RET_ALLOW)
	}

	load(dataArch)
	jump(unix.BPF_JEQ, auditArch, 1) // another ABI has other numbers
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: 1})
	ret(unix.SECCOMP_RET_KILL_PROCESS)
	load(dataNumber)
	jump(unix.BPF_JGE, x32Bit, 1)
	ret(unix.SECCOMP_RET_KILL_PROCESS)
	for _, nr := range always {
		allow(nr)
	}
	if st == stageLoad {
		allow(unix.SYS_MMAP)
		allow(unix.SYS_MPROTECT)
		for _, nr := range loading {
			allow(nr)
		}
		only(unix.SYS_OPENAT, 2, unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC|unix.O_APPEND)
		allow(unix.SYS_SECCOMP) // for the second stage; it can only take away
	} else {
		only(unix.SYS_MMAP, 2, unix.PROT_EXEC)
		only(unix.SYS_MPROTECT, 2, unix.PROT_EXEC)
	}
	// Signals go to this process's own threads only: Go stops them so.
	jump(unix.BPF_JEQ, unix.SYS_TGKILL, 4)
	load(dataArgs)
	jump(unix.BPF_JEQ, uint32(os.Getpid()), 1)
	ret(unix.SECCOMP_RET_ALLOW)
	refuse(unix.EPERM)
	// Threads, and no processes.
	jump(unix.BPF_JEQ, unix.SYS_CLONE, 4)
	load(dataArgs)
	jump(unix.BPF_JSET, unix.CLONE_THREAD, 1)
	ret(unix.SECCOMP_RET_ALLOW)
	refuse(unix.EPERM)
	// Its flags are out of sight; libc takes clone when this is not there.
	jump(unix.BPF_JEQ, unix.SYS_CLONE3, 1)
	refuse(unix.ENOSYS)
	// Limits may be read: both halves of the pointer to new ones must be 0.
	jump(unix.BPF_JEQ, unix.SYS_PRLIMIT64, 6)
	load(dataArgs + 8*2)
	jump(unix.BPF_JEQ, 0, 2)
	load(dataArgs + 8*2 + 4)
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1})
	refuse(unix.EPERM)
	ret(unix.SECCOMP_RET_ALLOW)
	refuse(unix.EPERM)
	return p
}
