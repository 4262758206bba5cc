//go:build !(linux && (amd64 || arm64))

package wasm

// Where addresses cannot be reserved, memory is of the Go heap.

func reserve() []byte              { return nil }
func commit([]byte, int, int) bool { return false }
func discard(b []byte)             { clear(b) }
func release([]byte)               {}
