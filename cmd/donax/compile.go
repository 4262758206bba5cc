package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm"
	"github.com/spf13/cobra"
)

// A module of a user is compiled in a process of its own: a few kilobytes can
// cost a compiler minutes and gigabytes, and nothing can stop it from within.
// That process is donax itself, with bounds on its memory, its CPU time and the
// time on the wall.

// compileMemory is how many bytes the process may use.
const compileMemory = 512 << 20

// errTooExpensive is the error of a module whose compilation was ended.
var errTooExpensive = errors.New("module too expensive")

// compileTime is how many seconds of CPU time a module may take, and wallTime
// how long that may be for others to see. Real programs take about a second
// for a megabyte.
func compileTime(size int) int { return min(3+size>>19, 120) }

func wallTime(cpu int) time.Duration { return time.Duration(cpu) * time.Second * 3 / 2 }

// tooSlow is errTooExpensive where a less busy machine may be fast enough.
type tooSlow struct{ limit time.Duration }

func (e tooSlow) Error() string {
	return fmt.Sprintf("%v: compiling it takes more than %v", errTooExpensive, e.limit)
}

func (e tooSlow) Is(target error) bool {
	return target == errTooExpensive || target == context.DeadlineExceeded
}

// compileApart returns the wasm.Config.Compile that fills the cache in dir;
// nil without a cache.
func compileApart(dir string) func(context.Context, []byte) error {
	if dir == "" {
		return nil
	}
	return func(ctx context.Context, module []byte) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		cpu := compileTime(len(module))
		wall, cancel := context.WithCancel(ctx)
		defer cancel()
		var said bytes.Buffer
		c := exec.CommandContext(wall, self)
		c.Args = []string{"donax", "compile-module", dir, strconv.Itoa(cpu)}
		c.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // Windows cannot start without it
		c.Stdin, c.Stderr = bytes.NewReader(module), &head{max: 8 << 10, buf: &said}
		c.WaitDelay = time.Second
		if err := c.Start(); err != nil {
			return err
		}
		go func() {
			if hadItsTime(wall, c.Process.Pid, cpu) {
				cancel()
			}
		}()
		err = c.Wait()
		switch first, _, _ := strings.Cut(said.String(), "\n"); {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case wall.Err() != nil:
			return tooSlow{wallTime(cpu)}
		case strings.Contains(first, "out of memory") || strings.Contains(first, "cannot allocate"):
			return fmt.Errorf("%w: compiling it takes more than %d MiB of memory", errTooExpensive, compileMemory>>20)
		case killed(c.ProcessState):
			return fmt.Errorf("%w: compiling it takes more than %d s of CPU time", errTooExpensive, cpu)
		case first != "":
			return errors.New(strings.TrimPrefix(first, "donax: "))
		}
		return err
	}
}

// maxWaits bounds the time on the wall, in wallTimes.
const maxWaits = 8

// hadItsTime returns when a process has run for as long as may be for others to
// see; false when ctx ended before. One that got little of a processor
// meanwhile, on a busy machine, gets more of the clock, but no more CPU time.
func hadItsTime(ctx context.Context, pid, cpu int) bool {
	for range maxWaits {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wallTime(cpu)):
		}
		if used, ok := usedCPU(pid); !ok || used > time.Duration(cpu)*time.Second/2 {
			break
		}
	}
	return true
}

// usedCPU reads from Linux how much CPU time a process has used.
func usedCPU(pid int) (time.Duration, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// Behind the name, which is in parentheses: utime and stime are the 12th and 13th, in hundredths of a second.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, err1 == nil && err2 == nil
}

// newCompileModule is the verb of that process; nobody else calls it.
func newCompileModule(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:    "compile-module CACHE SECONDS",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			seconds, err := strconv.Atoi(args[1])
			if err != nil {
				return usageError("", "%q is no number of seconds", args[1])
			}
			if err := boundProcess(compileMemory, seconds); err != nil {
				return &exitError{exitFault, fmt.Errorf("the process cannot be bounded: %w", err)}
			}
			debug.SetMemoryLimit(compileMemory * 3 / 4)
			stop := watchMemory(compileMemory)
			defer stop()
			module, err := io.ReadAll(std.in)
			if err != nil {
				return &exitError{exitFault, err}
			}
			if err := wasm.CompileInto(cmd.Context(), args[0], module); err != nil {
				return &exitError{exitFault, err}
			}
			return nil
		},
	}
}

// watchMemory ends the process when it uses more than max bytes: systems
// without a limit on memory have nothing else, and elsewhere this says more.
func watchMemory(max uint64) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		use := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if metrics.Read(use); use[0].Value.Uint64()-use[1].Value.Uint64() > max {
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(exitFault)
			}
		}
	}()
	return func() { close(done) }
}

// head keeps the first max bytes of what is written.
type head struct {
	buf *bytes.Buffer
	max int
}

func (t *head) Write(p []byte) (int, error) {
	t.buf.Write(p[:max(0, min(len(p), t.max-t.buf.Len()))])
	return len(p), nil
}
