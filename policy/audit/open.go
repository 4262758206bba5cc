package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Errors of [Open].
var (
	// ErrCut says that the log is shorter than its head says.
	ErrCut = errors.New("records are missing at the end of the log")

	// ErrBusy says that another process writes the log.
	ErrBusy = errors.New("another process is writing this log")
)

// maxLine bounds one record as it is read.
const maxLine = 8 << 20

// lockWait is how long Open waits for another writer to end.
const lockWait = 2 * time.Second

// found is what Open learned of the log.
type found struct {
	unclean bool   // the last writer did not close it
	torn    []byte // what it left half written
}

func (f found) custom() map[string]any {
	if len(f.torn) == 0 {
		return map[string]any{"torn_bytes": 0}
	}
	sum := sha256.Sum256(f.torn)
	return map[string]any{"torn_bytes": len(f.torn), "torn_sha256": hex.EncodeToString(sum[:])}
}

func openChain(path string, maxSize int64) (*chain, found, error) {
	var fd found
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fd, fmt.Errorf("audit: %w", err)
	}
	_, err := os.Lstat(path + headSuffix)
	headless := errors.Is(err, os.ErrNotExist)
	lock, err := openPrivate(path+headSuffix, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fd, fmt.Errorf("audit: %w", err)
	}
	for until := time.Now().Add(lockWait); ; time.Sleep(20 * time.Millisecond) {
		if err = lockFile(lock); err == nil {
			break
		}
		if time.Now().After(until) {
			return nil, fd, fmt.Errorf("audit: %s: %w: give each server a file of its own", path, errors.Join(ErrBusy, lock.Close()))
		}
	}
	f, err := openPrivate(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, fd, fmt.Errorf("audit: %w", errors.Join(err, lock.Close()))
	}
	c := &chain{path: path, maxSize: maxSize, lock: lock, f: f, kick: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
	if fd, err = c.recover(f, headless); err != nil {
		return nil, fd, errors.Join(err, f.Close(), lock.Close())
	}
	go c.syncAll()
	return c, fd, nil
}

// openPrivate opens a file that nobody else may write.
func openPrivate(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	switch {
	case err != nil:
	case !fi.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case fi.Mode().Perm()&0o022 != 0:
		err = fmt.Errorf("%s may be written by others (mode %04o): chmod 600 it", path, fi.Mode().Perm())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// recover finds the end of the chain, cuts off what is half written and holds
// the end against the head.
func (c *chain) recover(f *os.File, headless bool) (found, error) {
	var fd found
	last, size, torn, err := tail(f)
	if err != nil {
		return fd, fmt.Errorf("audit: %s: %w", c.path, err)
	}
	if last == nil { // a new log, or one that was just rotated
		files, err := rotated(c.path)
		if err != nil {
			return fd, fmt.Errorf("audit: %w", err)
		}
		if len(files) > 0 {
			if last, err = lastOf(files[len(files)-1]); err != nil {
				return fd, fmt.Errorf("audit: %w", err)
			}
		}
	}
	end, kind := Anchor{Hash: zeroHash}, TypeClosed
	if last != nil {
		rec, err := parseLine(last)
		if err != nil {
			return fd, fmt.Errorf("audit: %s: the last record is broken (%w); see donax events --verify, and move the log away", c.path, err)
		}
		end, kind = Anchor{rec.Seq, rec.Hash}, rec.Type
	}
	head, err := readHead(c.lock)
	if err != nil {
		return fd, fmt.Errorf("audit: %s%s: %w", c.path, headSuffix, err)
	}
	switch {
	case head.Seq > end.Seq, head.Seq == end.Seq && head.Seq > 0 && head.Hash != end.Hash:
		return fd, fmt.Errorf("audit: %s: %w: it ends at record %d, its head is at %d; see donax events --verify, and move both away", c.path, ErrCut, end.Seq, head.Seq)
	case (headless || head.Seq == 0) && end.Seq > 2: // two records may be there before the first head
		return fd, fmt.Errorf("audit: %s: %w: %s%s is gone; see donax events --verify, and move the log away", c.path, ErrCut, filepath.Base(c.path), headSuffix)
	}
	fd = found{unclean: kind != TypeClosed || len(torn) > 0, torn: torn}
	if len(torn) > 0 {
		if err := f.Truncate(size); err != nil {
			return fd, fmt.Errorf("audit: %w", err)
		}
	}
	c.size, c.seq, c.hash = size, end.Seq, end.Hash
	c.written, c.synced = end, head
	return fd, nil
}

// tail returns the last whole line of f, where it ends, and what follows it.
func tail(f *os.File) (line []byte, end int64, torn []byte, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return nil, 0, nil, err
	}
	for window := int64(64 << 10); ; window *= 8 {
		from := max(0, size-window)
		b := make([]byte, size-from)
		if _, err := f.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, nil, err
		}
		nl := bytes.LastIndexByte(b, '\n')
		start := bytes.LastIndexByte(b[:max(nl, 0)], '\n') + 1
		switch {
		case nl >= 0 && (start > 0 || from == 0):
			return b[start:nl], from + int64(nl) + 1, b[nl+1:], nil
		case from == 0:
			return nil, 0, b, nil // not one whole line
		case window > maxLine*2:
			return nil, 0, nil, errors.New("the last line has no end: this is no log of ours")
		}
	}
}

func lastOf(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line, _, torn, err := tail(f)
	if err == nil && (line == nil || len(torn) > 0) {
		err = fmt.Errorf("%s has no whole last line", name)
	}
	return line, err
}

const headSuffix = ".head"

func readHead(f io.ReaderAt) (Anchor, error) {
	b := make([]byte, headSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Anchor{}, err
	}
	if b = bytes.TrimSpace(b[:n]); len(b) == 0 {
		return Anchor{}, nil
	}
	var a Anchor
	if err := json.Unmarshal(b, &a); err != nil {
		return Anchor{}, errors.New("not a head file")
	}
	return a, nil
}

// rotated returns the closed files of a log, oldest first.
func rotated(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if name := filepath.Join(filepath.Dir(path), e.Name()); number(path, name) > 0 {
			files = append(files, name)
		}
	}
	slices.SortFunc(files, func(a, b string) int { return number(path, a) - number(path, b) })
	return files, nil
}

// number is the number behind the name of a closed file of path; 0 for
// another file.
func number(path, name string) int {
	digits, ok := strings.CutPrefix(filepath.Base(name), filepath.Base(path)+".")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || len(digits) < 6 || n < 1 {
		return 0
	}
	return n
}

// syncFolder makes a rename last. Not every system can; then the kernel does
// so in its own time.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
