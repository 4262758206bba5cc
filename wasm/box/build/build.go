// Package build makes the box: it compiles a main package to a wasip1
// reactor with the flags and the additions to the standard library that the
// host expects, and rewrites it so that it can be stopped and reset. Only go
// generate and tests import it.
package build

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ulikunitz/xz"

	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/donax-sh/donax/wasm/wasi"
)

// Wasm compiles the main package pkg, named as go build run in the folder
// root would, to a reactor that is ready for package wasm. The same sources and the same Go version give the
// same bytes wherever it runs.
func Wasm(ctx context.Context, root, pkg string) ([]byte, error) {
	bin, err := Compile(ctx, root, pkg)
	if err != nil {
		return nil, err
	}
	if bin, _, err = Rewrite(bin); err != nil {
		return nil, err
	}
	return bin, stripLines(bin)
}

// Compile is the first half of Wasm: a reactor as the Go compiler makes it.
func Compile(ctx context.Context, root, pkg string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "donax-box-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	goroot, err := run(ctx, root, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	overlay, err := writeOverlay(strings.TrimSpace(goroot), tmp)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(tmp, "box.wasm")
	if _, err := run(ctx, root, "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid=", "-overlay", overlay, "-o", out, pkg); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// Rewrite makes a module one that package wasm takes for a tier of the box.
func Rewrite(bin []byte) ([]byte, rewrite.Info, error) { return rewrite.Module(bin, Options()) }

// Options is how Rewrite rewrites.
func Options() rewrite.Options {
	return rewrite.Options{
		// The linker puts what it likes into one function; memory is bounded when
		// the module runs.
		Limits:        rewrite.Limits{Pages: 1 << 16, Body: 1 << 20}, // our own code: awk's interpreter is one function of 300 kB
		Fuel:          true,
		ExportGlobals: true,
		MergeData:     true,
		Import:        wasi.Serves,
	}
}

func run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// What a developer has set must not change the bytes.
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWASM=", "GOFLAGS=-mod=readonly",
		"GOTOOLCHAIN=local", "GOEXPERIMENT=", "GOWORK=off", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}

// Unpack returns the content of a file that Pack made.
func Unpack(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := xz.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Pack compresses b with the program xz. How its versions do that may differ;
// what is unpacked does not.
func Pack(ctx context.Context, b []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "xz", "--format=xz", "--check=crc32", "--threads=1", "--lzma2=preset=9e,dict=16MiB", "--stdout")
	cmd.Stdin = bytes.NewReader(b)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("xz (of XZ Utils) packs the box: %w\n%s", err, stderr.Bytes())
	}
	return out, nil
}
