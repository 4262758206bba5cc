//go:build wasip1

package guest

import (
	"syscall"
	"unsafe"
)

// The job's arguments and environment are read for each job: what the Go
// runtime read when it started belongs to the moment of the snapshot.

//go:wasmimport wasi_snapshot_preview1 args_sizes_get
//go:noescape
func argsSizesGet(n, size *uint32) uint32

//go:wasmimport wasi_snapshot_preview1 args_get
//go:noescape
func argsGet(ptrs *uint32, buf *byte) uint32

//go:wasmimport wasi_snapshot_preview1 environ_sizes_get
//go:noescape
func environSizesGet(n, size *uint32) uint32

//go:wasmimport wasi_snapshot_preview1 environ_get
//go:noescape
func environGet(ptrs *uint32, buf *byte) uint32

//go:wasmimport donax proc_spawn
//go:noescape
func procSpawn(req *byte, n uint32, pid *int32) syscall.Errno

//go:wasmimport donax proc_wait
//go:noescape
func procWait(pid int32, timeoutNS int64, ended, status *int32) syscall.Errno

//go:wasmimport donax proc_kill
//go:noescape
func procKill(pid, signal int32) syscall.Errno

//go:wasmimport donax net_fetch
//go:noescape
func netFetch(req *byte, n, body uint32, fd *uint32) syscall.Errno

//go:wasmimport donax hash
//go:noescape
func hashData(state *byte, stateLen uint32, data *byte, dataLen uint32) syscall.Errno

//go:wasmimport donax deflate
//go:noescape
func deflateData(level, last, dict uint32, in *byte, inLen uint32, out *byte, outLen uint32, n *uint32) syscall.Errno

//go:wasmimport donax linger
//go:noescape
func linger(ns int64) syscall.Errno

// These three are added to the standard library when the box is built.

//go:linkname reseed runtime.donaxReseed
func reseed()

//go:linkname startingStack runtime.donaxStack
func startingStack(n uint32)

//go:linkname setwd syscall.donaxSetwd
func setwd(dir string)

//go:linkname setenv syscall.donaxSetenv
func setenv(list []string)

// stringList reads a list of strings that WASI hands over as a size, an
// array of pointers and a buffer.
func stringList(sizes func(n, size *uint32) uint32, get func(ptrs *uint32, buf *byte) uint32) []string {
	var n, size uint32
	if sizes(&n, &size) != 0 || n == 0 {
		return nil
	}
	ptrs := make([]uint32, n)
	buf := make([]byte, size)
	if get(&ptrs[0], &buf[0]) != 0 {
		return nil
	}
	base := uint32(uintptr(unsafe.Pointer(&buf[0])))
	all := string(buf)
	list := make([]string, n)
	for i, p := range ptrs {
		end := uint32(len(all))
		if i+1 < len(ptrs) {
			end = ptrs[i+1] - base
		}
		list[i] = all[p-base : end-1] // without the NUL
	}
	return list
}
