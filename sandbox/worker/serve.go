package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// maxStack is how far the stack of one goroutine may grow: runaway recursion
// then ends the worker at once instead of filling its memory.
const maxStack = 64 << 20

// lockDelay is how long a worker waits before it prepares what the first
// commands do not need and gives up making machine code.
const lockDelay = 2 * time.Second

// wideDelay is how long a worker has lines until it uses more than one
// processor: most lines have ended by then, and what wakes a second thread for
// them costs more than it brings.
const wideDelay = 10 * time.Millisecond

// restDelay is how long a worker is without a line before it gives memory back.
const restDelay = 500 * time.Millisecond

// An inside is the worker's end of the socket.
type inside struct {
	conn    *conn
	pagemap *os.File // as of Setup
	session *sandbox.Session
	dir     string // its working folder
	engine  *engine

	mu     sync.Mutex
	runs   map[uint32]*insideRun
	shells map[uint32]*sandbox.Shell
	called counter
	wide   *time.Timer // lets what runs use more processors; guarded by mu
	rest   *time.Timer // takes them and gives memory back while nothing runs; guarded by mu

	fetches chan struct{} // one for each request to the network under way
}

// A lineRunner is the session, or a shell of it that is kept.
type lineRunner interface {
	Inspect(context.Context, policy.Command) (policy.Command, error)
	Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error)
}

// shell returns the kept shell with this number, which is made when it is
// first named, or the session for 0.
func (w *inside) shell(id uint32) lineRunner {
	if id == 0 {
		return w.session
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shells[id] == nil {
		w.shells[id] = w.session.NewShell()
	}
	return w.shells[id]
}

// Serve is the worker: it takes the socket that the server left it, puts
// itself into the jail, and runs what the server asks for until the server is
// gone. open gives the programs; it is called inside the jail. Serve returns
// the exit status of the process.
func Serve(open func(Setup) (Programs, error)) int {
	debug.SetMaxStack(maxStack)
	debug.SetTraceback("single") // what the server keeps of a crash is short
	pagemap, err := hearPages(3)
	if err != nil {
		println("worker:", err.Error()) // stderr is the server's log
		return 2
	}
	rw, err := socket()
	if err != nil {
		println("worker:", err.Error())
		return 2
	}
	w := &inside{conn: newConn(rw), pagemap: pagemap, runs: map[uint32]*insideRun{}, shells: map[uint32]*sandbox.Shell{}}
	if err := w.open(open); err != nil {
		println("worker:", err.Error())
		return 2
	}
	err = w.loop()
	if errors.Is(err, errProtocol) {
		println("worker:", err.Error())
		return 2
	}
	return 0
}

// open reads the setup, locks the jail and says that the worker is ready.
func (w *inside) open(open func(Setup) (Programs, error)) error {
	f, err := readFrame(w.conn.in)
	if err != nil {
		return err
	}
	var s Setup
	if err := json.Unmarshal(f.body, &s); err != nil || f.kind != kindSetup || s.Version != Version {
		return fmt.Errorf("%w: setup of version %d, want %d: %v", errProtocol, s.Version, Version, err)
	}
	s.Pagemap = w.pagemap
	narrow()
	// Collect more often rather than die, as long as that can help.
	debug.SetMemoryLimit(min(s.MemoryLimit*3/4, s.Limits.Heap()))
	found := jail(s)
	p, err := open(s)
	if err != nil {
		return err
	}
	ns, err := s.namespace(w.conn, p.List)
	if err != nil {
		return err
	}
	w.engine, w.dir = &engine{conn: w.conn}, path.Clean(cmp.Or(s.Dir, "/"))
	cfg := sandbox.Config{FS: ns, Programs: p.List, Policy: w.engine, Limits: s.Limits, Env: s.Env, Dir: s.Dir, RC: s.RC, RCName: s.RCName, Posix: s.Posix, Raise: p.Raise}
	cfg.Load = func(context.Context, sandbox.Module) (sandbox.Program, error) { return nil, errModule }
	if s.Lookup {
		cfg.Lookup = w.lookup
	}
	if s.Relay {
		w.fetches = make(chan struct{}, maxFetches)
		cfg.Relay = w.fetch
	}
	w.session, err = sandbox.New(cfg)
	if err != nil {
		return err
	}
	if p.Load != nil {
		if err := p.Load(context.Background()); err != nil {
			return err
		}
	}
	w.wide = time.AfterFunc(time.Hour, func() { w.width(true, func() { widen(s.Procs) }) })
	w.rest = time.AfterFunc(0, func() { // it may wait for long
		w.width(false, narrow)
		if p.Trim != nil {
			p.Trim()
		}
		debug.FreeOSMemory()
	})
	lock := func() Finding {
		if p.Rest != nil {
			if err := p.Rest(context.Background()); err != nil {
				return Finding{Name: "no new code", Detail: err.Error()}
			}
		}
		return lockCode()
	}
	if holds(found, "landlock") {
		// Files are closed anyhow, so the lock may wait for the first lines.
		time.AfterFunc(lockDelay, func() { lock() })
		found = append(found, lockLater())
	} else {
		found = append(found, lock())
	}
	body, err := json.Marshal(found)
	if err != nil {
		return err
	}
	e := newEncoder(len(body))
	e.b = append(e.b, body...)
	return w.conn.send(kindReady, 0, e)
}

// errModule is why no module of the files runs: a worker that has run a line
// makes no machine code any more.
var errModule = errors.New("modules in the files do not run in workers: --program FILE makes one a command of the sandbox, and with --isolation none they run")

func holds(found []Finding, name string) bool {
	for _, f := range found {
		if f.Name == name {
			return f.OK
		}
	}
	return false
}

// loop serves until the socket closes: then nobody wants what still runs.
func (w *inside) loop() error {
	for {
		f, err := readFrame(w.conn.in)
		if err != nil {
			return err
		}
		d := &decoder{b: f.body}
		switch f.kind {
		case kindInspect:
			sh, real, c := w.shell(uint32(d.uint())), d.string(), d.request()
			go w.inspect(f.id, sh, c, real)
		case kindRun:
			sh, real, input, c := w.shell(uint32(d.uint())), d.string(), d.bool(), d.request()
			epoch := d.uint()
			for _, k := range d.constants() {
				w.engine.keep(k.kind(), f.id, "", k.decision, holdConstant, epoch)
			}
			w.start(f.id, sh, c, input, real)
		case kindStop:
			deadline := d.bool()
			if r := w.run(f.id); r != nil {
				r.stop(deadline)
			}
		case kindTaken:
			n, gone := d.small(window), d.bool()
			if r := w.run(f.id); r != nil {
				r.taken(n, gone)
			}
		case kindDrop:
			w.mu.Lock()
			delete(w.shells, f.id)
			w.mu.Unlock()
		case kindForget:
			w.engine.forget(d.uint())
		case kindAnswer:
			if !w.conn.answered(f) {
				d.fail("an answer to nothing")
			}
			d.b = nil
		default:
			d.fail(fmt.Sprint("a frame of kind ", f.kind))
		}
		if err := d.end(); err != nil {
			return err
		}
	}
}

func (w *inside) run(id uint32) *insideRun {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[id]
}

// within returns a context in which the folder of c is known, when the server
// has found it at real.
func (w *inside) within(ctx context.Context, c policy.Command, real string) context.Context {
	if real == "" {
		return ctx
	}
	return sandbox.WithDir(ctx, cmp.Or(c.Cwd, w.dir), real)
}

// narrow readies the process for short lines, which are not to wait for the collector:
// more garbage comes together first, and all is collected when the process rests.
func narrow() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
}

