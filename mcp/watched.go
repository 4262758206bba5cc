package mcp

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// A watched file is read again when it changes. While it cannot be read, or
// what it holds is wrong, it has no value: whoever depends on it lets nobody
// in.
type watched[T any] struct {
	what   string // "token file"
	path   string
	max    int         // bytes
	forbid fs.FileMode // bits of the mode that it must not have
	why    string      // what they would mean, and how to mend it
	parse  func([]byte) (T, error)
	log    func(error) // gets the error of a later read; may be nil

	mu    sync.Mutex
	info  os.FileInfo // when it was read last; nil when it could not be
	value T
	err   error
}

// reload reads the file, whether it has changed or not. The caller holds mu.
func (w *watched[T]) reload() {
	var none T
	w.value, w.info, w.err = none, nil, nil
	if w.err = w.read(); w.err != nil {
		w.value = none
		w.err = fmt.Errorf("%s %s: %w", w.what, w.path, w.err)
	}
}

func (w *watched[T]) read() error {
	f, err := os.Open(w.path)
	if err != nil {
		return bare(err)
	}
	defer f.Close()
	info, err := f.Stat() // of the file that is read, not of one put in its place
	if err != nil {
		return bare(err)
	}
	w.info = info
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a regular file")
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&w.forbid != 0 {
		return fmt.Errorf("mode %04o %s", mode, w.why)
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(w.max)+1))
	if err != nil {
		return bare(err)
	}
	if len(b) > w.max {
		return fmt.Errorf("longer than %d bytes", w.max)
	}
	w.value, err = w.parse(b)
	return err
}

// bare takes the path off an error: it is said once.
func bare(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}

// Reload reads the file again, whether it has changed or not.
func (w *watched[T]) Reload() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reload()
	return w.err
}

// current returns what the file holds, read again if it has changed.
func (w *watched[T]) current() (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := os.Stat(w.path)
	if err == nil && w.info != nil && w.err == nil && os.SameFile(info, w.info) && info.ModTime().Equal(w.info.ModTime()) &&
		info.Size() == w.info.Size() && info.Mode() == w.info.Mode() {
		return w.value, nil
	}
	before := w.err
	w.reload()
	if w.err != nil && w.log != nil && (before == nil || before.Error() != w.err.Error()) {
		w.log(w.err)
	}
	return w.value, w.err
}
