package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errStart is matched by the error of a server that could not be started.
var errStart = errors.New("cannot be started")

// grace is how long a server may take to end once its stdin is closed, and
// again after it was asked to terminate.
const grace = time.Second

// process is a transport over the standard streams of a child process. Each
// Connect starts a fresh one.
type process struct {
	cfg  *Config
	last *running
}

// running is one child process and the connection to it.
type running struct {
	cfg    *Config
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	stderr *keeper

	incoming chan jsonrpc.Message
	outgoing chan []byte
	close    sync.Once
	closing  chan struct{} // closed when Close begins
	read     chan struct{} // closed when the reader has ended
	heard    chan struct{} // closed when all of stderr is kept, or no more is waited for
	ended    chan struct{} // closed when the process has ended and its group is killed
}

// Connect implements [mcp.Transport].
func (p *process) Connect(context.Context) (mcp.Connection, error) {
	if p.last != nil {
		_ = p.last.Close() // a probe that failed
	}
	path, err := lookPath(p.cfg.Command[0], p.cfg.Env)
	if err != nil {
		return nil, fmt.Errorf("%s %w: %w", p.cfg.Command[0], errStart, err)
	}
	r := &running{
		cfg: p.cfg, stderr: &keeper{to: p.cfg.Stderr}, incoming: make(chan jsonrpc.Message), outgoing: make(chan []byte),
		closing: make(chan struct{}), read: make(chan struct{}), heard: make(chan struct{}), ended: make(chan struct{}),
	}
	r.cmd = &exec.Cmd{Path: path, Args: p.cfg.Command, Dir: p.cfg.Dir, Env: p.cfg.Env, SysProcAttr: ownGroup()}
	if r.cmd.Env == nil {
		r.cmd.Env = []string{} // nil would inherit ours
	}
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	var childOut, childErr *os.File
	if r.out, childOut, err = os.Pipe(); err != nil {
		return nil, err
	}
	errOut, childErr, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, r.out.Close(), childOut.Close())
	}
	r.cmd.Stdout, r.cmd.Stderr = childOut, childErr
	err = r.start()
	_ = childOut.Close()
	_ = childErr.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s %w: %w", p.cfg.Command[0], errStart, err), r.out.Close(), errOut.Close())
	}
	p.last = r
	go func() { _, _ = io.Copy(r.stderr, errOut); _ = errOut.Close(); close(r.heard) }()
	go r.reader()
	go r.writer()
	go func() {
		<-r.ended
		late := time.After(grace)
		for _, all := range []chan struct{}{r.read, r.heard} { // what it had written is still read, unless somebody else holds the stream
			select {
			case <-all:
			case <-late:
				late = time.After(0)
			}
		}
		_ = r.out.Close()
		_ = errOut.Close()
	}()
	return r, nil
}

// start starts the process on a thread of its own, which stays until the
// process has ended: the kernel takes the end of the thread that started a
// child for that of its parent.
func (r *running) start() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := r.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_, _ = r.cmd.Process.Wait()
		killGroup(r.cmd.Process.Pid) // what it left behind
		close(r.ended)
	}()
	return <-started
}

func (r *running) reader() {
	defer close(r.read)
	l := &lines{newReader(r.out), r.cfg.Limits.Message}
	for {
		line, err := l.next()
		var long *longLine
		if errors.As(err, &long) {
			r.cfg.Logf("a message longer than %d bytes was dropped", r.cfg.Limits.Message)
			if line = tooLong(long.head, long.tail, r.cfg.Limits.Message); line == nil {
				continue
			}
		} else if err != nil {
			return
		}
		if line[0] != '{' {
			r.cfg.Logf("skipped a line that is no message: %.200q", line)
			continue
		}
		m, err := jsonrpc.DecodeMessage(plain(line))
		if err != nil {
			r.cfg.Logf("skipped a line that is no message: %.200q", line)
			continue
		}
		select {
		case r.incoming <- m:
		case <-r.closing:
			return
		}
	}
}

// writer writes on its own, so that a server that does not read holds up
// nobody but its own calls.
func (r *running) writer() {
	for {
		select {
		case b := <-r.outgoing:
			if _, err := r.in.Write(b); err != nil {
				return
			}
		case <-r.closing:
			return
		case <-r.ended:
			return
		}
	}
}

// Read implements [mcp.Connection].
func (r *running) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-r.incoming:
		return m, nil
	case <-r.read:
		return nil, io.EOF
	case <-r.closing:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection].
func (r *running) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	select {
	case r.outgoing <- append(b, '\n'):
		return nil
	case <-r.read:
	case <-r.closing:
	case <-ctx.Done():
		return ctx.Err()
	}
	return io.ErrClosedPipe
}

// SessionID implements [mcp.Connection].
func (*running) SessionID() string { return "" }

// Close implements [mcp.Connection]: it ends the process, politely at first,
// and then everything that it started.
func (r *running) Close() error {
	r.close.Do(func() {
		close(r.closing)
		_ = r.in.Close()
		for _, end := range []func(int){func(int) {}, terminateGroup, killGroup} {
			end(r.cmd.Process.Pid)
			select {
			case <-r.ended:
				return
			case <-time.After(grace):
			}
		}
	})
	return nil
}

// explain says how the process ended and what it said last.
func (p *process) explain(err error) error {
	r := p.last
	if r == nil || errors.Is(err, errStart) {
		return err
	}
	_ = r.Close()
	select {
	case <-r.heard: // soon, see Connect, unless the process cannot be ended
	case <-time.After(2 * grace):
	}
	return &StartError{Err: err, Stderr: r.stderr.text()}
}

// A StartError is a server process that was started and could not be talked to.
type StartError struct {
	Err    error
	Stderr string // the end of what the process wrote there; for the operator, it may hold anything
}

func (e *StartError) Error() string {
	if e.Stderr == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "; its stderr ends with: " + e.Stderr
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// keeper passes on what is written and keeps the end of it.
type keeper struct {
	to io.Writer

	mu  sync.Mutex
	end []byte
}

func (k *keeper) Write(p []byte) (int, error) {
	const most = 2 << 10
	k.mu.Lock()
	k.end = append(k.end, p[max(0, len(p)-most):]...)
	k.end = k.end[max(0, len(k.end)-most):]
	k.mu.Unlock()
	if k.to != nil {
		_, _ = k.to.Write(p) // a log that fails is no reason to block the server
	}
	return len(p), nil
}

func (k *keeper) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.TrimSpace(string(k.end))
}

// lookPath finds a program as a shell with the given environment would.
func lookPath(name string, env []string) (string, error) {
	dirs := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			dirs = v
		}
	}
	if dirs == "" || strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(dirs) {
		if !filepath.IsAbs(dir) {
			continue // a program of the current folder is never meant
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no %s in PATH", name)
}
