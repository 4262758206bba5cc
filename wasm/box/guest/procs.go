//go:build wasip1

package guest

import (
	"os"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// procs is applet.Procs over the host's functions.
type procs struct{}

var _ applet.Procs = procs{}

// none is the descriptor of a stream that is not there.
const none = ^uint32(0)

// Start encodes c as the host reads it: lists as a count and then each
// string as a length and its bytes, all numbers little-endian and 32 bits
// wide; arguments, environment, directory, and the three descriptors.
func (procs) Start(c applet.Child) (int, error) {
	if len(c.Args) == 0 {
		return 0, syscall.EINVAL
	}
	if c.Env == nil {
		c.Env = os.Environ()
	}
	wd, err := syscall.Getwd()
	if err != nil {
		return 0, err
	}
	if c.Dir == "" {
		c.Dir = wd
	} else if c.Dir[0] != '/' {
		c.Dir = wd + "/" + c.Dir
	}
	b := list(nil, c.Args)
	b = list(b, c.Env)
	b = str(b, c.Dir)
	b = u32(b, fd(c.Stdin, none))
	b = u32(b, fd(c.Stdout, 1))
	b = u32(b, fd(c.Stderr, 2))
	var pid int32
	if errno := procSpawn(&b[0], uint32(len(b)), &pid); errno != 0 {
		return 0, errno
	}
	return int(pid), nil
}

func (procs) Wait(pid int, timeoutNS int64) (ended, status int, err error) {
	var e, s int32
	if errno := procWait(int32(pid), timeoutNS, &e, &s); errno != 0 {
		return 0, 0, errno
	}
	return int(e), int(s), nil
}

func (procs) Kill(pid, signal int) error {
	if errno := procKill(int32(pid), int32(signal)); errno != 0 {
		return errno
	}
	return nil
}

func fd(f *os.File, def uint32) uint32 {
	if f == nil {
		return def
	}
	return uint32(f.Fd())
}

func u32(b []byte, n uint32) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func str(b []byte, s string) []byte { return append(u32(b, uint32(len(s))), s...) }

func list(b []byte, l []string) []byte {
	b = u32(b, uint32(len(l)))
	for _, s := range l {
		b = str(b, s)
	}
	return b
}
