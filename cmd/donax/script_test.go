package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/donax-sh/donax/mcp/client/clienttest"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary be donax when a script runs it.
func TestMain(m *testing.M) {
	worker := len(os.Args) > 1 && os.Args[1] == "worker" // which has no files, and an empty environment
	if os.Getenv("DONAX_STATE") == "" && !worker {       // no brake and no log of the user's own
		dir, err := os.MkdirTemp("", "donax-state")
		if err != nil {
			panic(err)
		}
		os.Setenv("DONAX_STATE", dir)
	}
	testscript.Main(m, map[string]func(){
		"donax":    main,
		"fake-mcp": func() { os.Exit(clienttest.Main(os.Args[1:])) },
	})
}

// TestScripts runs the sessions under testdata/script: what a user types and
// what donax answers.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("DONAX_CACHE", testCache(t))
			e.Setenv("DONAX_STATE", filepath.Join(e.WorkDir, ".state"))
			return nil
		},
	})
}

// TestScriptsIsolated runs the same sessions with every line in a worker: a
// user cannot tell the difference.
func TestScriptsIsolated(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("DONAX_CACHE", testCache(t))
			e.Setenv("DONAX_STATE", filepath.Join(e.WorkDir, ".state"))
			e.Setenv("DONAX_ISOLATION", "terminal")
			return nil
		},
	})
}

// testCache is the compilation cache that all tests share with the user, so
// that the box is compiled once on a machine.
func testCache(t testing.TB) string {
	t.Helper()
	if dir := cacheDir(); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "donax-test-cache")
}
