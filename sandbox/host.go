package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/shell"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// A shellHost is the outside of one shell: the session's files as the policy
// leaves them, and the session's programs.
type shellHost struct {
	*host
	stderr io.Writer
	memory atomic.Int64 // bytes that this shell holds
	jobs   atomic.Int64
}

var _ shell.Host = (*shellHost)(nil)

// An ending is an error that ends the script it is given to, whatever it is.
type ending struct{ error }

func (e ending) Unwrap() error { return e.error }

// Is says so in the way the shell asks.
func (ending) Is(target error) bool { return target == context.Canceled }

// final makes err end the script when the run is over.
func (s *shellHost) final(err error) error {
	if cause := s.cause(); err != nil && cause != nil {
		return ending{cause}
	}
	return err
}

func (s *shellHost) files(ctx context.Context) vfs.FS {
	return s.filesOf(ctx, "shell", stdio{err: s.stderr})
}

// Open implements [shell.Host]. The streams' names are the shell's own.
func (s *shellHost) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.files(ctx).Open(name, flag, perm)
	if errors.Is(err, fs.ErrNotExist) && name == "/dev/null" {
		return &streamFile{name: "null", r: empty{}, w: io.Discard}, nil
	}
	return f, s.final(err)
}

// Stat implements [shell.Host]. Programs are files for the shell, also where
// the session's files show none.
func (s *shellHost) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	fi, err := s.files(ctx).Stat(name)
	if v := ""; errors.Is(err, fs.ErrNotExist) {
		if v = s.virtual(name); v != "" {
			return programInfo(v), nil
		}
	}
	return fi, s.final(err)
}

// Lstat implements [shell.Host].
func (s *shellHost) Lstat(ctx context.Context, name string) (fs.FileInfo, error) {
	fi, err := s.files(ctx).Lstat(name)
	return fi, s.final(err)
}

// Readlink implements [shell.Host].
func (s *shellHost) Readlink(ctx context.Context, name string) (string, error) {
	to, err := s.files(ctx).Readlink(name)
	return to, s.final(err)
}

// ReadDir implements [shell.Host].
func (s *shellHost) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	f, err := s.files(ctx).Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, s.final(err)
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	return list, s.final(err)
}

// Access implements [shell.Host]. It answers from the mode bits of the
// sandbox's own view.
func (s *shellHost) Access(ctx context.Context, name string, mode int) error {
	fi, err := s.Stat(ctx, name)
	if err != nil {
		return err
	}
	if int(fi.Mode().Perm()>>6)&mode != mode {
		return &fs.PathError{Op: "access", Path: name, Err: syscall.EACCES}
	}
	return nil
}

// Exec implements [shell.Host].
func (s *shellHost) Exec(ctx context.Context, c *shell.Command) error {
	return s.result(c, s.exec(ctx, &command{
		args:       c.Args,
		path:       c.Path,
		env:        c.Env,
		dir:        c.Dir,
		assigns:    c.Assigns,
		background: c.Background,
		files:      c.Files,
		depth:      c.Depth,
		pid:        c.PID,
		ignored:    c.Ignored,
		umask:      &c.Umask,
		stdin:      c.Stdin,
		stdout:     c.Stdout,
		stderr:     c.Stderr,
	}))
}

// Admit implements [shell.Host].
func (s *shellHost) Admit(ctx context.Context, c *shell.Command, text string) error {
	_, err := s.admit(ctx, policy.Exec{
		Name:       c.Args[0],
		Args:       c.Args[1:],
		Kind:       "shell",
		SHA256:     digest(text),
		Cwd:        c.Dir,
		Background: c.Background,
	}, c.Stderr)
	return s.result(c, err)
}

// result is what the shell is told of the end of a command.
func (s *shellHost) result(c *shell.Command, err error) error {
	var code ExitCode
	var de *policy.DeniedError
	var ee *ExecError
	switch {
	case err == nil:
		return nil
	case s.cause() != nil:
		return s.final(err)
	case errors.As(err, &ee) && ee.Status == StatusNotFound && errors.Is(ee, syscall.ENOEXEC):
		return &fs.PathError{Op: "exec", Path: ee.Name, Err: missing(ee.Msg)}
	case errors.As(err, &ee) && ee.Status == StatusNotFound:
		return shell.ErrNotFound
	case errors.As(err, &ee):
		return &fs.PathError{Op: "exec", Path: ee.Name, Err: errors.New(ee.Msg)}
	case errors.As(err, &de):
		if c.Stderr != nil {
			_, _ = io.WriteString(c.Stderr, denial(c.Args[0], de)+"\n")
		}
		return shell.ExitStatus(StatusDenied)
	case errors.As(err, &code):
		return shell.ExitStatus(code)
	}
	return err
}

// missing says what a program that is there lacks; its status is 127.
type missing string

func (m missing) Error() string      { return string(m) }
func (missing) Is(target error) bool { return target == fs.ErrNotExist }

// Absent implements [shell.Host].
func (s *shellHost) Absent(name string) string { return Absent(name) }

// Spend implements [shell.Host]. What a run holds is counted over all of its
// shells.
func (s *shellHost) Spend(r shell.Resource, n int64) error {
	switch r {
	case shell.Memory:
		s.memory.Add(n)
		held := s.run.memory.Add(n)
		if held > s.limits.Session && n > 0 {
			return s.final(s.stop(&LimitError{What: "memory of the shell " + bytesText(s.limits.Session), Flag: "--memory"}))
		}
		s.run.collect(held)
	case shell.Jobs:
		s.jobs.Add(n)
		if s.run.jobs.Add(n) > s.limits.Jobs+int64(s.limits.Stages) && n > 0 {
			s.jobs.Add(-n)
			s.run.jobs.Add(-n)
			return s.final(s.stop(&LimitError{What: fmt.Sprintf("%d background jobs and %d pipeline stages", s.limits.Jobs, s.limits.Stages)}))
		}
	}
	return nil
}

// giveBack returns what a shell that has ended still held.
func (s *shellHost) giveBack() {
	s.run.memory.Add(-s.memory.Load())
	s.run.jobs.Add(-s.jobs.Load())
}

// Now implements [shell.Host].
func (*shellHost) Now() time.Time { return time.Now() }

// Random implements [shell.Host].
func (*shellHost) Random() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.LittleEndian.Uint32(b[:])
}

// programInfo describes a program that no file system shows.
type programInfo string

func (i programInfo) Name() string       { return string(i) }
func (i programInfo) Size() int64        { return int64(len(boxMagic) + len(i) + 1) }
func (i programInfo) Mode() fs.FileMode  { return 0o755 }
func (i programInfo) ModTime() time.Time { return time.Time{} }
func (i programInfo) IsDir() bool        { return false }
func (i programInfo) Sys() any           { return &vfs.Stat{Nlink: 1} }
