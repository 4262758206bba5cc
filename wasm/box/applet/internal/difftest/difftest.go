// Package difftest runs shell lines twice in a test, once with the box's
// commands and once with the tools of the machine, and compares what they
// print and return.
package difftest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Main is a package's TestMain: when the test binary was started under the
// name of a command, it is that command.
func Main(m *testing.M, commands ...*applet.Command) {
	for _, c := range commands {
		if c := c.Called(os.Args[0]); c != nil {
			os.Exit(Run(c, os.Args[1:]))
		}
	}
	os.Exit(m.Run())
}

// Run runs a command on the process's own streams.
func Run(c *applet.Command, args []string) int {
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	status := c.Run(&applet.Ctx{Cmd: c, Args: args, Stdin: os.Stdin, Stdout: out, Stderr: os.Stderr, Procs: &procs{}})
	if err := out.Flush(); err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(os.Stderr, "%s: write error\n", c.Name)
		return 1
	}
	return status
}

// Result is what a line printed and returned.
type Result struct {
	Stdout, Stderr string
	Status         int
	Tree           string // the files left, with their contents
}

// A Suite is a set of lines over the same files.
type Suite struct {
	Commands []string // the names that the test binary stands in for
	Setup    string   // a shell script that makes the files, if there are any
	// Same rewrites what the box and the tool print before they are compared,
	// for differences that are meant.
	Same func(line, text string) string
	// Stderr compares diagnostics too.
	Stderr bool
}

// Run compares each line.
func (s Suite) Run(t *testing.T, lines ...string) {
	t.Helper()
	for _, c := range append([]string{"bash"}, s.Commands...) {
		if _, err := exec.LookPath(c); err != nil {
			if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
				t.Fatalf("%s is required and not installed", c)
			}
			t.Skipf("%s is not installed", c)
		}
	}
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Commands {
		if err := os.Symlink(self, filepath.Join(bin, c)); err != nil {
			t.Fatal(err)
		}
	}
	wants := s.all(t, lines, "")
	gots := s.all(t, lines, bin)
	for i, line := range lines {
		want, got := wants[i], gots[i]
		if got.Stdout != want.Stdout {
			t.Errorf("%s\nstdout: %q\nwant:   %q", line, got.Stdout, want.Stdout)
		}
		if got.Status != want.Status {
			t.Errorf("%s\nstatus %d, want %d; stderr %q, want %q", line, got.Status, want.Status, got.Stderr, want.Stderr)
		}
		if s.Stderr && got.Stderr != want.Stderr {
			t.Errorf("%s\nstderr: %q\nwant:   %q", line, got.Stderr, want.Stderr)
		}
		if got.Tree != want.Tree {
			t.Errorf("%s\nfiles:\n%s\nwant:\n%s", line, got.Tree, want.Tree)
		}
	}
}

// driver runs each of its arguments in a folder of its own, a copy of what the
// script SETUP made, and leaves what came of it beside that folder.
const driver = `
mkdir -p made/w
( cd made/w; eval "$SETUP" ) || exit 99
n=0
for line; do
	[ -e $n ] || cp -a made $n || exit 99
	( cd $n/w; ulimit -t 10; eval "$line" ) >out.$n 2>err.$n </dev/null
	echo $? >rc.$n
	n=$((n+1))
done`

func (s Suite) all(t *testing.T, lines []string, bin string) []Result {
	t.Helper()
	dir := t.TempDir()
	if s.Setup == "" {
		for i := range lines {
			if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i), "w"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", driver, "bash"}, lines...)...)
	path := os.Getenv("PATH")
	if bin != "" {
		path = bin + ":" + path
	}
	cmd.Dir = dir
	cmd.Env = []string{"LC_ALL=C.UTF-8", "TZ=UTC", "HOME=/nonexistent", "USER=user", "SETUP=" + s.Setup, "PATH=" + path}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	results := make([]Result, len(lines))
	for i, line := range lines {
		read := func(name string) string {
			data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s.%d", name, i)))
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		r := Result{Stdout: read("out"), Stderr: read("err")}
		fmt.Sscan(read("rc"), &r.Status)
		r.Tree = tree(filepath.Join(dir, fmt.Sprintf("%d/w", i)))
		if s.Same != nil {
			r.Stdout, r.Stderr = s.Same(line, r.Stdout), s.Same(line, r.Stderr)
		}
		results[i] = r
	}
	return results
}

func archive(name string) bool {
	switch filepath.Ext(name) {
	case ".gz", ".tgz", ".tar", ".zip", ".bz2":
		return true
	}
	return false
}

func tree(dir string) string {
	var b strings.Builder
	filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(dir, p)
		switch {
		case archive(rel): // no two tools write the same bytes
			fmt.Fprintf(&b, "%s\n", rel)
		case e.Type().IsRegular():
			data, _ := os.ReadFile(p)
			fmt.Fprintf(&b, "%s %q\n", rel, data)
		case e.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			fmt.Fprintf(&b, "%s -> %s\n", rel, to)
		default:
			fmt.Fprintf(&b, "%s/\n", rel)
		}
		return nil
	})
	return b.String()
}

// procs starts children on the machine: it stands for the sandbox in native
// tests.
type procs struct {
	mu   sync.Mutex
	cmds map[int]*exec.Cmd
	done chan ended
}

type ended struct{ pid, status int }

func (p *procs) Start(c applet.Child) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmds == nil {
		p.cmds = map[int]*exec.Cmd{}
		p.done = make(chan ended, 1000)
	}
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return 0, syscall.EACCES
		}
		return 0, syscall.ENOENT
	}
	cmd := &exec.Cmd{Path: path, Args: c.Args, Env: c.Env, Dir: c.Dir, Stdout: os.Stdout, Stderr: os.Stderr}
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	if err := cmd.Start(); err != nil {
		return 0, syscall.ENOENT
	}
	pid := cmd.Process.Pid
	p.cmds[pid] = cmd
	go func() {
		cmd.Wait()
		status := cmd.ProcessState.ExitCode()
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			status = 128 + int(ws.Signal())
		}
		p.done <- ended{pid, status}
	}()
	return pid, nil
}

func (p *procs) Wait(pid int, timeoutNS int64) (int, int, error) {
	var limit <-chan time.Time
	if timeoutNS > 0 {
		limit = time.After(time.Duration(timeoutNS))
	}
	for {
		select {
		case e := <-p.done:
			if pid == -1 || e.pid == pid {
				return e.pid, e.status, nil
			}
			p.done <- e
			time.Sleep(time.Millisecond)
		case <-limit:
			return 0, 0, syscall.ETIMEDOUT
		}
	}
}

func (p *procs) Kill(pid, signal int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cmd := p.cmds[pid]; cmd != nil {
		return cmd.Process.Signal(syscall.Signal(signal))
	}
	return syscall.ESRCH
}
