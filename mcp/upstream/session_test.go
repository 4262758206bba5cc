package upstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/client/clienttest"
	"github.com/donax-sh/donax/mcp/upstream"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// TestMain makes the test binary be the faulty server when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fake-server" {
		os.Exit(clienttest.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// entry is one server of a configuration: the fake with faults.
func entry(own string, faults ...string) string {
	args, _ := json.Marshal(append([]string{"fake-server"}, faults...))
	if own == "" {
		own = `{"confirm": "trust"}`
	}
	return fmt.Sprintf(`{"command": %q, "args": %s, "env": {"FAKE_TOKEN": "${TEST_TOKEN:-none}"}, "donax": %s}`, os.Args[0], args, own)
}

// config writes a configuration of servers: name, entry, name, entry...
func config(t *testing.T, servers ...string) string {
	t.Helper()
	var list []string
	for i := 0; i < len(servers); i += 2 {
		list = append(list, fmt.Sprintf("%q: %s", servers[i], servers[i+1]))
	}
	name := filepath.Join(t.TempDir(), ".mcp.json")
	if err := os.WriteFile(name, []byte(`{"mcpServers": {`+strings.Join(list, ",\n")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// box is a sandbox whose upstream servers are those of a configuration.
type box struct {
	*upstream.Manager
	session *sandbox.Session
	t       *testing.T

	mu  sync.Mutex
	log strings.Builder
}

func open(t *testing.T, file string, change func(*upstream.Config), engine policy.Engine) *box {
	t.Helper()
	list, err := upstream.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t}
	cfg := upstream.Config{Servers: list.Servers, CacheDir: t.TempDir(), Logf: func(f string, args ...any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		fmt.Fprintf(&b.log, f+"\n", args...)
	}}
	if change != nil {
		change(&cfg)
	}
	if engine == nil {
		engine = policy.AllowAll{}
	}
	b.Manager = upstream.New(cfg)
	t.Cleanup(func() { b.Close() })
	files := vfs.NewMem(vfs.MemConfig{})
	for _, dir := range []string{"/tmp", "/workspace"} {
		if err := files.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.session, err = sandbox.New(sandbox.Config{FS: files, Programs: []sandbox.Program{counter{}, cat{}}, Lookup: b.Lookup, Policy: engine, Dir: "/workspace"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// do runs a line and returns what it wrote and its status.
func (b *box) do(line string) (out, errw string, status int) {
	b.t.Helper()
	return b.as(policy.Subject{Principal: policy.Principal{Sub: "p"}, Session: policy.Session{ID: "s"}}, line)
}

func (b *box) as(who policy.Subject, line string) (out, errw string, status int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(policy.WithSubject(context.Background(), who), time.Minute)
	defer cancel()
	var o, e bytes.Buffer
	c, err := b.session.Inspect(ctx, policy.Command{Text: line})
	if err != nil {
		b.t.Fatal(err)
	}
	status, _ = b.session.Run(ctx, c, nil, &o, &e)
	return o.String(), e.String(), status
}

// want runs a line and compares.
func (b *box) want(line, out, errPart string, status int) {
	b.t.Helper()
	o, e, st := b.do(line)
	if o != out || !strings.Contains(e, errPart) || errPart == "" && e != "" || st != status {
		b.t.Errorf("%s\n gives %q %q %d\n  want %q %q %d", line, cut(o), cut(e), st, out, errPart, status)
	}
}

func cut(s string) string { return s[:min(len(s), 600)] }

// counter is wc -c.
type counter struct{}

func (counter) Usage() sandbox.Usage { return sandbox.Usage{Name: "count", Kind: "box"} }
func (counter) Run(_ context.Context, p *sandbox.Proc) error {
	n, err := io.Copy(io.Discard, p.Stdin)
	fmt.Fprintln(p.Stdout, n)
	return err
}

// cat is cat.
type cat struct{}

func (cat) Usage() sandbox.Usage { return sandbox.Usage{Name: "cat", Kind: "box"} }
func (cat) Run(_ context.Context, p *sandbox.Proc) error {
	if len(p.Args) == 1 {
		_, err := io.Copy(p.Stdout, p.Stdin)
		return err
	}
	for _, name := range p.Args[1:] {
		f, err := p.FS.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return sandbox.ExitCode(1)
		}
		_, _ = io.Copy(p.Stdout, f)
		f.Close()
	}
	return nil
}
