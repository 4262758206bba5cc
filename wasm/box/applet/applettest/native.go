package applettest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// childMark in the environment makes a test's executable a command: see Main.
const childMark = "DONAX_APPLET_CHILD=1"

// Main is called from TestMain of a package that uses [Native], and runs the
// tests. When the executable was started by a case, as the child of env or
// timeout, it is the command that its name says, and nothing else.
func Main(m *testing.M, commands []*applet.Command) {
	if os.Getenv("DONAX_APPLET_CHILD") == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv("DONAX_APPLET_CHILD")
	cmd := find(commands, os.Args[0])
	if cmd == nil {
		os.Exit(127)
	}
	out := bufio.NewWriterSize(os.Stdout, applet.BufSize)
	c := &applet.Ctx{Cmd: cmd, Args: os.Args[1:], Stdin: os.Stdin, Stdout: out, Stderr: os.Stderr}
	c.Procs = newProcs(commands, os.Stdin, os.Stdout, os.Stderr)
	os.Exit(applet.Run(c))
}

func find(commands []*applet.Command, name string) *applet.Command {
	for _, c := range commands {
		if c := c.Called(name); c != nil {
			return c
		}
	}
	return nil
}

// Native runs commands in this process. Working directory and environment are
// those of the process, so its cases do not run in parallel.
func Native(commands []*applet.Command) Runner {
	return Runner{
		Name: "native",
		Missing: func(command string) string {
			if find(commands, command) == nil {
				return "no command " + command
			}
			return ""
		},
		Run: func(t testing.TB, inv Invocation) Result { return runNative(t, commands, inv) },
	}
}

func runNative(t testing.TB, commands []*applet.Command, inv Invocation) Result {
	env, wd := os.Environ(), ""
	wd, err := os.Getwd()
	if err == nil {
		err = os.Chdir(inv.Dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	setEnv(inv.Env)
	defer func() {
		os.Chdir(wd)
		setEnv(env)
	}()
	var stdout, stderr collector
	outW, outDone := stdout.pipe(t)
	errW, errDone := stderr.pipe(t)
	c := &applet.Ctx{
		Cmd:    find(commands, inv.Args[0]),
		Args:   inv.Args[1:],
		Stdin:  inv.Stdin,
		Stdout: bufio.NewWriterSize(outW, applet.BufSize),
		Stderr: errW,
		Procs:  newProcs(commands, inv.Stdin, outW, errW),
	}
	status := applet.Run(c)
	outW.Close()
	errW.Close()
	<-outDone
	<-errDone
	return Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Status: status}
}

func setEnv(env []string) {
	os.Clearenv()
	for _, e := range env {
		k, v, _ := strings.Cut(e, "=")
		os.Setenv(k, v)
	}
}

// collector keeps what is written into a pipe, which children can inherit.
type collector struct{ bytes.Buffer }

// most is what a collector takes: a case that writes without end meets a
// closed pipe.
const most = 64 << 20

func (b *collector) pipe(t testing.TB) (w *os.File, done chan struct{}) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done = make(chan struct{})
	go func() {
		io.CopyN(b, r, most)
		r.Close()
		close(done)
	}()
	return w, done
}

// procs starts commands as processes: this executable again.
type procs struct {
	commands         []*applet.Command
	stdin, out, errs *os.File
	mu               sync.Mutex
	ended            map[int]chan int // by pid; guarded by mu
	running          map[int]*os.Process
}

func newProcs(commands []*applet.Command, stdin, stdout, stderr *os.File) *procs {
	return &procs{commands: commands, stdin: stdin, out: stdout, errs: stderr,
		ended: map[int]chan int{}, running: map[int]*os.Process{}}
}

func (p *procs) Start(ch applet.Child) (int, error) {
	if find(p.commands, ch.Args[0]) == nil {
		return 0, syscall.ENOENT
	}
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	env := ch.Env
	if env == nil {
		env = os.Environ()
	}
	stdin := ch.Stdin
	if stdin == os.Stdin {
		stdin = p.stdin
	}
	if stdin == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return 0, err
		}
		defer null.Close()
		stdin = null
	}
	stdout, stderr := ch.Stdout, ch.Stderr
	if stdout == nil {
		stdout = p.out
	}
	if stderr == nil {
		stderr = p.errs
	}
	proc, err := os.StartProcess(exe, ch.Args, &os.ProcAttr{
		Dir: ch.Dir, Env: append([]string{childMark}, env...), Files: []*os.File{stdin, stdout, stderr}})
	if err != nil {
		return 0, err
	}
	end := make(chan int, 1)
	p.mu.Lock()
	p.ended[proc.Pid], p.running[proc.Pid] = end, proc
	p.mu.Unlock()
	go func() {
		st, err := proc.Wait()
		switch {
		case err != nil:
			end <- 125
		case st.ExitCode() < 0:
			end <- 128 + int(st.Sys().(syscall.WaitStatus).Signal())
		default:
			end <- st.ExitCode()
		}
	}()
	return proc.Pid, nil
}

func (p *procs) Wait(pid int, timeoutNS int64) (int, int, error) {
	var expired <-chan time.Time
	if timeoutNS > 0 {
		expired = time.After(time.Duration(timeoutNS))
	}
	for {
		p.mu.Lock()
		for id, end := range p.ended {
			if pid != -1 && pid != id {
				continue
			}
			select {
			case status := <-end:
				delete(p.ended, id)
				delete(p.running, id)
				p.mu.Unlock()
				return id, status, nil
			default:
			}
		}
		p.mu.Unlock()
		select {
		case <-expired:
			return 0, 0, syscall.ETIMEDOUT
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (p *procs) Kill(pid, signal int) error {
	p.mu.Lock()
	proc := p.running[pid]
	p.mu.Unlock()
	if proc == nil {
		return syscall.ESRCH
	}
	return proc.Signal(syscall.Signal(signal))
}
