package brake

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Request is what an operator asks of a running server, over its control
// socket: a unix socket that only the user of the server can reach, in a folder
// of mode 0700. Messages are one line of JSON each way.
type Request struct {
	Op     string `json:"op"` // on, off or status
	Reason string `json:"reason,omitempty"`
}

// A Report is the answer to a [Request].
type Report struct {
	PID     int       `json:"pid"` // of the server
	State   State     `json:"state"`
	First   bool      `json:"first,omitempty"`   // the switch was off before
	Running int       `json:"running"`           // commands that run now
	Stopped []Stopped `json:"stopped,omitempty"` // what was running
	TookMS  int64     `json:"tookMs"`
	Error   string    `json:"error,omitempty"` // what could not be done or proved
}

// Stopped is a command that was running when the brake was pulled.
type Stopped struct {
	Terminal  string `json:"terminal"`
	Principal string `json:"principal"`
	Command   string `json:"command"`
	Ended     bool   `json:"ended"` // nothing of it runs any more
}

const (
	maxMessage = 1 << 20 // bytes of a report; a request is much shorter
	maxRequest = 16 << 10
	talkLimit  = 15 * time.Second // of one request and its answer
)

// A Control answers requests.
type Control func(ctx context.Context, r Request) Report

// Listen opens the control socket at path, which must lie in a folder of this
// user that is closed to others; the folder is made when it is missing. A
// socket that nobody listens on any more is replaced.
func Listen(path string) (*net.UnixListener, error) {
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if errors.Is(err, syscall.EADDRINUSE) && dead(path) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// dead reports whether path is a socket that nobody listens on.
func dead(path string) bool {
	fi, err := os.Lstat(path)
	if err != nil || fi.Mode().Type() != fs.ModeSocket {
		return false
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// Serve answers requests on l until ctx ends; then it closes l and waits for
// the answers in progress.
func (c Control) Serve(ctx context.Context, l *net.UnixListener) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			time.Sleep(50 * time.Millisecond) // out of descriptors, for instance: the brake must work again afterwards
			continue
		}
		wg.Go(func() {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(talkLimit))
			c.answer(ctx, conn)
		})
	}
}

func (c Control) answer(ctx context.Context, conn *net.UnixConn) {
	rep := Report{PID: os.Getpid()}
	var req Request
	line, err := bufio.NewReaderSize(conn, maxRequest).ReadSlice('\n')
	switch {
	case checkPeer(conn) != nil:
		rep.Error = "only the user of the server may do that"
	case err != nil:
		rep.Error = "the request is no line"
	default:
		d := json.NewDecoder(strings.NewReader(string(line)))
		d.DisallowUnknownFields()
		if err := d.Decode(&req); err != nil || req.Op != "on" && req.Op != "off" && req.Op != "status" {
			rep.Error = "the request is not known"
			break
		}
		rep = c(ctx, req)
		rep.PID = os.Getpid()
	}
	b, err := json.Marshal(rep)
	if err == nil {
		_, _ = conn.Write(append(b, '\n')) // who has gone needs no answer
	}
}

// Send sends a request to the server whose control socket is at path, which
// must belong to this user. An error that matches [ErrGone] says that no server
// listens there.
func Send(ctx context.Context, path string, r Request) (Report, error) {
	var rep Report
	fi, err := os.Lstat(path)
	if err != nil {
		return rep, fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err := ownedByUs(fi, path); err != nil {
		return rep, err
	}
	ctx, cancel := context.WithTimeout(ctx, talkLimit)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			err = fmt.Errorf("%w: %w", ErrGone, err)
		}
		return rep, err
	}
	defer conn.Close()
	until, _ := ctx.Deadline()
	_ = conn.SetDeadline(until)
	b, err := json.Marshal(r)
	if err != nil {
		return rep, err
	}
	if len(b) >= maxRequest {
		return rep, errors.New("the reason is too long")
	}
	if _, err := conn.Write(append(b, '\n')); err != nil {
		return rep, err
	}
	if err := json.NewDecoder(conn).Decode(&rep); err != nil {
		return rep, fmt.Errorf("no answer: %w", err)
	}
	if rep.Error != "" {
		return rep, errors.New(rep.Error)
	}
	return rep, nil
}

// ErrGone is matched by the error of [Send] when no server listens.
var ErrGone = errors.New("no server listens")

// Sockets returns the control sockets in a folder. The folder must belong to
// this user.
func Sockets(dir string) ([]string, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := privateFolder(dir); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(dir, "*.sock"))
}
