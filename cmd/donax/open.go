package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/donax-sh/donax/mcp/upstream"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/approve"
	"github.com/donax-sh/donax/policy/rego"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/sandbox/worker"
	"github.com/donax-sh/donax/wasm"
)

// opened is one sandbox with everything it is made of.
type opened struct {
	homes   *homes       // what the sandbox sees
	lines   lineRunner   // where lines run: the homes, or pool
	pool    *worker.Pool // nil: no isolation
	engine  policy.Engine
	book    *approve.Book
	layers  []*rego.Engine // what engine is made of, when policies were given
	waist   *waist
	runtime *wasm.Runtime
	tools   *upstream.Manager // nil without upstream servers
	raw     bool              // terminal sequences reach a terminal
	subject policy.Subject
	boxless bool // what runs is no command of the box
}

// open builds a sandbox from the flags. What takes long on a first run is
// told on stderr.
func (f *sandboxFlags) open(ctx context.Context, stderr io.Writer, session policy.Session) (*opened, error) {
	rc, err := f.readRC()
	if err != nil {
		return nil, err
	}
	mounts, err := parseMounts(f.mounts)
	if err != nil {
		return nil, err
	}
	env, err := environ(f.env)
	if err != nil {
		return nil, err
	}
	engine, layers, err := f.load(ctx, stderr)
	if err != nil {
		return nil, err
	}
	network, err := f.net.network(len(f.policies) > 0)
	if err != nil {
		return nil, err
	}
	if err := f.outsideMounts(mounts); err != nil {
		return nil, err
	}
	engine, book, err := f.admission(engine, stderr, session)
	if err != nil {
		return nil, err
	}
	if f.memory < minMemory {
		return nil, usageError("--memory 64MiB", "--memory %s: a program needs at least %s", &f.memory, fmt.Sprint(minMemory>>20, " MiB"))
	}
	w, err := f.waist.open(stderr, f.quiet, mounts, env, layers)
	if err != nil {
		return nil, err
	}
	var layout *vfs.Mount // of the first home: names are protected alike in all
	if slices.ContainsFunc(mounts, func(m mount) bool { return m.mode == "rw" }) {
		engine = protected{engine, func() *vfs.Mount { return layout }}
	}
	engine = w.engine(engine)
	o := &opened{engine: engine, book: book, raw: f.raw, layers: layers, waist: w, boxless: f.program != nil, subject: policy.Subject{
		Principal: policy.Principal{Sub: "local", Auth: "process"},
		Session:   session,
	}}
	o.runtime, err = wasm.New(wasm.Config{CacheDir: cacheDir(), Compile: compileApart(cacheDir()), Memory: int64(f.memory), Log: f.tell(stderr)})
	if err != nil {
		return nil, errors.Join(&exitError{exitFault, err}, w.Close())
	}
	programs, err := f.modules(ctx, o.runtime, engine, o.subject)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	bin, err := newBin(programs)
	if err != nil {
		return nil, errors.Join(&exitError{exitFault, err}, o.Close())
	}
	if o.tools, err = f.openUpstream(stderr, asker(stderr, session), bin); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	limits := sandbox.Limits{Timeout: time.Duration(f.timeout), Memory: int64(f.memory), Output: int64(f.output), Net: 16 * int64(f.net.limit)}
	if f.timeout == 0 {
		limits.Timeout = -1
	}
	env = append([]string{"HOME=/workspace", "PATH=/bin", "TMPDIR=/tmp", "USER=user", "LOGNAME=user", "LANG=C.UTF-8", "TERM=dumb"}, env...)
	cfg := sandbox.Config{
		Programs: programs, Lookup: o.lookup(), Policy: engine, Network: network, Limits: limits, Load: fromFiles(o.runtime), Dir: "/workspace", Env: env,
		RC: rc, RCName: filepath.Base(f.rcfile), Posix: f.dialect == posix, Raise: f.raise,
	}
	o.homes = &homes{make: func() (*ownHome, error) { return newOwnHome(cfg, mounts, bin) }}
	if o.homes.spare, err = o.homes.make(); err != nil { // now, since what is wrong with the flags shows here
		return nil, errors.Join(err, o.Close())
	}
	layout = o.homes.spare.layout
	added, err := json.Marshal(o.runtime.Loaded(programs))
	if err != nil {
		return nil, errors.Join(&exitError{exitFault, err}, o.Close())
	}
	if err := o.isolate(ctx, worker.Config{
		Isolation: worker.Isolation(f.isolation), Policy: engine, Raise: f.raise, Log: f.tell(stderr), Lookup: o.lookup(),
		Setup: worker.Setup{
			Limits: limits, Env: env, Dir: "/workspace", CacheDir: cacheDir(),
			RC: rc, RCName: filepath.Base(f.rcfile), Posix: f.dialect == posix, Served: f.raise != nil, Added: added,
		},
	}); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// tell returns what tells the operator of something.
func (f *sandboxFlags) tell(stderr io.Writer) func(string) {
	return func(msg string) {
		if !f.quiet {
			fmt.Fprintln(stderr, "donax:", msg)
		}
	}
}

// newOwnHome lays out what the sandbox sees: /workspace, /tmp, /bin, /dev, /proc
// and the mounts. All that is in memory shares one quota.
func newOwnHome(c sandbox.Config, mounts []mount, bin vfs.FS) (h *ownHome, err error) {
	quota := vfs.NewQuota(vfs.QuotaConfig{})
	mem := func() vfs.FS { return vfs.NewMem(vfs.MemConfig{Quota: quota}) }
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		return nil, &exitError{exitFault, err}
	}
	var points []vfs.MountPoint
	proc, err := vfs.NewProc(vfs.ProcConfig{Memory: c.Limits.Memory, Quota: quota, Mounts: func() []vfs.MountPoint { return points }})
	if err != nil {
		return nil, &exitError{exitFault, err}
	}
	points = []vfs.MountPoint{
		{Path: "/bin", FS: bin, Mode: vfs.ReadOnlyMount},
		{Path: "/dev", FS: dev, Mode: vfs.ReadWrite},
		{Path: "/proc", FS: proc, Mode: vfs.ReadOnlyMount},
		{Path: "/tmp", FS: mem(), Mode: vfs.ReadWrite},
		{Path: "/workspace", FS: mem(), Mode: vfs.ReadWrite},
	}
	h = &ownHome{}
	for _, m := range mounts {
		p, root, err := vfs.HostMount(vfs.HostConfig{Source: m.src, Path: m.dst, Mode: vfs.MountMode(m.mode), Quota: quota})
		if err != nil {
			return nil, errors.Join(usageError("ls "+m.src, "--mount %s: %v", m.src, err), h.close())
		}
		h.files = append(h.files, root)
		points = replaceOrAppend(points, p)
	}
	if h.layout, err = vfs.NewMount(points...); err != nil {
		return nil, errors.Join(usageError("--mount SRC:/workspace/NAME", "%v", err), h.close())
	}
	c.FS = h.layout
	if h.session, err = sandbox.New(c); err != nil {
		return nil, errors.Join(&exitError{exitFault, err}, h.close())
	}
	return h, nil
}

