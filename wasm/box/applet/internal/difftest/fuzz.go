package difftest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// A Fuzz compares commands that a grammar makes. They run in the process of
// the test, and as a process of the machine.
type Fuzz struct {
	Commands []*applet.Command
	Setup    string // a shell script that makes the files, if there are any
	// Grammar has "command", the words of a command line with ¦ between them,
	// "input", what it reads, and may have "file NAME" for files made anew.
	Grammar Grammar
	// Batch makes the words of one command of several texts of "piece", as a
	// process takes long to start. Where a batch differs, or fails, they are
	// compared one by one.
	Batch func(pieces []string) []string
	// Piped has the pieces, a line each, as the input.
	Piped bool
	// Same rewrites what both print, for differences that are meant.
	Same func(line, text string) string
	// Odd is how many of a thousand may differ: faults of the tool, choices
	// between answers that are as good, what LIMITATIONS.md says.
	Odd int
	// Stderr compares what diagnostics say, and not only whether there are any.
	Stderr bool
}

// A trial is one command to compare.
type trial struct {
	args  []string
	stdin string
	files map[string]string
}

const batch = 50

// A command should take no time and print little. Those of the tool that do not
// are not compared; one of the box has more time, as its machine is shared.
const (
	patience = 2 * time.Second
	most     = 1 << 20
)

// bounded keeps what is written into it until that is too much.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > most {
		return 0, syscall.EPIPE
	}
	return b.Buffer.Write(p)
}

// Run compares as many commands as DONAX_COMPARE says, a few hundred without
// it, made from the seed DONAX_SEED.
func (f Fuzz) Run(t *testing.T) {
	tool := f.Commands[0].Name
	if _, err := exec.LookPath(tool); err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	total, err := strconv.Atoi(os.Getenv("DONAX_COMPARE"))
	if err != nil {
		total = 200
	}
	seed, err := strconv.ParseUint(os.Getenv("DONAX_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	t.Chdir(t.TempDir())
	for k, v := range map[string]string{"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": "/nonexistent"} {
		t.Setenv(k, v)
	}
	if out, err := exec.Command("bash", "-c", f.Setup).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	done, differ := 0, 0
	for done < total {
		n, d := f.next(t, r)
		done, differ = done+n, differ+d
	}
	t.Logf("%s: %d comparisons, %d mismatches, seed %d", tool, done, differ, seed)
	if differ*1000 > f.Odd*max(done, 1000) {
		t.Errorf("%d mismatches of %d are too many", differ, done)
	}
}

func (f Fuzz) next(t *testing.T, r *rand.Rand) (done, differ int) {
	c := trial{files: map[string]string{}}
	if _, ok := f.Grammar["input"]; ok {
		c.stdin = f.Grammar.Make(r, "input")
	}
	for _, name := range slices.Sorted(maps.Keys(f.Grammar)) {
		if file, ok := strings.CutPrefix(name, "file "); ok {
			c.files[file] = f.Grammar.Make(r, name)
		}
	}
	if f.Batch == nil {
		c.args = strings.Split(f.Grammar.Make(r, "command"), "¦")
		return 1, f.compare(t, c)
	}
	pieces := make([]string, batch)
	for i := range pieces {
		pieces[i] = f.Grammar.Make(r, "piece")
	}
	c = f.batch(c, pieces)
	if got, want := f.both(t, c); got == want && want.Status == 0 {
		return batch, 0
	}
	for _, p := range pieces {
		differ += f.compare(t, f.batch(c, []string{p}))
	}
	return batch, differ
}

func (f Fuzz) batch(c trial, pieces []string) trial {
	if c.args = f.Batch(pieces); f.Piped {
		c.stdin = strings.Join(pieces, "\n") + "\n"
	}
	return c
}

// compare returns 1 when what the box and the tool do differs, after logging it.
func (f Fuzz) compare(t *testing.T, c trial) int {
	got, want := f.both(t, c)
	if got == want {
		return 0
	}
	t.Logf("%q <<< %q %q\ngot:  %d %q %q %s\nwant: %d %q %q %s", c.args, c.stdin, c.files, got.Status, got.Stdout, got.Stderr, got.Tree, want.Status, want.Stdout, want.Stderr, want.Tree)
	return 1
}

func (f Fuzz) both(t *testing.T, c trial) (got, want Result) {
	line := strings.Join(c.args, " ")
	var results [2]Result
	for i, run := range []func(*testing.T, trial) Result{f.tool, f.box} {
		for name, text := range c.files {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		res := run(t, c)
		if res.Status < 0 && i == 0 { // it was ended
			return res, res
		}
		if f.Same != nil {
			res.Stdout, res.Stderr = f.Same(line, res.Stdout), f.Same(line, res.Stderr)
		}
		if !f.Stderr && res.Stderr != "" {
			res.Stderr = "said"
		}
		for _, name := range slices.Sorted(maps.Keys(c.files)) {
			before := c.files[name]
			if after, err := os.ReadFile(name); err != nil || string(after) != before {
				res.Tree += fmt.Sprintf("%s %q ", name, after)
			}
		}
		results[i] = res
	}
	return results[1], results[0]
}

func (f Fuzz) box(t *testing.T, c trial) Result {
	cmd := f.Commands[0]
	for _, other := range f.Commands {
		if other := other.Called(c.args[0]); other != nil {
			cmd = other
		}
	}
	var stdout, stderr bounded
	w := bufio.NewWriter(&stdout)
	ended := make(chan int, 1)
	go func() {
		status := -1
		defer func() {
			if status < 0 {
				fmt.Fprintln(&stderr, "panic:", recover())
			}
			ended <- status
		}()
		status = cmd.Run(&applet.Ctx{Cmd: cmd, Args: c.args[1:], Stdin: strings.NewReader(c.stdin), Stdout: w, Stderr: &stderr, Procs: &procs{}})
	}()
	select {
	case status := <-ended:
		w.Flush()
		return Result{Stdout: stdout.String(), Stderr: stderr.String(), Status: status}
	case <-time.After(10 * patience):
		t.Fatalf("%q <<< %q %q does not end", c.args, c.stdin, c.files)
	}
	return Result{}
}

func (f Fuzz) tool(t *testing.T, c trial) Result {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	var stdout, stderr bounded
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) && !errors.Is(err, syscall.EPIPE) {
		t.Fatalf("%q: %v", c.args, err)
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Status: cmd.ProcessState.ExitCode()}
}
