package brake

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// checkPeer refuses other users. The socket's mode does already; this holds
// also where somebody has changed it.
func checkPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *syscall.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || credErr != nil {
		return errors.Join(err, credErr)
	}
	if int(cred.Uid) != os.Geteuid() && cred.Uid != 0 {
		return errors.New("another user")
	}
	return nil
}
