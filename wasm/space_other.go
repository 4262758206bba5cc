//go:build !(linux && (amd64 || arm64))

package wasm

import "os"

// Where addresses cannot be reserved, memory is of the Go heap.

func reserve() []byte              { return nil }
func commit([]byte, int, int) bool { return false }
func wantLarge([]byte)             {}
func discard(b []byte)             { clear(b) }
func release([]byte)               {}

func mapCode(*os.File, int64, []byte) bool { return false }
func mapImage(*os.File, []byte) bool       { return false }
func unmapImage([]byte) bool               { return false }

func openPagemap() *os.File                       { return nil }
func sharedFile(int64) *os.File                   { return nil }
func mapShared(*os.File, int) []byte              { return nil }
func seal([]byte) bool                            { return false }
func unmapShared([]byte)                          {}
func mapPrivate(*os.File, int64, []byte) bool     { return false }
func written(*os.File, []byte, func(at int)) bool { return false }