func replaceOrAppend(points []vfs.MountPoint, p vfs.MountPoint) []vfs.MountPoint {
	for i := range points {
		if points[i].Path == p.Path {
			points[i] = p
			return points
		}
	}
	return append(points, p)
}

// load loads the policies, each a layer of its own, or the built-in one when
// none is given.
func (f *sandboxFlags) load(ctx context.Context, stderr io.Writer) (policy.Engine, []*rego.Engine, error) {
	if len(f.policies) == 0 {
		f.named = map[string]bool{}
		return noPolicy{Default: policy.Default{Net: len(f.net.allow) > 0}, named: f.named}, nil, nil
	}
	key, err := bundleKey(f.key)
	if err != nil {
		return nil, nil, err
	}
	var layers []*rego.Engine
	var engines []policy.Engine
	for _, path := range f.policies {
		e, err := rego.Load(ctx, rego.Config{Paths: []string{path}, Entrypoint: f.entry, Key: key, Enforce: rego.Obligations()})
		if err != nil {
			return nil, nil, loadError(err)
		}
		if !f.quiet {
			for _, w := range e.Warnings() {
				fmt.Fprintln(stderr, "donax:", w)
			}
		}
		layers, engines = append(layers, e), append(engines, e)
	}
	return policy.Stack(engines...), layers, nil
}

