package worker

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces are what a worker gets of its own where the kernel lets it: no
// network but a loopback that is down, no capability, no shared memory.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// A spawner starts processes from one thread that does nothing else. The
// system ties the death signal of a child to the thread that started it, and
// Landlock to the thread that asked for it: so the thread restricts itself
// first, and every worker is born restricted.
type spawner struct {
	jobs chan func()
	null *os.File

	landlock Finding // set before the first job runs

	once       sync.Once
	namespaces Finding
	flags      uintptr
}

// newSpawner starts the thread. Its children may read what is below readable,
// and nothing else.
func newSpawner(readable []string) (*spawner, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s := &spawner{jobs: make(chan func()), null: null, flags: namespaces}
	go func() {
		// Never unlocked: a thread that was restricted must serve nobody else,
		// and its end is the end of all workers.
		runtime.LockOSThread()
		yieldThread()
		s.landlock = restrictThread(readable)
		for job := range s.jobs {
			job()
		}
	}()
	return s, nil
}

// niceness is how far workers give way to their server: it answers its clients
// also while lines take all the CPU there is.
const niceness = 5

// yieldThread makes what the calling thread starts give way.
func yieldThread() {
	now, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err == nil { // the system call tells 20 less the niceness
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(19, 20-now+niceness)) // without it lines only compete
	}
}

// close ends the thread, and with it what it started.
func (s *spawner) close() {
	close(s.jobs)
	_ = s.null.Close() // it was never written
}

// spawn starts a worker and returns the server's end of the socket.
func (s *spawner) spawn(argv []string, stderr io.Writer) (cmd *exec.Cmd, rw io.ReadWriteCloser, err error) {
	done := make(chan struct{})
	s.jobs <- func() {
		defer close(done)
		cmd, rw, err = s.fork(argv, stderr, s.flags)
		if err != nil && s.flags != 0 {
			refused := err
			if cmd, rw, err = s.fork(argv, stderr, 0); err == nil {
				s.flags = 0
				s.once.Do(func() { s.namespaces = Finding{Name: "namespaces", Detail: "refused: " + refused.Error()} })
			}
			return
		}
		if err == nil {
			s.once.Do(func() { s.namespaces = Finding{Name: "namespaces", OK: true, Detail: "user, net, ipc, uts"} })
		}
	}
	<-done
	if err == nil {
		if err = tellPages(rw.(*os.File), cmd.Process.Pid); err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			rw.Close()
		}
	}
	return cmd, rw, err
}

// findings are what holds for every worker of this spawner.
func (s *spawner) findings() []Finding { return []Finding{s.landlock, s.namespaces} }

func (s *spawner) fork(argv []string, stderr io.Writer, flags uintptr) (*exec.Cmd, io.ReadWriteCloser, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "server")
	defer theirs.Close()
	cmd := &exec.Cmd{
		Path:       "/proc/self/exe", // this very program, also when its file was replaced
		Args:       argv,
		Env:        []string{},
		Dir:        "/",
		Stdin:      s.null,
		Stdout:     s.null,
		Stderr:     stderr,
		ExtraFiles: []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{
			Pdeathsig:  syscall.SIGKILL,
			Setpgid:    true, // a ^C at the terminal is for the server
			Cloneflags: flags,
		},
	}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, nil, err
	}
	return cmd, ours, nil
}

// machineMax is how many workers this machine has memory for.
func machineMax() int {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return 8
	}
	return maxWorkers(uint64(si.Totalram) * uint64(si.Unit))
}
