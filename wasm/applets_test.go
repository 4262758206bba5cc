package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
	"github.com/donax-sh/donax/wasm/box/applet/applettest"
)

// TestApplets runs the recorded cases of the box's commands a third way:
// natively and against the GNU tools they run in package core, here in wasm,
// over a host folder, as they are shipped.
func TestApplets(t *testing.T) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = t.TempDir()
	}
	rt, err := wasm.New(wasm.Config{CacheDir: filepath.Join(dir, "donax")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	programs := map[string]sandbox.Program{}
	for _, p := range rt.Programs() {
		for _, name := range append(p.Usage().Aliases, p.Usage().Name) {
			programs[name] = p
		}
	}
	applettest.Run(t, "box/applet", applettest.Runner{
		Name: "wasm",
		Run:  func(t testing.TB, inv applettest.Invocation) applettest.Result { return runApplet(t, programs, inv) },
		Missing: func(command string) string {
			if programs[command] == nil {
				return "not in the box"
			}
			return ""
		},
	})
}

// runApplet runs one command with the folder of its case mounted where it is
// on the host, so that paths in its output are the same.
func runApplet(t testing.TB, programs map[string]sandbox.Program, inv applettest.Invocation) applettest.Result {
	point, root, err := vfs.HostMount(vfs.HostConfig{Source: inv.Dir, Path: inv.Dir, Mode: vfs.ReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := vfs.NewMount(point, vfs.MountPoint{Path: "/dev", FS: dev, Mode: vfs.ReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs output
	proc := &sandbox.Proc{Args: inv.Args, Env: inv.Env, Dir: inv.Dir, Stdin: inv.Stdin, Stdout: &out, Stderr: &errs, FS: fsys}
	proc.Spawn = func(ctx context.Context, c sandbox.Child) error {
		p := programs[filepath.Base(c.Args[0])]
		if p == nil {
			return syscall.ENOENT
		}
		if c.Started != nil {
			c.Started()
		}
		return p.Run(ctx, &sandbox.Proc{Args: c.Args, Env: c.Env, Dir: c.Dir, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, FS: fsys, Spawn: proc.Spawn})
	}
	status := 0
	var code sandbox.ExitCode
	switch err := programs[inv.Args[0]].Run(t.Context(), proc); {
	case errors.As(err, &code):
		status = int(code)
	case err != nil:
		t.Fatal(err)
	}
	return applettest.Result{Stdout: out.buf.Bytes(), Stderr: errs.buf.Bytes(), Status: status}
}

// output is a stream that several children write to at once, as with xargs -P.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}
