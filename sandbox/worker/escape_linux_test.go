package worker_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"github.com/donax-sh/donax/sandbox"
	"golang.org/x/sys/unix"
)

// escape tries, natively and in the worker, everything that a jail is for. It
// prints one line an attempt.
func escape(_ context.Context, p *sandbox.Proc) error {
	try := func(name string, err error) {
		verdict := "ALLOWED"
		if err != nil {
			verdict = "denied"
		}
		fmt.Fprintln(p.Stdout, name, verdict)
	}
	errno := func(e syscall.Errno) error {
		if e == 0 {
			return nil
		}
		return e
	}
	call := func(nr uintptr, a ...uintptr) error {
		var x [6]uintptr
		copy(x[:], a)
		_, _, e := syscall.RawSyscall6(nr, x[0], x[1], x[2], x[3], x[4], x[5])
		return errno(e)
	}
	read := func(name string) error { _, err := os.ReadFile(name); return err }
	try("read /etc/hostname", read("/etc/hostname"))
	try("read /proc/self/environ", read("/proc/self/environ"))
	try("read parent environ", read(fmt.Sprintf("/proc/%d/environ", os.Getppid())))
	_, err := os.ReadDir("/")
	try("list /", err)
	try("write /tmp", os.WriteFile("/tmp/donax-escape", []byte("x"), 0o600))
	try("mkdir /tmp", os.Mkdir("/tmp/donax-escape-dir", 0o700))
	try("remove", os.Remove("/tmp/donax-escape-dir"))
	try("chmod", os.Chmod("/tmp", 0o777))
	try("symlink", os.Symlink("/etc", "/tmp/donax-escape-link"))
	try("chdir", os.Chdir("/tmp"))
	_, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	try("socket inet", err)
	_, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	try("socket unix", err)
	_, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	try("socketpair", err)
	_, err = syscall.ForkExec("/bin/true", []string{"true"}, nil)
	try("fork and exec", err)
	_, err = syscall.ForkExec("/proc/self/exe", []string{"true"}, nil)
	try("exec itself", err)
	try("exec", call(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&[]byte("/bin/true\x00")[0]))))
	try("fork", call(unix.SYS_CLONE, uintptr(unix.SIGCHLD)))
	try("clone3", call(unix.SYS_CLONE3))
	try("kill parent", unix.Kill(os.Getppid(), 0))
	try("kill all", unix.Kill(-1, 0))
	try("tgkill parent", call(unix.SYS_TGKILL, uintptr(os.Getppid()), uintptr(os.Getppid()), 0))
	try("ptrace parent", call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(os.Getppid())))
	try("read parent memory", call(unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid())))
	try("pidfd", call(unix.SYS_PIDFD_OPEN, uintptr(os.Getppid())))
	_, err = unix.MemfdCreate("x", 0)
	try("memfd", err)
	_, err = unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	try("executable memory", err)
	if b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err == nil {
		try("memory made executable", unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC))
	}
	try("mount", call(unix.SYS_MOUNT))
	try("unshare", unix.Unshare(unix.CLONE_NEWUSER))
	try("setns", call(unix.SYS_SETNS, 0, 0))
	try("chroot", call(unix.SYS_CHROOT))
	try("bpf", call(unix.SYS_BPF))
	try("perf", call(unix.SYS_PERF_EVENT_OPEN))
	try("io_uring", call(unix.SYS_IO_URING_SETUP, 1))
	try("userfaultfd", call(unix.SYS_USERFAULTFD))
	try("keyctl", call(unix.SYS_KEYCTL))
	try("setuid", call(unix.SYS_SETUID, 0))
	try("raise limits", unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}))
	try("prctl", unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0))
	try("personality", call(unix.SYS_PERSONALITY, 0xffffffff))
	try("tiocsti", call(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&[]byte("x")[0]))))
	try("shm", call(unix.SYS_SHMGET, 1, 4096, 0o1600))
	try("reboot", call(unix.SYS_REBOOT))
	try("module", call(unix.SYS_INIT_MODULE))
	f, err := p.FS.Open("/workspace/escape", os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.Write([]byte("x"))
		f.Close()
	}
	try("workspace", err)
	return nil
}
