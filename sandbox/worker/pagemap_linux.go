package worker

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A worker is born without the right to open files, and the system's account of
// its own pages is one. It says which pages were written to and nothing of
// what is in them, so the server opens it and sends it ahead of everything else:
// one byte, and the descriptor if there is one.

// tellPages sends the worker pid its account.
func tellPages(socket *os.File, pid int) error {
	var rights []byte
	if f, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid)); err == nil {
		defer f.Close()
		rights = unix.UnixRights(int(f.Fd()))
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Write(func(fd uintptr) bool {
		sent = unix.Sendmsg(int(fd), []byte{0}, rights, nil, unix.MSG_NOSIGNAL)
		return sent != unix.EAGAIN
	})
	return errors.Join(err, sent)
}

// hearPages receives what tellPages sent; nil when there was no account.
func hearPages(socket int) (*os.File, error) {
	for {
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(socket), Events: unix.POLLIN}}, -1); err != nil && err != unix.EINTR {
			return nil, err
		}
		rights := make([]byte, unix.CmsgSpace(4))
		n, rn, _, _, err := unix.Recvmsg(socket, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
			continue
		case err != nil || n != 1:
			return nil, fmt.Errorf("%w: no greeting: %v", errProtocol, err)
		}
		messages, err := unix.ParseSocketControlMessage(rights[:rn])
		if err != nil || len(messages) != 1 {
			return nil, err
		}
		fds, err := unix.ParseUnixRights(&messages[0])
		if err != nil || len(fds) != 1 {
			return nil, err
		}
		return os.NewFile(uintptr(fds[0]), "pagemap"), nil
	}
}
