//go:build !linux && !darwin

package worker

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
)

// A spawner starts workers that speak over their stdin and stdout. A worker
// ends when they do.
type spawner struct{}

func newSpawner([]string) (*spawner, error) { return &spawner{}, nil }

func (*spawner) close() {}

func (*spawner) findings() []Finding { return nil }

// pipes is both ends as one.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.ReadCloser.Close(), p.WriteCloser.Close()) }

func (*spawner) spawn(argv []string, stderr io.Writer) (*exec.Cmd, io.ReadWriteCloser, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := &exec.Cmd{Path: self, Args: argv, Env: []string{}, Stderr: stderr}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	return cmd, pipes{out, in}, cmd.Start()
}

func socket() (io.ReadWriteCloser, error) { return pipes{os.Stdin, os.Stdout}, nil }

func signalOf(*os.ProcessState) string { return "" }

func procs() int { return min(4, runtime.NumCPU()) }

func machineMax() int { return 8 }

func jail(Setup) []Finding {
	return []Finding{{Name: "process", OK: true, Detail: "a process of its own, with an empty environment; this system has no further means that donax uses"}}
}

func lockCode() Finding { return Finding{Name: "no new code", Detail: "not on this system"} }

func lockLater() Finding { return lockCode() }
