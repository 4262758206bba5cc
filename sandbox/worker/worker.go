// Package worker runs command lines in processes of their own, so that the
// worst a line can do ends one process and not the server.
//
// A worker is this program, started again with an empty environment, one
// socket and a jail round it (see [Serve]); it parses and runs what clients
// sent, and that is all it can do. What the line may reach stays in the server
// and is asked for over the socket: decisions of the policy, files, input and
// output. A worker has no file system: each operation on a session's file is a
// request that the server carries out on the same [vfs.FS] that a sandbox
// without workers would use, so that quotas, protected names and read-only
// mounts hold whatever becomes of the worker, and files outlive it.
//
// A [Pool] keeps workers ready and is a Runner of terminals. Whatever a
// worker says is taken for hostile: messages are bounded and checked, and one
// that makes no sense ends the worker.
package worker

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// Version is that of the protocol between server and worker. Both are the same
// program, so they differ only when something is badly wrong.
const Version = 1

// Isolation says what terminals share.
type Isolation string

// The levels, from the strongest to the weakest.
const (
	// PerTerminal gives every running terminal a process of its own, as long
	// as there are workers left, and shares it within its principal beyond that.
	PerTerminal Isolation = "terminal"
	// PerSession gives every principal one process for all terminals.
	PerSession Isolation = "session"
	// None runs lines in the server's own process.
	None Isolation = "none"
)

// ParseIsolation returns the level with this name.
func ParseIsolation(s string) (Isolation, error) {
	switch i := Isolation(s); i {
	case PerTerminal, PerSession, None:
		return i, nil
	}
	return "", fmt.Errorf("there is no isolation %q: it is terminal, session or none", s)
}

// Limits bounds workers. Zero fields take the value of [DefaultLimits].
type Limits struct {
	// Memory is how many bytes of writable memory a worker may have; 0 is what
	// the limits of the session need and some room for the worker itself. The
	// system holds it: a worker that passes it is dead.
	Memory int64
	CPU    time.Duration // CPU time of a worker in all; then the system kills it
	Max    int           // workers at a time; 0 depends on the machine's memory
	Warm   int           // that wait for their first terminal; negative: none
	Idle   time.Duration // a worker without a terminal for so long is ended
	Grace  time.Duration // a line that was stopped and does not end in this time is killed with its worker
	Start  time.Duration // a worker that is not ready after this time is given up
}

// DefaultLimits is the one place where defaults live.
var DefaultLimits = Limits{
	CPU:   time.Hour,
	Warm:  1,
	Idle:  10 * time.Second,
	Grace: 300 * time.Millisecond,
	Start: time.Minute,
}

// room is the writable memory that a worker needs beside what lines use: code
// that is compiled, waiting instances, stacks, and the 64 MiB steps in which
// Go takes memory from the system.
const room = 256 << 20

func (l Limits) withDefaults(s sandbox.Limits) Limits {
	d := DefaultLimits
	memory, session := cmp.Or(s.Memory, sandbox.DefaultLimits.Memory), cmp.Or(s.Session, sandbox.DefaultLimits.Session)
	l.Memory = cmp.Or(l.Memory, max(session, 2*memory)+room)
	l.CPU = cmp.Or(l.CPU, d.CPU)
	l.Max = cmp.Or(l.Max, machineMax())
	l.Warm = max(0, cmp.Or(l.Warm, d.Warm))
	l.Idle = cmp.Or(l.Idle, d.Idle)
	l.Grace = cmp.Or(l.Grace, d.Grace)
	l.Start = cmp.Or(l.Start, d.Start)
	return l
}

// maxShare is the part of the machine's memory that workers may fill, when
// each has reached a quarter of its limit: most lines use a fraction of it.
func maxWorkers(total uint64) int {
	const each = 192 << 20
	return int(min(64, max(4, total/2/each)))
}

// A Finding says whether one mechanism of the jail holds on this machine.
type Finding struct {
	Name     string // "seccomp"
	OK       bool
	Detail   string // what holds, or why it does not
	Required bool   // [PerTerminal] and [PerSession] are refused without it
}

// A MissingError says that the isolation that was asked for cannot be had.
type MissingError struct {
	Asked   Isolation
	Missing []Finding
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("isolation %q cannot be had on this machine:", e.Asked)
	for _, f := range e.Missing {
		text += fmt.Sprintf(" %s (%s)", f.Name, f.Detail)
	}
	return text
}

// errProtocol is why a worker is killed that does not keep to the protocol.
var errProtocol = errors.New("it broke the protocol")
