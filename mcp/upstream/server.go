package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/donax-sh/donax/mcp/client"
)

// server is one upstream server: what is known of it, and the connection to
// it while there is one.
type server struct {
	m      *Manager
	cfg    Server
	name   string    // in commands
	loaded sync.Once // the cache is read: by whoever needs it first

	mu        sync.Mutex
	mask      mask
	tools     []*Tool // nil until they are known
	byCommand map[string]*Tool
	list      string // hash of the list
	said      string // instructions, fit to be shown
	revision  string // MCP revision that worked last
	cached    bool   // the tools are from the cache and not yet compared
	conn      *client.Client
	dialing   chan struct{} // closed when the dial in progress has ended
	calls     int           // in flight on conn
	idle      *time.Timer
	failed    error  // of the last dial, as the sandbox may see it
	why       string // and as the operator does
	failedAt  time.Time
	cost      time.Duration // of the last dial that worked
	closed    bool
}

// retryAfter is how long a server that could not be reached is left alone.
const retryAfter = 5 * time.Second

// lock reads the cache, if that was not done yet, and locks mu.
func (s *server) lock() {
	s.loaded.Do(s.load)
	s.mu.Lock()
}

func (s *server) listed() bool {
	s.lock()
	defer s.mu.Unlock()
	return s.tools != nil
}

func (s *server) known() []*Tool {
	s.lock()
	defer s.mu.Unlock()
	return s.tools
}

func (s *server) tool(command string) *Tool {
	s.lock()
	defer s.mu.Unlock()
	return s.byCommand[command]
}