// widen gives a line that is not short the processors that there are, and
// collects as usual.
func widen(procs int) {
	runtime.GOMAXPROCS(max(1, procs))
	debug.SetGCPercent(100)
}

// width calls set, if lines run or do not still.
func (w *inside) width(running bool, set func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if running == (len(w.runs) > 0) {
		set()
	}
}

// inspect answers with the command and its facts.
func (w *inside) inspect(id uint32, sh lineRunner, c policy.Command, real string) {
	c, err := sh.Inspect(w.within(context.Background(), c, real), c)
	e := newEncoder(1024)
	e.error(err)
	if err == nil {
		e.facts(c)
	}
	if len(e.b)-headSize > maxLarge {
		e = newEncoder(256)
		e.error(&sandbox.LimitError{What: "facts of the line of 4 MiB"})
	}
	_ = w.conn.send(kindInspected, id, e) // a server that is gone is seen by the loop
}

// start runs a command beside the others.
func (w *inside) start(id uint32, sh lineRunner, c policy.Command, input bool, real string) {
	r := newInsideRun(w.conn, id)
	w.mu.Lock()
	w.runs[id] = r
	if w.rest.Stop(); len(w.runs) == 1 {
		w.wide.Reset(wideDelay)
	}
	w.mu.Unlock()
	var in io.Reader
	if input {
		in = inStream{r}
	}
	go func() {
		_ = w.conn.post(kindBegun, id, newEncoder(0)) // a server that is gone is seen by the loop
		status, err := sh.Run(policy.WithMeter(w.within(r, c, real), &policy.Meter{}), c, in, outStream{r, 1}, outStream{r, 2})
		w.mu.Lock()
		if delete(w.runs, id); len(w.runs) == 0 {
			w.wide.Stop()
			w.rest.Reset(restDelay)
		}
		w.mu.Unlock()
		w.engine.ended(id)
		r.stop(false) // nothing of it waits any more
		e := newEncoder(64)
		e.uint(uint64(status & 0xff))
		e.error(err)
		_ = w.conn.send(kindExit, id, e)
	}()
}
