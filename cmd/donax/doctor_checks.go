package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/rewrite"
)

func checkPlatform(_ context.Context, r *report) {
	r.ok("donax", "%s", version())
	r.ok("go", "%s", runtime.Version())
	r.ok("cpus", "%d", runtime.GOMAXPROCS(0))
	os := runtime.GOOS + "/" + runtime.GOARCH
	switch {
	case runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64":
		r.fail("system", "a machine with amd64 or arm64", "%s: there is no compiler for its processor, and what interprets is not stopped by fuel in time", os)
	case runtime.GOOS != "linux":
		r.warn("system", "Linux", "%s: builds, but is not tested there", os)
	default:
		r.ok("system", "%s", os)
	}
}

func checkCache(_ context.Context, r *report) {
	dir := cacheDir()
	if dir == "" {
		r.warn("folder", "DONAX_CACHE=DIR", "none: the box is compiled anew by each process, and programs of users cannot be loaded")
		return
	}
	rt, err := wasm.New(wasm.Config{CacheDir: dir})
	if err != nil {
		r.fail("folder", "DONAX_CACHE=DIR with a folder of your own", "%v", err)
		return
	}
	defer rt.Close()
	r.ok("folder", "%s", dir)
	if fi, err := os.Stat(dir); err == nil {
		r.ok("access", "yours, mode %#o", fi.Mode().Perm())
	}
	files, bytes := 0, int64(0)
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		if fi, err := d.Info(); err == nil {
			bytes += fi.Size()
		}
		return nil
	})
	if err != nil {
		r.warn("size", "rm -r "+dir, "cannot be read: %v", err)
		return
	}
	r.ok("size", "%.1f MiB in %d files; beyond %d MiB what was used longest ago goes", float64(bytes)/(1<<20), files, wasm.CacheLimit>>20)
	if rt.Cached() {
		r.ok("box", "compiled")
	} else {
		r.warn("box", "donax warm", "not compiled yet: the first command will wait for it")
	}
}

func checkMachines(ctx context.Context, r *report) {
	rt, err := wasm.New(wasm.Config{CacheDir: cacheDir()})
	if err != nil {
		r.fail("runtime", "see the section cache", "%v", err)
		return
	}
	defer rt.Close()
	costs, err := rt.Measure(ctx)
	if err != nil {
		r.fail("runtime", "donax warm", "%v", err)
	}
	for _, c := range costs {
		r.ok(c.Tier, "sha256:%s", c.SHA256)
		share := "each has a copy"
		if c.Shared {
			share = "shared until written to"
		}
		r.ok("", "machines begin with %.1f MiB, %s; %v to load, %v to initialise, %v to reset", float64(c.Memory)/(1<<20), share, round(c.Load), round(c.Init), round(c.Reset))
	}
	r.ok("reset", "memory and globals are as the snapshot again after every run, unconditionally")
	r.ok("pool", "follows the load; idle machines of a tier hold at most %d MiB, and are closed after 10s but one", rt.Idle()>>20)
	r.ok("fuel", "%d instructions between two looks at kill, deadline and budget; stack at most %d MiB", wasm.Ration, wasm.MaxStack>>20)
}

func checkLimits(_ context.Context, r *report) {
	l := sandbox.DefaultLimits
	r.ok("time", "%v for -c and run (--timeout), none for a served terminal", l.Timeout)
	r.ok("memory", "%d MiB of one program (--memory), %d MiB of the shell", l.Memory>>20, l.Session>>20)
	r.ok("output", "%d MiB in all (--output)", l.Output>>20)
	r.ok("source", "%d KiB, nesting %d, depth %d", l.Source>>10, l.Nesting, l.Depth)
	r.ok("commands", "%d started, %d jobs, %d pipeline stages, %d open files", l.Commands, l.Jobs, l.Stages, l.Files)
	m := rewrite.DefaultLimits
	r.ok("modules", "%d MiB, %d functions of %d KiB, nesting %d, %d locals", m.Size>>20, m.Functions, m.Body>>10, m.Nesting, m.Locals)
	r.ok("compiling them", "%d MiB of memory, %d s of CPU time and 1 more for each %d KiB", compileMemory>>20, compileTime(0), 512)
}

// round makes a time short.
func round(d time.Duration) time.Duration {
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}
