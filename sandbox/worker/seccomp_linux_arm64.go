package worker

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0x40000000 // above every number there is
)

var (
	alsoAlways  = []uintptr{}
	alsoLoading = []uintptr{unix.SYS_FSTATAT}
)
