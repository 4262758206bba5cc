// Package upstream makes the tools of MCP servers commands of the sandbox:
// the tool search_issues of the server github is the program
// github.search_issues.
//
// A [Manager] holds the servers of one configuration file. It runs in the
// server process, never in the sandbox: a command hands it an argv and
// streams, and gets text back. Nothing is dialled until a command needs it.
// The policy is asked about each call, then the confirm mode of the tool, and
// only then does the server hear of it. What a server says, of itself or in a
// result, is data: escape sequences are filtered, the credentials of the
// configuration are masked, names are made safe, and sizes are bounded.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Config configures a [Manager].
type Config struct {
	Servers  []Server                              // as [Load] gives them
	CacheDir string                                // where tool lists are kept, for nobody else to read; "" keeps none
	Approve  policy.Approver                       // asks the person about a call, unless the context of a command has its own; nil: nobody can be asked
	Remember func(policy.Approver) policy.Approver // answers what was approved before, with AskOnce; nil remembers nothing
	Progress bool                                  // show the progress of tools on stderr: a person watches
	Version  string                                // of donax, as servers are told
	Logf     func(format string, args ...any)      // for the operator; may be nil
	Changed  func(commands []string)               // told the commands there are, when that changes; may be nil
}

// Manager holds the servers. It is safe for concurrent use.
type Manager struct {
	cfg     Config
	ctx     context.Context // ends with Close; bounds every connection
	cancel  context.CancelFunc
	servers []*server
	byName  map[string]*server // by the name in commands
	meta    map[string]sandbox.Program

	note sync.Mutex // orders calls of Config.Changed
}

// New returns a Manager that has dialled nobody.
func New(cfg Config) *Manager {
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	m := &Manager{cfg: cfg, byName: map[string]*server{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	if m.cfg.Remember == nil {
		m.cfg.Remember = func(ask policy.Approver) policy.Approver { return ask }
	}
	var names []string
	for _, s := range cfg.Servers {
		names = append(names, s.Name)
	}
	for i, name := range commandNames(names, maxServerName, reserved) {
		s := &server{m: m, cfg: cfg.Servers[i], name: name, mask: newMask(cfg.Servers[i].secrets)}
		m.servers = append(m.servers, s)
		m.byName[name] = s
	}
	m.meta = m.metaPrograms()
	if cfg.Changed != nil {
		go m.changed() // reading what is known takes a while, and nobody waits for it
	}
	return m
}

// Lookup returns the program of a command, or nil: [sandbox.Config].Lookup.
// Where the tools of a server are not known yet, every name of it is a
// program, which finds out when it runs.
func (m *Manager) Lookup(name string) sandbox.Program {
	if p := m.meta[name]; p != nil {
		return p
	}
	prefix, tool, ok := strings.Cut(name, ".")
	s := m.byName[prefix]
	if !ok || s == nil || tool == "" || safe(tool, maxToolName) != tool {
		return nil
	}
	return s.program(name)
}

// Commands returns the names of all commands that are known, in the order of
// the servers and their tools.
func (m *Manager) Commands() []string {
	var list []string
	for _, p := range metaCommands() {
		list = append(list, p.name)
	}
	for _, s := range m.servers {
		for _, t := range s.known() {
			list = append(list, t.Command)
		}
	}
	return list
}

// Prepare dials, all at the same time, the servers whose tools are not known
// and that are not deferred, and waits for them, at most until ctx ends; those
// that take longer go on by themselves.
func (m *Manager) Prepare(ctx context.Context) {
	_ = m.each(ctx, func(s *server) bool { return s.cfg.Group == "" && !s.listed() })
}

// each connects the servers that want picks, and reports how each fared.
func (m *Manager) each(ctx context.Context, want func(*server) bool) map[*server]error {
	errs := map[*server]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range m.servers {
		if s.cfg.Err != nil || s.cfg.Disabled || !want(s) {
			continue
		}
		wg.Go(func() {
			_, release, err := s.use(ctx)
			if err == nil {
				release()
			}
			mu.Lock()
			defer mu.Unlock()
			errs[s] = err
		})
	}
	wg.Wait()
	return errs
}

// Connect dials all servers at the same time, deferred ones too, and waits
// for their tools.
func (m *Manager) Connect(ctx context.Context) {
	_ = m.each(ctx, func(*server) bool { return true })
}

// Tools returns the tools of a server, named as in the configuration or in
// commands, dialling it when they are not known.
func (m *Manager) Tools(ctx context.Context, name string) ([]Tool, error) {
	s := m.find(name)
	if s == nil {
		return nil, fmt.Errorf("no upstream server is named %q; there are: %s", name, strings.Join(m.names(), ", "))
	}
	if !s.listed() {
		_, release, err := s.use(ctx)
		if err != nil {
			return nil, err
		}
		release()
	}
	var list []Tool
	for _, t := range s.known() {
		list = append(list, *t)
	}
	return list, nil
}

// PinOf dials a server and returns the pin of the tools that it has now.
func (m *Manager) PinOf(ctx context.Context, name string) (string, error) {
	s := m.find(name)
	if s == nil {
		return "", fmt.Errorf("no upstream server is named %q; there are: %s", name, strings.Join(m.names(), ", "))
	}
	_, release, err := s.use(ctx)
	if err != nil {
		return "", err
	}
	release()
	return s.status().List, nil
}

// Operator returns the program of a command for whoever owns the
// configuration: nobody is asked, only what is blocked stays so. It is nil
// when there is no such command.
func (m *Manager) Operator(name string) sandbox.Program {
	prefix, _, _ := strings.Cut(name, ".")
	s := m.byName[prefix]
	if s == nil {
		return nil
	}
	p, ok := s.program(name).(*command)
	if !ok {
		return nil
	}
	p.operator = true
	return p
}

func (m *Manager) find(name string) *server {
	for _, s := range m.servers {
		if s.cfg.Name == name {
			return s
		}
	}
	return m.byName[name]
}

func (m *Manager) names() []string {
	var names []string
	for _, s := range m.servers {
		names = append(names, s.name)
	}
	return names
}

// changed tells the commands to whoever wants to know.
func (m *Manager) changed() {
	if m.cfg.Changed == nil {
		return
	}
	m.note.Lock()
	defer m.note.Unlock()
	if m.ctx.Err() != nil {
		return
	}
	m.cfg.Changed(m.Commands())
}

// errClosed is what calls get once the Manager is closed.
var errClosed = errors.New("donax is ending")

// Close ends all connections and the processes behind them.
func (m *Manager) Close() error {
	m.cancel()
	var wg sync.WaitGroup
	for _, s := range m.servers {
		wg.Go(s.close)
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(10 * time.Second):
		return errors.New("an upstream server does not end")
	}
}
