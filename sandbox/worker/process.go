package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// maxStderr is how much is kept of what a worker writes to stderr.
const maxStderr = 8 << 10

// maxAsked is how many requests of one worker are answered at a time.
const maxAsked = 64

// A process is one worker as the server sees it.
type process struct {
	cfg    *Config
	limits Limits
	epoch  func() uint64
	conn   *conn
	cmd    *exec.Cmd
	slay   func() // kills the process; it may be dead
	stderr *head
	files  *hostFiles
	found  []Finding // what the jail holds
	asked  chan struct{}
	looked time.Time // when worn last looked
	born   time.Time

	session *sandbox.Session // of whoever has the process; set before its first line
	heard   atomic.Int64     // messages that came

	gone chan struct{} // closed when the process has been reaped
	lost *LostError    // set before gone is closed

	mu       sync.Mutex
	next     uint32
	runs     map[uint32]*serverRun
	inspects map[uint32]chan *decoder
	calls    map[callKey]*toolCall
	fetching int // requests to the network
	broke    bool
	sent     uint64 // the epoch that the worker knows

	answers sync.WaitGroup
}

// Config configures a [Pool].
type Config struct {
	// Argv starts this program as a worker; it must lead to Serve. Argv[0] is
	// the name that it is told, the file is always that of the process itself.
	Argv []string

	Isolation Isolation // PerTerminal or PerSession
	Limits    Limits

	Setup  Setup            // without what the pool knows itself: Version, Mounts and limits
	Mounts []vfs.MountPoint // the files of the session; /bin and /dev are each worker's own
	Policy policy.Engine    // asked before anything takes effect; nil denies everything

	// Lookup finds programs that run in the server, since they need what no
	// worker has, and Session runs them. Without Lookup /bin is each worker's
	// own, and else it is to be among Mounts. Session makes the requests of
	// lines to the network, too, and without it there is none.
	Lookup  func(name string) sandbox.Program
	Session *sandbox.Session

	// Home gives what a principal reaches instead of Mounts and Session, which
	// everybody shares when it is nil. It is called when a worker becomes that
	// of a principal, while others wait for workers.
	Home func(policy.Principal) (Home, error)

	// Raise is that of sandbox.Config, for what the server itself says.
	Raise func(flag string, lowered bool) string

	Log func(string) // is told what an operator should know of workers; nil means nobody
}

// A Home is what the lines of one principal reach.
type Home struct {
	Mounts  []vfs.MountPoint // at the paths of Config.Mounts, with their modes, in that order
	Session *sandbox.Session
}

// raise says how to raise what a flag of the donax command sets.
func (c *Config) raise(flag string) string {
	if c.Raise == nil {
		return "raise with " + flag
	}
	return c.Raise(flag, false)
}

// start starts a worker and waits until it is ready.
func start(ctx context.Context, cfg *Config, l Limits, sp *spawner, epoch func() uint64) (*process, error) {
	p := &process{
		cfg: cfg, limits: l, epoch: epoch, stderr: &head{},
		asked: make(chan struct{}, maxAsked), gone: make(chan struct{}), born: time.Now(), session: cfg.Session,
		runs: map[uint32]*serverRun{}, inspects: map[uint32]chan *decoder{}, calls: map[callKey]*toolCall{},
	}
	var err error
	if p.files, err = newHostFiles(cfg.Mounts, p); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	cmd, rw, err := sp.spawn(cfg.Argv, p.stderr)
	if err != nil {
		return nil, fmt.Errorf("worker: cannot start: %w", err)
	}
	p.cmd, p.conn, p.slay = cmd, newConn(rw), func() { _ = cmd.Process.Kill() }
	s := cfg.Setup
	s.Lookup, s.Relay = cfg.Lookup != nil, cfg.Session != nil
	s.Version, s.MemoryLimit, s.CPULimit, s.Procs = Version, l.Memory, int64(l.CPU/time.Second), procs()
	for _, m := range cfg.Mounts {
		s.Mounts = append(s.Mounts, Mount{m.Path, m.Mode})
	}
	body, err := json.Marshal(s)
	if err != nil {
		return nil, errors.Join(err, p.kill())
	}
	e := newEncoder(len(body))
	e.b = append(e.b, body...)
	ready := make(chan error, 1)
	go func() {
		if err := p.conn.send(kindSetup, 0, e); err != nil {
			ready <- err
			return
		}
		f, err := readFrame(p.conn.in)
		if err == nil && (f.kind != kindReady || json.Unmarshal(f.body, &p.found) != nil) {
			err = errProtocol
		}
		ready <- err
	}()
	limit := time.NewTimer(l.Start)
	defer limit.Stop()
	select {
	case err = <-ready:
	case <-limit.C:
		err = fmt.Errorf("it was not ready after %v", l.Start)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		_ = p.kill()
		if text := p.stderr.String(); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return nil, fmt.Errorf("worker: cannot start: %w", err)
	}
	go p.serve()
	return p, nil
}

