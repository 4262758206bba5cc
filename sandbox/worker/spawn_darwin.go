package worker

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A spawner starts workers. This system knows no death signal: a worker ends
// when its socket does.
type spawner struct{}

func newSpawner([]string) (*spawner, error) { return &spawner{}, nil }

func (*spawner) close() {}

func (*spawner) findings() []Finding { return nil }

func (*spawner) spawn(argv []string, stderr io.Writer) (*exec.Cmd, io.ReadWriteCloser, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	syscall.ForkLock.RLock() // or a process that starts now would inherit the socket
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			err = unix.SetNonblock(fd, true)
		}
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "server")
	defer theirs.Close()
	cmd := &exec.Cmd{
		Path: self, Args: argv, Env: []string{}, Dir: "/", Stderr: stderr, ExtraFiles: []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, nil, err
	}
	return cmd, ours, nil
}

func machineMax() int {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 8
	}
	return maxWorkers(total)
}
