package client

import "syscall"

// ownGroup makes a child the leader of a group that can be killed as one.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
