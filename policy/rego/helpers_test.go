package rego

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
)

// head starts most policies of these tests.
const head = "package donax\n\nallow if input.action == \"command\"\n\n"

func mustLoad(t testing.TB, src string) *Engine {
	t.Helper()
	return mustLoadConfig(t, Config{Sources: map[string]string{"p.rego": src}, Timeout: 20 * time.Second})
}

func mustLoadConfig(t testing.TB, c Config) *Engine {
	t.Helper()
	e, err := Load(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// refused loads src, expects problems, and returns their text.
func refused(t testing.TB, src string) string {
	t.Helper()
	_, err := Load(context.Background(), Config{Sources: map[string]string{"p.rego": src}})
	var le *LoadError
	if !errors.As(err, &le) {
		t.Fatalf("want a LoadError, got %v for\n%s", err, src)
	}
	return err.Error()
}

// writeFiles makes a folder of files and returns it.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var subject = policy.Subject{
	Principal: policy.Principal{Sub: "agent-7", Auth: "bearer", Roles: []string{"ci"}, Claims: map[string]any{"team": "red"}},
	Session:   policy.Session{ID: "s1", Transport: "stdio", Client: policy.Client{Name: "test", Version: "1"}},
	Terminal:  policy.Terminal{ID: "t1", Cwd: "/workspace"},
}

func execAction(name string, args ...string) policy.Action {
	return policy.Action{Kind: policy.KindExec, Subject: subject, Exec: &policy.Exec{Name: name, Args: args, Kind: "box", SHA256: strings.Repeat("ab", 32), Cwd: "/workspace"}}
}

func fileAction(op, path string) policy.Action {
	return policy.Action{Kind: policy.KindFile, Subject: subject, File: &policy.File{Op: op, Path: path, Requested: path, Mount: "/workspace", By: "cat"}}
}

func commandAction(text string, calls ...policy.Call) policy.Action {
	return policy.Action{Kind: policy.KindCommand, Subject: subject, Command: &policy.Command{Text: text, Cwd: "/workspace", Static: true, Calls: calls}}
}

// actions has one action of every kind.
func actions() []policy.Action {
	return []policy.Action{
		commandAction("ls", policy.Call{Name: "ls", Line: 1}), execAction("ls", "-l"), fileAction("read", "/workspace/a"),
		{Kind: policy.KindNet, Subject: subject, Net: &policy.Net{Scheme: "https", Host: "example.com", Port: 443}},
		{Kind: policy.KindTool, Subject: subject, Tool: &policy.Tool{Server: "s", Name: "t", Arguments: map[string]any{"a": []any{1, "x"}}}},
		{Kind: policy.KindModule, Subject: subject, Module: &policy.Module{Name: "m", Size: 10}},
		{Kind: policy.KindOutput, Subject: subject, Output: &policy.Output{Stream: "stdout", Bytes: 3}},
	}
}

// class returns the class of a failure, "" when there is none.
func class(err error) string {
	var f *policy.Failure
	if errors.As(err, &f) {
		return f.Class
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
