package rego

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An Update tells what came of looking at the files again.
type Update struct {
	Old, New string // hashes; the same when the old policy stays
	Err      error  // why the files could not be loaded: the old policy stays in force
}

// Reload reads and compiles the files again and, when they are sound, puts
// them in force for all later decisions at once. Otherwise the last good
// policy stays, and the update says why. An engine made from Sources alone
// never changes.
func (e *Engine) Reload(ctx context.Context) Update {
	e.reload.Lock()
	defer e.reload.Unlock()
	old := e.cur.Load()
	u := Update{Old: old.hash, New: old.hash}
	s, err := next(ctx, old)
	if err != nil {
		u.Err = fmt.Errorf("policy not reloaded, the old one (%s) stays in force: %w", old.hash, err)
		return u
	}
	if s != old {
		e.cur.Store(s) // with the old one goes its cache: none of its answers survives
		u.New = s.hash
	}
	return u
}

// next loads what the files now say; old itself when they say the same.
func next(ctx context.Context, old *snapshot) (*snapshot, error) {
	src, err := collect(old.cfg, false)
	if err != nil {
		return nil, err
	}
	s, err := newSnapshot(old.cfg, src)
	if err != nil {
		return nil, err
	}
	if s.hash == old.hash {
		return old, nil
	}
	if err := s.compile(ctx); err != nil {
		return nil, err
	}
	if bad := s.problems.errors(); len(bad) > 0 {
		return nil, &LoadError{Problems: bad}
	}
	return s, nil
}

// everyNth look reads the files though nothing about them seems changed.
const everyNth = 30

// Watch looks at the files every interval (0 means one second) until ctx ends
// and reloads them when they have changed and then stayed the same for one
// interval, so that half-written ones are not read. It calls report, which
// must not be nil, after each reload that changed or failed. It looks instead
// of asking the system for events, because those miss files on network mounts
// and folders that are replaced as a whole.
func (e *Engine) Watch(ctx context.Context, interval time.Duration, report func(Update)) {
	if interval <= 0 {
		interval = time.Second
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var loaded, last, failure string // nothing yet: files may have changed since Load
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := signature(e.cur.Load().cfg.Paths)
		settled := now == last
		last = now
		if !settled || now == loaded && n%everyNth != 0 {
			continue
		}
		loaded = now
		u := e.Reload(ctx)
		if ctx.Err() != nil {
			return
		}
		text := ""
		if u.Err != nil {
			text = u.Err.Error()
		}
		if u.New != u.Old || text != failure { // a failure is told once, and again when it is another
			report(u)
		}
		failure = text
	}
}

// signature describes the files below paths without reading them.
func signature(paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		sign(&b, p, 0)
	}
	return b.String()
}

func sign(b *strings.Builder, name string, depth int) {
	st, err := os.Stat(name)
	if err != nil {
		fmt.Fprintf(b, "%s %v\n", name, err)
		return
	}
	fmt.Fprintf(b, "%s %d %d %v\n", name, st.Size(), st.ModTime().UnixNano(), st.Mode()&fs.ModeType)
	if !st.IsDir() || depth > maxDepth {
		return
	}
	list, err := os.ReadDir(name)
	if err != nil {
		fmt.Fprintf(b, "%v\n", err)
		return
	}
	list = slices.DeleteFunc(list, func(d fs.DirEntry) bool { return strings.HasPrefix(d.Name(), ".") })
	for _, d := range list {
		sign(b, filepath.Join(name, d.Name()), depth+1)
	}
}