// kill ends a process that is not served yet.
func (p *process) kill() error {
	p.conn.close()
	p.end()
	_ = p.cmd.Wait() // how it ended does not matter
	return nil
}

// end kills the process, from any goroutine; gone tells when it is dead.
func (p *process) end() { p.slay() }

// serve reads what the worker sends until it is gone, and buries it.
func (p *process) serve() {
	err := p.read()
	if errors.Is(err, errProtocol) {
		p.mu.Lock()
		p.broke = true
		p.mu.Unlock()
		p.log(fmt.Sprintf("a worker was killed: %v", err))
	}
	p.end()          // a worker that has closed its socket has nothing left to do
	_ = p.cmd.Wait() // how it ended is in ProcessState
	p.conn.close()
	p.mu.Lock()
	e := ending{code: p.cmd.ProcessState.ExitCode(), signal: signalOf(p.cmd.ProcessState), stderr: p.stderr.String(), broke: p.broke}
	p.mu.Unlock()
	e.cpu = p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	p.lost = e.lost(p.limits, p.cfg.raise("--memory"))
	close(p.gone)
	p.files.closeAll()
	p.answers.Wait() // one may still wait for the caller's input
	p.files.closeAll()
}

func (p *process) log(text string) {
	if p.cfg.Log != nil {
		p.cfg.Log(text)
	}
}

// alive reports whether the process can still take work.
func (p *process) alive() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// read takes the worker's messages apart. Its error is the reason for its end.
func (p *process) read() error {
	for {
		f, err := readFrame(p.conn.in)
		if err != nil {
			return err
		}
		p.heard.Add(1)
		d := &decoder{b: f.body}
		switch f.kind {
		case kindDecide, kindInput, kindFile, kindLookup, kindCall, kindStep, kindDone, kindFetch, kindUpload:
			p.asked <- struct{}{}
			p.answers.Go(func() {
				defer func() { <-p.asked }()
				if err := p.answer(f.kind, f.id, d); err != nil {
					p.mu.Lock()
					p.broke = true
					p.mu.Unlock()
					p.log(fmt.Sprintf("a worker was killed: %v", err))
					p.end()
				}
			})
			continue
		case kindOutput:
			r := p.running(f.id)
			if r == nil || len(f.body) == 0 || (f.body[0] != 1 && f.body[0] != 2) {
				return fmt.Errorf("%w: output of nothing that runs", errProtocol)
			}
			if !r.put(f.body[0], f.body[1:]) {
				return fmt.Errorf("%w: more output than was asked for", errProtocol)
			}
			continue
		case kindBegun:
			if p.running(f.id) == nil {
				return fmt.Errorf("%w: the beginning of nothing", errProtocol)
			}
			continue
		case kindInspected:
			p.mu.Lock()
			ch := p.inspects[f.id]
			delete(p.inspects, f.id)
			p.mu.Unlock()
			if ch == nil {
				return fmt.Errorf("%w: facts of nothing", errProtocol)
			}
			ch <- d
			continue
		case kindExit:
			p.mu.Lock()
			r := p.runs[f.id]
			delete(p.runs, f.id)
			p.mu.Unlock()
			if r == nil {
				return fmt.Errorf("%w: the end of nothing", errProtocol)
			}
			r.status, r.err = d.small(255), d.error()
			if err := d.end(); err != nil {
				return err
			}
			close(r.exited)
			continue
		}
		return fmt.Errorf("%w: a frame of kind %d", errProtocol, f.kind)
	}
}

func (p *process) running(id uint32) *serverRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[id]
}

// errStale says that a process was dead before it began what it was given.
var errStale = errors.New("the worker was gone already")

// stale reports whether a process that is gone was killed from outside before
// it began something that was wanted at began: whoever wants that goes on with
// another process, since nothing has been done. One that was started since then
// is not spared, or what kills every worker would have no end.
func (p *process) stale(began time.Time, heard int64) bool {
	return p.lost.Sig != "" && p.born.Before(began) && p.heard.Load() == heard
}

// busy reports whether the server has given the worker something to do.
func (p *process) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.runs)+len(p.inspects) > 0
}

// A head keeps the beginning of what is written to it.
type head struct {
	mu sync.Mutex
	b  []byte
}

func (t *head) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.b) < maxStderr { // the first words of a crash say why; goroutines follow
		t.b = append(t.b, p[:min(len(p), maxStderr-len(t.b))]...)
	}
	return len(p), nil
}

func (t *head) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

var _ io.Writer = (*head)(nil)

// worn reports whether the process should not be used again, because it has
// used a good part of its CPU time or of its memory. It looks once a second at
// most, and is not called from two goroutines.
func (p *process) worn() bool {
	now := time.Now()
	if now.Sub(p.looked) < time.Second {
		return false
	}
	p.looked = now
	cpu, memory, ok := usageOf(p.cmd.Process.Pid)
	return ok && (cpu > p.limits.CPU/4 || memory > p.limits.Memory/2)
}
