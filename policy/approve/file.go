package approve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxFile bounds the file: it is read at each question.
const maxFile = 4 << 20

// Read reads the approvals in a file: one JSON object on a line; empty lines
// and lines that start with # are skipped. A file that is not there holds none.
// One that others than its owner can write, that belongs to somebody else, or
// that holds a line which is no approval is refused as a whole.
func Read(name string) ([]Entry, error) {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, fmt.Errorf("approvals: %s is no regular file", name)
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("approvals: %w", err)
	}
	defer f.Close()
	if err := trusted(f); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("approvals: %w", err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("approvals: %s is larger than %d MiB: take old lines out", name, maxFile>>20)
	}
	var list []Entry
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		e, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("approvals: %s:%d: %w", name, n, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// trusted refuses a file into which others could have written approvals.
func trusted(f *os.File) error {
	st, err := f.Stat()
	switch {
	case err != nil:
		return fmt.Errorf("approvals: %w", err)
	case !st.Mode().IsRegular():
		return fmt.Errorf("approvals: %s is no regular file", f.Name())
	case othersWrite(st):
		return fmt.Errorf("approvals: others can write %s, so its approvals count for nothing; try: chmod 600 %s", f.Name(), f.Name())
	case !mine(st):
		return fmt.Errorf("approvals: %s belongs to somebody else", f.Name())
	}
	return nil
}

// add writes an approval to the end of the file.
func add(name string, e Entry) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	// Append: one write of one line, so that several servers may share the file.
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	defer f.Close()
	if err := trusted(f); err != nil {
		return err
	}
	text := line.Bytes()
	if st, err := f.Stat(); err == nil && st.Size() > 0 { // an editor may have left the last line without its end
		last := []byte{'\n'}
		if _, err := f.ReadAt(last, st.Size()-1); err == nil && last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	return f.Close()
}

// Revoke takes approvals out of a file: those with the given [Entry.ID]s, all
// when there are none. It returns how many it took out.
func Revoke(name string, ids ...string) (n int, err error) {
	return revoke(name, func(e Entry) bool { return len(ids) == 0 || slices.Contains(ids, e.ID()) })
}

func revoke(name string, gone func(Entry) bool) (n int, err error) {
	if _, err := Read(name); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("approvals: %w", err)
	}
	var left bytes.Buffer
	for line := range bytes.Lines(text) {
		if e, err := parse(bytes.TrimSpace(line)); err == nil && gone(e) {
			n++
			continue
		}
		left.Write(line)
	}
	if n == 0 {
		return 0, nil
	}
	return n, replace(name, left.Bytes())
}

// replace puts text in the place of a file at once: a reader sees the old or
// the new one.
func replace(name string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".approvals-*") // with mode 600
	if err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("approvals: %w", err)
	}
	return nil
}
