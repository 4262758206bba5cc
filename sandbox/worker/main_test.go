package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/sandbox/worker"
	"github.com/donax-sh/donax/wasm"
)

// TestMain makes the test binary be the worker when a pool starts it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		tracker := wasm.NewTracker(2) // a worker makes no files later
		os.Exit(worker.Serve(func(s worker.Setup) (worker.Programs, error) { return open(s, tracker) }))
	}
	os.Exit(m.Run())
}

// open is what a worker of these tests runs: the box, and programs that do
// what no program of the box could, because they are not in WebAssembly.
func open(s worker.Setup, tracker *wasm.Tracker) (worker.Programs, error) {
	if s.Pagemap != nil {
		tracker.Pagemap(s.Pagemap)
	}
	rt, err := wasm.New(wasm.Config{CacheDir: s.CacheDir, Memory: s.Limits.Memory, Tracker: tracker})
	if err != nil {
		return worker.Programs{}, err
	}
	machines := native{"machines", func(_ context.Context, p *sandbox.Proc) error {
		core := rt.Stats()[0]
		_, err := fmt.Fprintln(p.Stdout, core.Snapshot, core.Memory)
		return err
	}}
	return worker.Programs{
		List: append(rt.Programs(), append(hostile(), machines)...),
		Load: func(ctx context.Context) error { return rt.Warm(ctx, "core") },
		Rest: func(ctx context.Context) error { return rt.Warm(ctx) },
		Trim: rt.Trim,
	}, nil
}

func cacheDir() string {
	if d := os.Getenv("DONAX_CACHE"); d != "" {
		return d
	}
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, "donax")
}

// warm compiles the box where that was not done yet.
var warm = sync.OnceValue(func() error {
	rt, err := wasm.New(wasm.Config{CacheDir: cacheDir()})
	if err != nil {
		return err
	}
	defer rt.Close()
	if rt.Cached() {
		return nil
	}
	return rt.Warm(context.Background())
})

// config is a pool over files in memory.
func config(t testing.TB) worker.Config {
	t.Helper()
	if err := warm(); err != nil {
		t.Fatal(err)
	}
	return worker.Config{
		Argv:      []string{os.Args[0], "worker"},
		Isolation: worker.PerTerminal,
		Limits:    worker.Limits{Warm: -1}, // the first is enough for most, and starting one costs
		Setup:     worker.Setup{Dir: "/workspace", CacheDir: cacheDir()},
		Mounts:    memory(),
		Policy:    policy.AllowAll{},
		Log:       func(s string) { t.Log(s) },
	}
}

func memory() []vfs.MountPoint {
	quota := vfs.NewQuota(vfs.QuotaConfig{})
	return []vfs.MountPoint{
		{Path: "/tmp", FS: vfs.NewMem(vfs.MemConfig{Quota: quota}), Mode: vfs.ReadWrite},
		{Path: "/workspace", FS: vfs.NewMem(vfs.MemConfig{Quota: quota}), Mode: vfs.ReadWrite},
	}
}

func pool(t testing.TB, c worker.Config) *worker.Pool {
	t.Helper()
	p, err := worker.NewPool(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// as is a context of this principal.
func as(ctx context.Context, sub string) context.Context {
	return policy.WithSubject(ctx, policy.Subject{Principal: policy.Principal{Sub: sub}})
}

type result struct {
	out, err string
	status   int
	fail     error
}

func do(ctx context.Context, p *worker.Pool, line string) (r result) {
	c, err := p.Inspect(ctx, policy.Command{Text: line})
	if err != nil {
		r.fail = err
		return r
	}
	var out, errw bytes.Buffer
	r.status, r.fail = p.Run(ctx, c, strings.NewReader("in\n"), &out, &errw)
	r.out, r.err = out.String(), errw.String()
	return r
}
