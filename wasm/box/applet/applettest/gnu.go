package applettest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// reference is what the cases were recorded with: that of Debian 12.
const reference = "(GNU coreutils) 9.1"

// GNU runs the host's own tools. Where a tool is missing or of another version
// the archive is skipped, or fails when DONAX_REQUIRE_TOOLS is 1.
func GNU(t *testing.T) Runner {
	version := sync.OnceValue(func() string {
		if lookPath("sort") == "" {
			return "no GNU coreutils"
		}
		res := runGNU(t, Invocation{Args: []string{"sort", "--version"}, Env: Env("/")})
		if first, _, _ := bytes.Cut(res.Stdout, []byte("\n")); !bytes.HasSuffix(first, []byte(reference)) {
			return "not the reference: " + string(first)
		}
		return ""
	})
	return Runner{
		Name: "gnu",
		Run:  runGNU,
		Missing: func(command string) string {
			why := version()
			if why == "" && lookPath(command) == "" {
				why = "no tool " + command
			}
			if why != "" && os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
				t.Fatal(why)
			}
			return why
		},
	}
}

func lookPath(name string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		full := filepath.Join(dir, name)
		if fi, err := os.Stat(full); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return full
		}
	}
	return ""
}

func runGNU(t testing.TB, inv Invocation) Result {
	path := lookPath(inv.Args[0])
	if path == "" {
		return Result{Status: 127}
	}
	var stdout, stderr collector
	outW, outDone := stdout.pipe(t)
	errW, errDone := stderr.pipe(t)
	if inv.Stdin == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		inv.Stdin = null
	}
	proc, err := os.StartProcess(path, inv.Args, &os.ProcAttr{Dir: inv.Dir, Env: inv.Env, Files: []*os.File{inv.Stdin, outW, errW}})
	outW.Close()
	errW.Close()
	if err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(20*time.Second, func() { proc.Kill() })
	st, err := proc.Wait()
	watchdog.Stop()
	if err != nil {
		t.Fatal(err)
	}
	<-outDone
	<-errDone
	status := st.ExitCode()
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		status = 128 + int(ws.Signal())
	}
	res := Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Status: status}
	// A tool that Debian starts by an alternative's name calls itself so.
	res.Stderr = []byte(strings.ReplaceAll(string(res.Stderr), path+": ", inv.Args[0]+": "))
	return res
}
