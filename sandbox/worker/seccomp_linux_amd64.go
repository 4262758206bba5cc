package worker

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32Bit    = 0x40000000 // set in the numbers of the x32 ABI
)

var (
	alsoAlways  = []uintptr{}
	alsoLoading = []uintptr{unix.SYS_NEWFSTATAT, unix.SYS_READLINK, unix.SYS_ACCESS}
)
