package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
)

// execVar makes this test binary a runner for `go test -exec`: it then runs
// the module that its first argument names.
const execVar = "DONAX_TEST_EXEC"

// The packages of Go's standard library whose tests, built for wasip1, run
// here: the first where DONAX_STDLIB is "short", which takes a minute, and all
// where it is "all". Nothing is skipped but what the tests skip on wasip1
// themselves.
const (
	stdPackages  = "os io/fs path/filepath time bufio"
	morePackages = "sort strings compress/bzip2 compress/flate compress/gzip compress/lzw compress/zlib"
)

func TestGoStandardLibrary(t *testing.T) {
	packages, flags := strings.Fields(stdPackages), []string{"test", "-p", "2", "-count=1"}
	switch v := os.Getenv("DONAX_STDLIB"); v {
	case "short":
		flags = append(flags, "-short")
	case "all":
		packages = append(packages, strings.Fields(morePackages)...)
	case "":
		t.Skip("DONAX_STDLIB is not set")
	default:
		t.Fatalf("DONAX_STDLIB is %q, not short or all", v)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	cmd := exec.Command("go", append(append(flags, "-exec", self), packages...)...)
	cmd.Env = append(os.Environ(), execVar+"="+cache, "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
}

// runModule runs a module as upstream's runner has wasmtime run it: with the
// host's tree, and the directory and PATH of this process. Here changes stay
// in memory. It returns the exit status.
func runModule(cache string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := func() error {
		bin, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		fsys, closeFS, err := hostTree()
		if err != nil {
			return err
		}
		defer closeFS()
		r, err := wasm.New(wasm.Config{CacheDir: cache, Memory: 2 << 30, Box: []wasm.Tier{}, Compile: func(ctx context.Context, module []byte) error {
			return wasm.CompileInto(ctx, cache, module)
		}})
		if err != nil {
			return err
		}
		defer r.Close()
		p, err := r.Load(ctx, wasm.UserModule{
			Usage:  sandbox.Usage{Name: filepath.Base(args[0])},
			SHA256: hexSum(bin),
			Read:   func() ([]byte, error) { return bin, nil },
			Admit:  func(context.Context, policy.Module) error { return nil },
		})
		if err != nil {
			return err
		}
		env := []string{"PWD=" + dir, "PATH=" + os.Getenv("PATH")}
		return p.Run(ctx, &sandbox.Proc{Args: args, Env: env, Dir: dir, FS: fsys, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	}()
	var code sandbox.ExitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(os.Stderr, err)
	return 125
}

// hostTree is the host's tree; changes stay in memory.
func hostTree() (fsys vfs.FS, done func(), err error) {
	top, root, err := vfs.HostMount(vfs.HostConfig{Source: "/", Path: "/"})
	if err != nil {
		return nil, nil, err
	}
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err == nil {
		fsys, err = vfs.NewMount(top, vfs.MountPoint{Path: "/dev", FS: dev, Mode: vfs.ReadWrite})
	}
	if err != nil {
		root.Close()
	}
	return fsys, func() { root.Close() }, err
}
