package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

// TestEscape tries, natively in a worker, everything that the jail is for.
// Nothing succeeds but the write to the session's files, which the server does.
// New machine code is possible until the worker has loaded all programs.
//
// Threats: WO-1.
func TestEscape(t *testing.T) {
	t.Parallel()
	c := config(t)
	p := pool(t, c)
	for _, f := range p.Findings() {
		t.Logf("%+v", f)
		if !f.OK && f.Required {
			t.Errorf("%s does not hold: %s", f.Name, f.Detail)
		}
	}
	ctx := as(t.Context(), "a")
	locked := false
	for range 600 {
		r := do(ctx, p, "escape")
		if r.status != 0 || strings.Count(r.out, "\n") < 40 {
			t.Fatalf("%+v", r)
		}
		locked = true
		for line := range strings.Lines(r.out) {
			name, verdict, _ := cutLast(strings.TrimSpace(line))
			switch {
			case name == "workspace":
				if verdict != "ALLOWED" {
					t.Errorf("%s: %s", name, verdict)
				}
			case strings.Contains(name, "executable"):
				locked = locked && verdict == "denied"
			case verdict != "denied":
				t.Errorf("%s: %s", name, verdict)
			}
		}
		if locked || t.Failed() {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if !locked {
		t.Error("new machine code is still possible")
	}
	// What was loaded before still runs, all of it.
	if r := do(ctx, p, "echo a | sed s/a/b/; jq -n 1+1; awk 'BEGIN{print 3}'"); r.out != "b\n2\n3\n" {
		t.Errorf("after the lock: %+v", r)
	}
	if fi, err := c.Mounts[1].FS.Stat("/escape"); err != nil || fi.Size() != 1 {
		t.Errorf("the write to the session's files: %v", err)
	}
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// TestEscapeUnprivileged runs TestEscape as a user without any right.
//
// Threats: WO-1.
func TestEscapeUnprivileged(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("TestEscape itself was run without rights")
	}
	config(t) // fills the cache
	dir, err := os.MkdirTemp("", "donax-escape")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const nobody = 65534
	for _, e := range dirEntries(t, cacheDir()) {
		to := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "compile-"): // of another process, which takes it away
		case e.IsDir():
			err = os.CopyFS(to, os.DirFS(filepath.Join(cacheDir(), e.Name())))
		default:
			err = copyFile(to, filepath.Join(cacheDir(), e.Name()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		if err := os.Chmod(name, mode); err != nil {
			return err
		}
		return os.Lchown(name, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestEscape$", "-test.v")
	cmd.Env = []string{"DONAX_CACHE=" + dir, "TMPDIR=" + dir, "HOME=" + dir}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestEscape") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHostFilesStayShut: what no mount shows is out of reach of lines, whatever
// links they make, and an ro mount is not written by the server either.
//
// Threats: WO-2.
func TestHostFilesStayShut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"secret": "canary", "in/f": "seen"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(dir, "in", "planted")); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []vfs.MountMode{vfs.ReadOnlyMount, vfs.CopyOnWrite, vfs.ReadWrite} {
		c := config(t)
		m, root, err := vfs.HostMount(vfs.HostConfig{Source: filepath.Join(dir, "in"), Path: "/workspace", Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		c.Mounts = append(memory()[:1], m)
		p := pool(t, c)
		r := do(as(t.Context(), "a"), p, "cat f; cat planted; ln -s ../secret l; cat l; cat ../secret; ln -s / r; cat r/etc/hostname; echo new > f; cat f; echo x > planted; mkdir -p .git/hooks; echo x > .git/hooks/post-commit")
		if strings.Contains(r.out, "canary") || !strings.HasPrefix(r.out, "seen") {
			t.Errorf("%s: %q %q", mode, r.out, r.err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "in", "f"))
		if want := map[bool]string{true: "new\n", false: "seen"}[mode == vfs.ReadWrite]; err != nil || string(got) != want {
			t.Errorf("%s: the host's file is %q, want %q", mode, got, want)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "secret")); err != nil || string(b) != "canary" {
			t.Errorf("%s: outside was written: %q %v", mode, b, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "in/.git/hooks/post-commit")); err == nil {
			t.Errorf("%s: a hook was planted", mode)
		}
	}
}

func dirEntries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
