package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// A BrokenError names the first place where a log is not what was written.
type BrokenError struct {
	File string
	Line int   // 1-based; 0 when it is not about a line
	Seq  int64 // of the record, or where one is missing; 0 when not known
	Why  string
	Torn bool // it is a last line without an end, as a crash leaves it
}

func (e *BrokenError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Why
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}

// A Line is one line of a log and what it says.
type Line struct {
	File string
	N    int // 1-based
	Raw  []byte
	Record
}

// Files returns the files of the log at path, oldest first.
func Files(path string) ([]string, error) {
	files, err := rotated(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil && (len(files) == 0 || !errors.Is(err, os.ErrNotExist)) {
		return nil, err
	} else if err == nil {
		files = append(files, path)
	}
	return files, nil
}

// Read yields the lines of the log at path, closed files included. Links
// between them are not checked; see [Verify]. A line that is no record comes
// with a [*BrokenError], after which reading goes on.
func Read(path string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		files, err := Files(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for _, name := range files {
			if !readFile(name, yield) {
				return
			}
		}
	}
}

// ReadFrom is Read from the record with number seq on. Files that end before it
// are not read.
func ReadFrom(path string, seq int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		files, err := Files(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for i := len(files) - 1; i > 0; i-- { // the last that begins at or before it
			if first, ok := firstOf(files[i]); ok && first <= seq {
				files = files[i:]
				break
			}
		}
		for _, name := range files {
			if !readFile(name, func(l Line, err error) bool { return err == nil && l.Seq < seq || yield(l, err) }) {
				return
			}
		}
	}
}

func firstOf(name string) (seq int64, ok bool) {
	readFile(name, func(l Line, err error) bool {
		seq, ok = l.Seq, err == nil
		return false
	})
	return seq, ok
}

func readFile(name string, yield func(Line, error) bool) bool {
	f, err := os.Open(name)
	if err != nil {
		return yield(Line{File: name}, err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		raw, err := readLine(in)
		l := Line{File: name, N: n, Raw: raw}
		broken := func(why string) error { return &BrokenError{File: name, Line: n, Why: why} }
		switch {
		case errors.Is(err, io.EOF) && len(raw) == 0:
			return true
		case errors.Is(err, io.EOF):
			return yield(l, &BrokenError{File: name, Line: n, Torn: true, Why: "the last line is torn: it has no end, as a crash leaves it"})
		case err != nil:
			return yield(l, broken(err.Error()))
		}
		l.Record, err = parseLine(raw)
		if err != nil {
			err = broken(err.Error())
		}
		if !yield(l, err) {
			return false
		}
	}
}

var errLong = fmt.Errorf("the line is longer than %d bytes", maxLine)

// readLine reads up to a newline, which it leaves out. io.EOF comes with what
// follows the last newline.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		case len(line) > maxLine:
			return nil, errLong
		}
	}
}

// shape is what every line looks like, byte for byte: nothing can hide before,
// behind or between.
var shape = lazily(`^\{"seq":[1-9][0-9]{0,17},"prev":"[0-9a-f]{64}",.*,"hash":"[0-9a-f]{64}"\}$`)

const hashTail = len(`,"hash":""}`) + sha256.Size*2

// parseLine reads a line and checks that its hash is its own.
func parseLine(raw []byte) (Record, error) {
	var r Record
	if !shape().Match(raw) {
		return r, errors.New("not a record")
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, errors.New("not a record: " + err.Error())
	}
	sum := sha256.Sum256(raw[:len(raw)-hashTail])
	if own := raw[len(raw)-2-sha256.Size*2 : len(raw)-2]; !bytes.Equal(own, []byte(hex.EncodeToString(sum[:]))) || r.Hash != string(own) {
		return r, fmt.Errorf("record %d was changed: its hash is not that of its text", r.Seq)
	}
	return r, nil
}
