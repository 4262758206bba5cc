package rego

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace writes a file in one step, as editors and deployments do.
func replace(t *testing.T, name, text string) {
	t.Helper()
	tmp := filepath.Join(filepath.Dir(name), ".new")
	write(t, tmp, text)
	if err := os.Rename(tmp, name); err != nil {
		t.Fatal(err)
	}
}

// Threats: PO-5.
func TestReloadKeepsTheLastGoodPolicy(t *testing.T) {
	dir := writeFiles(t, map[string]string{"p.rego": head + "allow if input.exec.name == \"ls\"\n"})
	file := filepath.Join(dir, "p.rego")
	e, err := loadPaths(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	decide(t, e, execAction("ls")) // cached
	if u := e.Reload(ctx); u.Err != nil || u.Old != u.New {
		t.Errorf("nothing changed: %+v", u)
	}
	for _, bad := range []string{"package donax\n\nallow if (", head + "denny contains \"x\" if input.exec\n", ""} {
		write(t, file, bad)
		u := e.Reload(ctx)
		if u.Err == nil || !strings.Contains(u.Err.Error(), "stays in force") || u.New != u.Old {
			t.Errorf("%q: %+v", bad, u)
		}
		if d := decide(t, e, execAction("ls")); d.Effect != policy.Allow {
			t.Error("the last good policy is lost")
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if u := e.Reload(ctx); u.Err == nil {
		t.Error("no files, no error")
	}
	write(t, file, head+"allow if input.exec.name == \"cat\"\n")
	if u := e.Reload(ctx); u.Err != nil || u.New == u.Old || u.New != e.Hash() {
		t.Errorf("%+v", u)
	}
	if d := decide(t, e, execAction("ls")); d.Effect != policy.Deny {
		t.Error("an answer of the old rules survives in the cache")
	}
	if _, ok := e.Constant(policy.KindExec); ok {
		t.Error("constants are those of the new rules")
	}
}

// TestWatch runs with a short interval; nothing in it depends on how short.
func TestWatch(t *testing.T) {
	dir := writeFiles(t, map[string]string{"p.rego": head + "allow if input.exec.name == \"ls\"\n"})
	file := filepath.Join(dir, "p.rego")
	e, err := loadPaths(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	updates := make(chan Update)
	var wg sync.WaitGroup
	wg.Go(func() { e.Watch(ctx, time.Millisecond, func(u Update) { updates <- u }) })
	replace(t, file, "package donax\n\nallow if (  # not finished")
	if u := <-updates; u.Err == nil {
		t.Errorf("%+v", u)
	}
	replace(t, file, head+"allow if input.exec.name == \"cat\"\n")
	if u := <-updates; u.Err != nil || u.New == u.Old {
		t.Errorf("%+v", u)
	}
	replace(t, filepath.Join(dir, "more.rego"), "package donax\n\ndeny contains \"x\" if input.exec.name == \"cat\"\n")
	if u := <-updates; u.Err != nil || u.New == u.Old {
		t.Errorf("%+v", u)
	}
	if d := decide(t, e, execAction("cat")); d.Effect != policy.Deny {
		t.Error("the new file is not in force")
	}
	cancel()
	wg.Wait()
}

// TestReloadWhileDeciding is for the race detector.
func TestReloadWhileDeciding(t *testing.T) {
	dir := writeFiles(t, map[string]string{"p.rego": head + "allow if input.exec.name == \"ls\"\n"})
	e, err := loadPaths(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				decide(t, e, execAction("ls", "x"))
			}
		}
	})
	for i := range 10 {
		replace(t, filepath.Join(dir, "p.rego"), head+"allow if input.exec.name == \"ls\"\n# "+strings.Repeat("x", i)+"\n")
		if u := e.Reload(context.Background()); u.Err != nil {
			t.Error(u.Err)
		}
	}
	close(stop)
	wg.Wait()
}
