//go:build wasip1

// Package guest is the part of the box that runs inside wasm: it turns one
// call of the reactor's export into one run of a command.
//
// The host calls box_prepare once, takes a snapshot of the memory, and then
// calls box_run for each command, each time on the memory of that snapshot.
// So whatever must be new for each command is read anew in box_run.
//
// The package links only when the box is built with the additions to the
// standard library that package build makes.
package guest

import (
	"bufio"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Statuses that a command cannot choose.
const (
	statusFault = 125 // the command itself is broken
	statusPipe  = 141 // nobody reads the output: as if killed by SIGPIPE
)

var table map[string]*applet.Command

// Use makes cmds the commands of this box. The main package calls it while
// it is initialised; the result has no meaning.
func Use(cmds []*applet.Command) bool {
	table = make(map[string]*applet.Command, len(cmds))
	for _, c := range cmds {
		table[c.Name] = c
	}
	return true
}

// prepare runs once, before the snapshot.
//
//go:wasmexport box_prepare
func prepare() {
	os.Getenv("PATH") // the first use copies the environment
	runtime.GC()
	startingStack(stackSize)
	deepen(stackSize * 5 / 8 >> 10)
	rehearse()
}

// stackSize is how many bytes of stack commands begin with: few need more. To
// grow one costs as much as most commands do besides.
const stackSize = 32 << 10

// deepen grows the stack beyond n KiB, to the next power of two. It is what
// goroutines begin with, so it is kept when this one ends, and is that of the
// first goroutine of each command.
//
//go:noinline
func deepen(n int) (sum byte) {
	var frame [1 << 10]byte
	if n > 0 {
		sum = deepen(n - 1)
	}
	for _, b := range frame {
		sum += b
	}
	return sum
}

// rehearse has the allocator prepare for objects of each small size, with and
// without pointers, after the collection that took that from it: in a command
// the first of each size would cost some thousand instructions. So would the
// first question whether a writer has a Flush, and the first folder read; that
// of the snapshot is empty.
func rehearse() {
	(&applet.Ctx{Stdout: out}).Flush()
	os.ReadDir("/")
	for n := 8; n <= 2<<10; n += 8 {
		rehearsed.bytes = make([]byte, n)
		rehearsed.pointers = make([]*byte, n/8)
	}
	rehearsed.bytes, rehearsed.pointers = nil, nil
}

var rehearsed struct {
	bytes    []byte
	pointers []*byte
}

// out is the buffer of each command's output. Made before, it costs a command
// no more than what the command fills of it.
var out = bufio.NewWriterSize(stdout{}, 32<<10)

// run runs one command. The arguments are the canonical name of the command,
// the working directory, and then the command's own, from its argv[0] on.
//
//go:wasmexport box_run
func run() (status int32) {
	reseed()
	args := stringList(argsSizesGet, argsGet)
	if len(args) < 3 {
		return fault("box", "called without arguments")
	}
	setenv(stringList(environSizesGet, environGet))
	setwd(args[1])
	os.Args = args[2:]
	cmd := table[args[0]]
	if cmd == nil {
		return fault(args[0], "not in this box")
	}
	if other := cmd.Called(os.Args[0]); other != nil {
		cmd = other
	}
	defer func() {
		if p := recover(); p != nil {
			status = fault(cmd.Name, "panic: "+panicText(p))
		}
	}()
	c := &applet.Ctx{
		Cmd:     cmd,
		Args:    os.Args[1:],
		Stdin:   os.Stdin,
		Stdout:  out,
		Stderr:  rawWriter(2),
		Procs:   procs{},
		Web:     web{},
		Hash:    hostHash,
		Deflate: hostDeflate,
		Linger:  func(d time.Duration) { linger(int64(d)) },
	}
	status = int32(cmd.Run(c))
	if err := c.Flush(); err != nil && status == 0 {
		c.Warn("write error: ", applet.Reason(err))
		status = 1
	}
	return status & 0xff
}

func fault(name, msg string) int32 {
	io.WriteString(rawWriter(2), name+": "+msg+"\n")
	return statusFault
}

func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "of a type that has no text"
}

// rawWriter writes to a descriptor without os.File, which ends the whole
// program when nobody reads its standard output.
type rawWriter int

func (w rawWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		k, err := syscall.Write(int(w), p[n:])
		if err != nil {
			return n, err
		}
		if k == 0 {
			return n, io.ErrShortWrite
		}
		n += k
	}
	return n, nil
}

// stdout ends the command when nobody reads its output any more, as SIGPIPE
// does elsewhere: yes would never end otherwise.
type stdout struct{}

func (stdout) Write(p []byte) (int, error) {
	n, err := rawWriter(1).Write(p)
	if err == syscall.EPIPE {
		syscall.Exit(statusPipe)
	}
	return n, err
}
