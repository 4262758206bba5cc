package sed

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// lineReader reads the lines of a file of R.
type lineReader struct{ r *bufio.Reader }

// readLine returns the next line of a file, with its newline if it has one.
func (e *editor) readLine(name string) ([]byte, bool) {
	lr := e.readers[name]
	if lr == nil {
		if e.readers == nil {
			e.readers = map[string]*lineReader{}
		}
		lr = &lineReader{}
		e.readers[name] = lr
		if name == "/dev/stdin" {
			lr.r = bufio.NewReader(e.c.Stdin)
		} else if f, err := os.Open(name); err == nil {
			lr.r = bufio.NewReader(f)
		}
	}
	if lr.r == nil {
		return nil, false
	}
	line, err := lr.r.ReadBytes(e.sep)
	if err != nil && len(line) == 0 {
		return nil, false
	}
	return line, true
}

// execute runs the command e: its output comes before the line, or, without a
// text, it is the pattern space that runs and its output that replaces it.
func (e *editor) execute(text []byte) error {
	line := string(text)
	if len(text) == 0 {
		line = string(e.space)
	}
	out, err := e.capture(line)
	if err != nil {
		return err
	}
	if len(text) > 0 {
		e.out.newline()
		e.out.Write(out)
		return nil
	}
	e.space = append(e.space[:0], bytes.TrimSuffix(out, e.nl)...)
	return nil
}

// capture runs a shell line and returns what it prints. It goes through a
// file: only files can be handed to a child.
func (e *editor) capture(line string) ([]byte, error) {
	if e.c.Procs == nil {
		return nil, errors.New("cannot run commands: not inside the sandbox")
	}
	f, err := os.CreateTemp("", "sed")
	if err != nil {
		return nil, errors.New("couldn't open temporary file: " + applet.Reason(err))
	}
	defer os.Remove(f.Name())
	defer f.Close()
	e.c.Spawn(applet.Child{Args: []string{"sh", "-c", line}, Stdin: os.Stdin, Stdout: f})
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