// use returns a connection, dialling if there is none, and what gives it
// back. The error is fit to be shown.
func (s *server) use(ctx context.Context) (*client.Client, func(), error) {
	if s.cfg.Err != nil {
		return nil, nil, fmt.Errorf("the upstream server %s is not configured: %s", s.name, s.hide(s.cfg.Err.Error()))
	}
	if s.cfg.Disabled {
		return nil, nil, fmt.Errorf("the upstream server %s is disabled", s.name)
	}
	for tried := false; ; tried = true {
		s.lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, nil, errClosed
		case s.conn != nil:
			defer s.mu.Unlock()
			if s.calls++; s.idle != nil {
				s.idle.Stop()
			}
			conn := s.conn
			return conn, func() { s.release(conn) }, nil
		case s.failed != nil && (tried || time.Since(s.failedAt) < retryAfter):
			defer s.mu.Unlock()
			return nil, nil, fmt.Errorf("the upstream server %s cannot be used: %w", s.name, s.failed)
		case s.dialing == nil:
			s.dialing = make(chan struct{})
			go s.dial(s.dialing)
		}
		wait := s.dialing
		s.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// release gives a connection back; one that nobody uses ends after a while.
func (s *server) release(conn *client.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != conn {
		return
	}
	if s.calls--; s.calls > 0 || s.closed {
		return
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	s.idle = time.AfterFunc(s.cfg.Idle, func() {
		s.mu.Lock()
		if s.conn != conn || s.calls > 0 {
			s.mu.Unlock()
			return
		}
		s.drop()
		s.mu.Unlock()
		_ = conn.Close()
	})
}

// drop forgets the connection; the caller holds mu.
func (s *server) drop() { s.conn, s.calls = nil, 0 }

// dial connects and compares the tools. It belongs to no command: one that is
// killed must not take the connection of others with it.
func (s *server) dial(done chan struct{}) {
	ctx, cancel := context.WithTimeout(s.m.ctx, s.cfg.StartTimeout)
	defer cancel()
	begin := time.Now()
	conn, err := s.connect(ctx)
	if err == nil {
		err = s.relist(ctx, conn)
		if err != nil {
			_ = conn.Close()
		}
	}
	if err != nil && ctx.Err() != nil && s.m.ctx.Err() == nil {
		err = fmt.Errorf("it did not answer within %v", s.cfg.StartTimeout)
	}
	s.mu.Lock()
	s.dialing = nil
	if s.failed, s.failedAt = nil, time.Now(); err != nil {
		s.why = line(s.mask.text(err.Error()), 600)
		var start *client.StartError
		if errors.As(err, &start) {
			err = start.Err // what the process wrote is not for the sandbox
		}
		s.failed = errors.New(line(s.mask.text(err.Error()), 300))
		s.m.cfg.Logf("upstream server %s: %s", s.name, s.why)
	} else if s.closed {
		go conn.Close()
	} else {
		s.conn, s.calls, s.cost = conn, 0, time.Since(begin)
		go s.watch(conn)
	}
	s.mu.Unlock()
	close(done)
}

// watch forgets a connection that has ended by itself.
func (s *server) watch(conn *client.Client) {
	<-conn.Done()
	s.mu.Lock()
	if s.conn == conn {
		s.drop()
	}
	s.mu.Unlock()
	_ = conn.Close() // what its process left behind
}

func (s *server) connect(ctx context.Context) (*client.Client, error) {
	cfg := client.Config{
		Command: s.cfg.Command, Env: s.cfg.Env, Dir: s.cfg.Dir, URL: s.cfg.URL, Header: s.cfg.Header,
		Version: s.m.cfg.Version,
		Limits:  client.Limits{Probe: min(client.DefaultLimits.Probe, s.cfg.StartTimeout/3)}, // time must remain for a second start
		Logf: func(format string, args ...any) {
			s.m.cfg.Logf("upstream server %s: %s", s.name, line(s.hide(fmt.Sprintf(format, args...)), 300))
		},
	}
	if s.cfg.URL != "" {
		cfg.Command = nil
	}
	if s.cfg.Bearer != nil {
		cfg.Bearer = func() (string, error) {
			token, err := s.cfg.Bearer()
			s.learn(token)
			return token, err
		}
	}
	if s.cfg.Elicit {
		cfg.Elicit = elicit
	}
	s.mu.Lock()
	if s.revision != "" && s.revision < "2026" {
		cfg.Revision = s.revision // the probe is known to be in vain
	}
	s.mu.Unlock()
	var conn *client.Client
	ready := make(chan struct{})
	cfg.ToolsChanged = func() {
		<-ready
		ctx, cancel := context.WithTimeout(s.m.ctx, s.cfg.StartTimeout)
		defer cancel()
		if err := s.relist(ctx, conn); err != nil {
			s.m.cfg.Logf("upstream server %s: its changed tools cannot be listed: %s", s.name, line(s.hide(err.Error()), 300))
		}
	}
	conn, err := client.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	close(ready)
	return conn, nil
}

// learn adds a token to what is masked.
func (s *server) learn(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token != "" && !slices.Contains(s.cfg.secrets, token) {
		s.cfg.secrets = append(slices.Clone(s.cfg.secrets), token)
		s.mask = newMask(s.cfg.secrets)
	}
}

// hide masks the server's credentials in a text.
func (s *server) hide(t string) string {
	s.mu.Lock()
	m := s.mask
	s.mu.Unlock()
	return m.text(t)
}

// relist asks for the tools and takes them over.
func (s *server) relist(ctx context.Context, conn *client.Client) error {
	list, err := conn.Tools(ctx)
	if err != nil {
		return fmt.Errorf("its tools cannot be listed: %w", err)
	}
	for i := range list {
		list[i].Description, list[i].Title = s.hide(list[i].Description), s.hide(list[i].Title)
	}
	_, _, revision := conn.Server()
	k := known{Tools: list, Instructions: s.hide(conn.Instructions()), Revision: revision}
	if s.adopt(k, false) {
		s.store(k)
		s.m.changed()
	}
	return nil
}

// adopt takes over what is known of a server and reports whether it is new.
func (s *server) adopt(k known, cached bool) (changed bool) {
	tools, list := toolsOf(&s.cfg, s.name, k.Tools)
	byCommand := map[string]*Tool{}
	for _, t := range tools {
		byCommand[t.Command] = t
	}
	if tools == nil {
		tools = []*Tool{}
	}
	said := prose(k.Instructions, maxDescription)
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.list != list || s.said != said || s.revision != k.Revision
	if s.list != "" && s.list != list {
		s.m.cfg.Logf("upstream server %s: its tools have changed", s.name)
	}
	s.tools, s.byCommand, s.list, s.said, s.revision, s.cached = tools, byCommand, list, said, k.Revision, cached
	return changed
}

// pinned is nil when the tools are those that the configuration pins.
func (s *server) pinned() error {
	s.lock()
	defer s.mu.Unlock()
	if s.cfg.Pin == "" || s.list == s.cfg.Pin {
		return nil
	}
	return fmt.Errorf("the tools of the upstream server %s are not those that its configuration pins: its operator should look at `donax upstream tools %s` and pin again", s.name, s.name)
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	conn, dialing := s.conn, s.dialing
	if s.idle != nil {
		s.idle.Stop()
	}
	s.drop()
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
	if dialing != nil {
		<-dialing
	}
}
