package client

import "syscall"

// ownGroup makes a child the leader of a group that can be killed as one, and
// ends it when its parent dies, however that happens.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
