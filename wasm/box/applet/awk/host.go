package awk

import (
	"errors"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// host runs commands. There are no pipes in the sandbox: files stand between
// the program and its commands.
type host struct {
	c      *applet.Ctx
	reads  map[string]string // command: the file with its output
	writes map[string]string // command: the file with its input
	order  []string          // of the commands written to
	status map[string]int
}

func newHost(c *applet.Ctx) *host {
	return &host{c: c, reads: map[string]string{}, writes: map[string]string{}, status: map[string]int{}}
}

func (h *host) cleanup() {
	for _, m := range []map[string]string{h.reads, h.writes} {
		for _, f := range m {
			os.Remove(f)
		}
	}
}

var errSandbox = errors.New("commands are not available in the sandbox")

// shell runs a line; stdin and stdout may be nil for awk's own.
func (h *host) shell(line string, stdin, stdout *os.File) (int, error) {
	if h.c.Procs == nil {
		return 0, errSandbox
	}
	if stdin == nil {
		stdin = os.Stdin
	}
	return h.c.Spawn(applet.Child{Args: []string{"sh", "-c", line}, Stdin: stdin, Stdout: stdout}), nil
}

// pipe is cmd | getline: the name of a file with the command's output.
func (h *host) pipe(cmd string) (string, error) {
	if f, ok := h.reads[cmd]; ok {
		return f, nil
	}
	f, err := os.CreateTemp("", "awk")
	if err != nil {
		return "", err
	}
	defer f.Close()
	status, err := h.shell(cmd, nil, f)
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	h.reads[cmd], h.status[cmd] = f.Name(), status
	return f.Name(), nil
}

// out is print | cmd: the name of a file that collects what is written.
func (h *host) out(cmd string) (string, error) {
	if f, ok := h.writes[cmd]; ok {
		return f, nil
	}
	if h.c.Procs == nil {
		return "", errSandbox
	}
	f, err := os.CreateTemp("", "awk")
	if err != nil {
		return "", err
	}
	f.Close()
	h.writes[cmd] = f.Name()
	h.order = append(h.order, cmd)
	return f.Name(), nil
}

// closedRead forgets the output of a command and returns its status.
func (h *host) closedRead(cmd string) int {
	os.Remove(h.reads[cmd])
	delete(h.reads, cmd)
	return h.status[cmd]
}

// feed runs a command over what was written to it.
func (h *host) feed(cmd string) (int, error) {
	name := h.writes[cmd]
	delete(h.writes, cmd)
	for i, o := range h.order {
		if o == cmd {
			h.order = append(h.order[:i:i], h.order[i+1:]...)
			break
		}
	}
	defer os.Remove(name)
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return h.shell(cmd, f, nil)
}

// finish runs the commands that were not closed.
func (h *host) finish() int {
	for len(h.order) > 0 {
		if _, err := h.feed(h.order[0]); err != nil {
			h.c.Warn(err.Error())
			return failed
		}
	}
	return 0
}