// run admits a line and runs it.
func (o *opened) run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	o.subject.Terminal = policy.Terminal{ID: "cli", Cwd: c.Cwd, Grants: []string{}}
	ctx = policy.WithMeter(policy.WithSubject(ctx, o.subject), &policy.Meter{})
	c, err := o.Inspect(ctx, c)
	var limit *sandbox.LimitError
	switch {
	case errors.As(err, &limit):
		fmt.Fprintln(errw, "donax:", err)
		return sandbox.StatusKilled, err
	case err != nil:
		fmt.Fprintln(errw, "donax:", err)
		return exitUsage, err
	}
	d, err := policy.Check(ctx, o.engine, policy.Action{Kind: policy.KindCommand, Subject: o.subject, Command: &c})
	for _, w := range d.Warnings {
		fmt.Fprintln(errw, "donax: warning:", w.Msg)
	}
	if err != nil {
		fmt.Fprintln(errw, "donax:", err)
		if o.waist.brake.State().On {
			return sandbox.StatusKilled, err
		}
		return sandbox.StatusDenied, err
	}
	c.Oblige(d)
	r, out, errw, err := o.release(d, out, errw)
	if err != nil {
		fmt.Fprintln(errw, "donax: denied by policy:", err)
		return sandbox.StatusDenied, &policy.DeniedError{Decision: d, Err: err}
	}
	defer r.end()
	ctx, stop := o.waist.heed(ctx)
	defer stop()
	status, err := o.waist.runner(o).Run(ctx, c, in, out, errw)
	if s := o.waist.brake.State(); s.On && err != nil {
		fmt.Fprintln(errw, "donax:", tellHalt(s))
		return sandbox.StatusKilled, fmt.Errorf("%w: %s", policy.ErrDenied, tellHalt(s))
	}
	return status, err
}

// Run runs an admitted command. On a machine's first run it prepares the box
// before the clock of the command starts.
func (o *opened) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	if err := o.prepare(ctx, errw); err != nil {
		return sandbox.StatusFault, err
	}
	return o.lines.Run(ctx, c, in, out, errw)
}

// lookup finds the commands of upstream servers; nil when there are none.
func (o *opened) lookup() func(string) sandbox.Program {
	if o.tools == nil {
		return nil
	}
	return o.tools.Lookup
}

// prepare compiles the box where that was not done yet.
func (o *opened) prepare(ctx context.Context, errw io.Writer) error {
	if o.boxless || o.runtime.Cached() {
		return nil
	}
	err := o.runtime.Warm(ctx)
	if err != nil {
		fmt.Fprintln(errw, "donax: the box could not be prepared:", err)
	}
	return err
}

// Close frees the sandbox. Nothing of it may still run.
func (o *opened) Close() error {
	var err error
	if o.pool != nil {
		err = o.pool.Close()
	}
	err = errors.Join(err, o.runtime.Close(), o.book.End(o.subject.Session.ID))
	if o.tools != nil {
		err = errors.Join(err, o.tools.Close())
	}
	err = errors.Join(err, o.waist.Close()) // after all that it records
	if o.homes != nil {
		err = errors.Join(err, o.homes.close())
	}
	return err
}

// cacheDir is where compiled code is kept: DONAX_CACHE, or donax in the
// user's cache folder. "" means that there is no place.
func cacheDir() string {
	if d := os.Getenv("DONAX_CACHE"); d != "" {
		return d
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "donax")
}
