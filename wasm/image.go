package wasm

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// image is what the data segments of a module put into its memory, from address
// 0 on. It stays in its file: memory shows the file until it is written to, so
// that only what a run touches costs anything.
type image struct {
	f    *os.File
	size int // a multiple of codeAlign
}

// The file of a hollow module holds the image, the module, and their sizes.
const hollowTail = 2 * 8

func writeHollow(name string, bin, data []byte) error {
	size := (len(data) + codeAlign - 1) &^ (codeAlign - 1)
	b := append(make([]byte, size, size+len(bin)+hollowTail), bin...)
	copy(b, data)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(bin)))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	// Nothing tells a later reader that a crash of the machine has left zeros.
	return errors.Join(err, f.Sync(), f.Close())
}

// readHollow returns the module in f and the image, which keeps f unless it is
// empty.
func readHollow(f *os.File) ([]byte, *image, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	var tail [hollowTail]byte
	if _, err := f.ReadAt(tail[:], fi.Size()-hollowTail); err != nil {
		return nil, nil, err
	}
	size, n := int64(binary.LittleEndian.Uint64(tail[:])), int64(binary.LittleEndian.Uint64(tail[8:]))
	if size < 0 || n < 0 || size > fi.Size() || n > fi.Size() || size%codeAlign != 0 || size+n+hollowTail != fi.Size() {
		return nil, nil, io.ErrUnexpectedEOF
	}
	bin := make([]byte, n)
	if _, err := f.ReadAt(bin, size); err != nil {
		return nil, nil, err
	}
	return bin, &image{f, int(size)}, nil
}

// load puts the image into a space that is new to its instance.
func (i *image) load(s *space) bool {
	if i.size > len(s.b) {
		return false
	}
	b := s.b[:i.size]
	// What a guest may find by touching it, but for memory that the process has
	// already: that is not given up.
	if lazy := min(i.size, maxLazy); s.reserved != nil && s.dirty == 0 && mapImage(i.f, b[:lazy]) {
		s.mapped = lazy
	}
	if n, _ := i.f.ReadAt(b[s.mapped:], int64(s.mapped)); n == i.size-s.mapped {
		return true
	}
	if s.reserved != nil && mapImage(i.f, b) { // a worker that may not read files any more
		s.mapped = i.size
		return true
	}
	return false
}

// close lets go of the file. The memory of instances keeps what it shows.
func (i *image) close() {
	if i != nil && i.size > 0 {
		i.f.Close()
	}
}
