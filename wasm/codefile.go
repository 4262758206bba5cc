package wasm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero"
)

// codeFiles is a folder of compiled code, in place of the runtime's own. That
// reads a file in ten thousand small parts and the code into memory of its own;
// here a file is laid out so that the code can be mapped: what is never run is
// never read, and processes share the rest.
type codeFiles struct {
	dir   string
	write bool               // false: what is compiled is not kept
	asked func(key [32]byte) // is told of each key, or nil
}

// A file holds a header of four numbers of 8 bytes, what the runtime reads
// before the code, the code at a multiple of codeAlign, and the rest.
const (
	codeMagic  = 0x31_65_64_6f_63_78_6e_64 // "dnxcode1"
	codeHeader = 4 * 8
	codeAlign  = 64 << 10 // the largest page of any system
)

var errCodeFile = errors.New("the file of compiled code is damaged")

// compilationCache returns a cache that keeps its code in s. The runtime has no
// call for that, so this sets what is private; without it, there is no cache.
func compilationCache(s *codeFiles) (wazero.CompilationCache, error) {
	c := wazero.NewCompilationCache()
	v := reflect.ValueOf(c)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, errNoStore
	}
	f := v.Elem().FieldByName("fileCache")
	if !f.IsValid() || f.Kind() != reflect.Interface || !reflect.TypeOf(s).Implements(f.Type()) {
		return nil, errNoStore
	}
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(s))
	return c, nil
}

var errNoStore = errors.New("wasm: this version of the runtime takes no store of compiled code")

func (s *codeFiles) path(key [32]byte) string {
	return filepath.Join(s.dir, hex.EncodeToString(key[:]))
}

// Get opens the code of a module.
func (s *codeFiles) Get(key [32]byte) (io.ReadCloser, bool, error) {
	if s.asked != nil {
		s.asked(key)
		return nil, false, errAsked
	}
	f, err := os.Open(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	r, err := newCodeReader(f)
	if err != nil {
		f.Close()
		return nil, false, fmt.Errorf("%w: %s: %w", errCodeFile, f.Name(), err)
	}
	return r, true, nil
}

// Delete forgets the code of another version.
func (s *codeFiles) Delete(key [32]byte) error {
	if err := os.Remove(s.path(key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Add keeps the code of a module.
func (s *codeFiles) Add(key [32]byte, content io.Reader) (err error) {
	if !s.write {
		return nil
	}
	in := bufio.NewReader(content)
	head, code, err := codeHead(in)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(s.dir, "*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		tmp.Close()
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	start := codeStart(int64(len(head)))
	if _, err := tmp.Seek(start, io.SeekStart); err != nil {
		return err
	}
	rest, err := io.Copy(tmp, in)
	if err != nil {
		return err
	}
	if rest < code {
		return io.ErrUnexpectedEOF
	}
	b := make([]byte, codeHeader, codeHeader+len(head))
	for i, n := range []uint64{codeMagic, uint64(len(head)), uint64(code), uint64(rest - code)} {
		binary.LittleEndian.PutUint64(b[i*8:], n)
	}
	if _, err := tmp.WriteAt(append(b, head...), 0); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil { // a crash of the machine must not leave half of it under its name
		return err
	}
	return os.Rename(tmp.Name(), s.path(key))
}

// codeHead reads what stands before the code: a magic number of six bytes, a
// version with its length, the number of functions, the place of each, and the
// size of the code.
func codeHead(r io.Reader) (head []byte, code int64, err error) {
	var b bytes.Buffer
	next := func(n int64) []byte {
		if err == nil {
			_, err = io.CopyN(&b, r, n)
		}
		return b.Bytes()[max(0, b.Len()-int(n)):]
	}
	if v := next(7); err == nil {
		next(int64(v[6]))
	}
	if n := next(4); err == nil {
		next(8 * int64(binary.LittleEndian.Uint32(n)))
	}
	size := next(8)
	if err != nil {
		return nil, 0, err
	}
	return b.Bytes(), int64(binary.LittleEndian.Uint64(size)), nil
}

// codeStart is where the code begins behind a head of n bytes.
func codeStart(n int64) int64 { return (codeHeader + n + codeAlign - 1) &^ (codeAlign - 1) }

// codeReader gives a file of compiled code to the runtime, in its order.
type codeReader struct {
	f    *os.File
	head []byte // not yet read
	at   int64  // of what is not yet read behind the head
	code int64  // bytes of code not yet read
	tail []byte // not yet read
}

func newCodeReader(f *os.File) (*codeReader, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var b [codeHeader]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return nil, err
	}
	var n [4]int64
	for i := range n {
		if n[i] = int64(binary.LittleEndian.Uint64(b[i*8:])); n[i] < 0 || i > 0 && n[i] > fi.Size() {
			return nil, io.ErrUnexpectedEOF
		}
	}
	start := codeStart(n[1])
	// A mapping of what is not there would end the process.
	if n[0] != codeMagic || start+n[2]+n[3] != fi.Size() {
		return nil, io.ErrUnexpectedEOF
	}
	r := &codeReader{f: f, head: make([]byte, n[1]), at: start, code: n[2], tail: make([]byte, n[3])}
	if _, err := f.ReadAt(r.head, codeHeader); err != nil {
		return nil, err
	}
	if _, err := f.ReadAt(r.tail, start+n[2]); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *codeReader) Read(p []byte) (n int, err error) {
	switch {
	case len(r.head) > 0:
		n = copy(p, r.head)
		r.head = r.head[n:]
	case r.code > 0:
		p = p[:min(int64(len(p)), r.code)]
		if n = len(p); int64(n) < r.code || !mapCode(r.f, r.at, p) {
			n, err = r.f.ReadAt(p, r.at)
		}
		r.at, r.code = r.at+int64(n), r.code-int64(n)
	case len(r.tail) > 0:
		n = copy(p, r.tail)
		r.tail = r.tail[n:]
	default:
		return 0, io.EOF
	}
	return n, err
}

func (r *codeReader) Close() error { return r.f.Close() }
