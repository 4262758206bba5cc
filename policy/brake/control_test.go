//go:build unix

package brake_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy/brake"
)

func private(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "brake") // short: a socket's path is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Threats: BR-2.
func TestControl(t *testing.T) {
	path := filepath.Join(private(t), "run", "x.sock")
	l, err := brake.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if fi, err := os.Stat(name); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v %v", name, fi.Mode(), err)
		}
	}
	if _, err := brake.Listen(path); err == nil {
		t.Error("a living server's socket was taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- brake.Control(func(_ context.Context, r brake.Request) brake.Report {
			if r.Reason == "fail" {
				return brake.Report{Error: "2 commands did not stop"}
			}
			return brake.Report{State: brake.State{On: r.Op == "on", Reason: r.Reason}, Running: 3}
		}).Serve(ctx, l)
	}()
	rep, err := brake.Send(ctx, path, brake.Request{Op: "on", Reason: "smoke"})
	if err != nil || !rep.State.On || rep.State.Reason != "smoke" || rep.Running != 3 || rep.PID != os.Getpid() {
		t.Errorf("%+v %v", rep, err)
	}
	if rep, err := brake.Send(ctx, path, brake.Request{Op: "on", Reason: "fail"}); err == nil || rep.Error == "" {
		t.Errorf("what was not done is told as done: %+v", rep)
	}
	for _, raw := range []string{"", "x\n", "{}\n", `{"op":"explode"}` + "\n", `{"op":"on","sudo":1}` + "\n", strings.Repeat("x", 100_000)} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, raw)
		c.(*net.UnixConn).CloseWrite()
		c.SetDeadline(time.Now().Add(time.Minute))
		if b, _ := io.ReadAll(c); len(raw) < 1000 && !strings.Contains(string(b), `"error":`) {
			t.Errorf("%q: %s", raw, b)
		}
		c.Close()
	}
	if got, err := brake.Sockets(filepath.Dir(path)); err != nil || len(got) != 1 {
		t.Errorf("%v %v", got, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := brake.Send(context.Background(), path, brake.Request{Op: "status"}); !errors.Is(err, brake.ErrGone) {
		t.Errorf("%v", err)
	}
}

// Threats: BR-2.
func TestControlKeepsOthersOut(t *testing.T) {
	open := private(t)
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := brake.Listen(filepath.Join(open, "x.sock")); err == nil || !strings.Contains(err.Error(), "open to others") {
		t.Errorf("%v", err)
	}
	if _, err := brake.Sockets(open); err == nil {
		t.Error("sockets of a folder that others may fill")
	}
	if os.Geteuid() == 0 {
		theirs := private(t)
		if err := os.Chown(theirs, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if _, err := brake.Listen(filepath.Join(theirs, "x.sock")); err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("%v", err)
		}
	}
	// What a crash has left is replaced; another file is not.
	dir := private(t)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "old.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	again, err := brake.Listen(filepath.Join(dir, "old.sock"))
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	file := filepath.Join(dir, "file.sock")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := brake.Listen(file); err == nil {
		t.Error("a file was replaced")
	}
}

// Threats: BR-3.
func TestStateSurvives(t *testing.T) {
	path := filepath.Join(private(t), "state", "brake")
	if s := brake.Load(path); s.On {
		t.Errorf("%+v", s)
	}
	if _, first, err := brake.Save(path, brake.State{On: true, Reason: "one"}); err != nil || !first {
		t.Fatal(first, err)
	}
	if s, first, err := brake.Save(path, brake.State{On: true, Reason: "two"}); err != nil || first || s.Reason != "one" {
		t.Errorf("%+v %v %v", s, first, err)
	}
	if s := brake.Load(path); !s.On || s.Reason != "one" {
		t.Errorf("%+v", s)
	}
	if s, err := brake.Clear(path); err != nil || s.Reason != "one" || brake.Load(path).On {
		t.Errorf("%+v %v", s, err)
	}
	if _, err := brake.Clear(path); err != nil {
		t.Error(err)
	}
	// What cannot be read is taken for on.
	for name, content := range map[string]string{"empty": "", "garbage": "{", "off": `{"on":false}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := brake.Load(path); !s.On {
			t.Errorf("%s: off", name)
		}
	}
	if s := brake.Load(filepath.Join(path, "x")); s.On {
		t.Error("a path where no file can be: on")
	}
}
