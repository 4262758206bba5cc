package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"sync"
	"time"

	"github.com/donax-sh/donax/mcp/upstream"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/approve"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/spf13/cobra"
)

// upstreamFlags are the flags about upstream MCP servers.
type upstreamFlags struct {
	file string
	log  func(string) // told what the operator of a long-lived server wants to know; nil says nothing
}

func (f *upstreamFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "upstream", "", "make the tools of the MCP servers in `FILE`, a .mcp.json, commands named SERVER.TOOL; a policy must allow them")
}

// load reads the configuration; nil without one. Tools for which it names no
// confirm mode get the given one.
func (f *upstreamFlags) load(confirm string, warn func(string)) (*upstream.File, error) {
	if f.file == "" {
		return nil, nil
	}
	file, err := upstream.Load(f.file, nil)
	if err != nil {
		return nil, usageError("donax upstream --help", "--upstream: %v", err)
	}
	for _, w := range file.Warnings {
		warn(w)
	}
	mode, err := upstream.ParseConfirm(confirm)
	if err != nil {
		return nil, usageError("--confirm ask_once", "--confirm: %v", err)
	}
	for i := range file.Servers {
		file.Servers[i].Default = mode
	}
	return file, nil
}

// openUpstream makes the servers of the configuration, if there is one, part
// of a sandbox: what looks their tools up and the folder that shows them. ask
// is who can be asked about calls; nil when there is nobody.
func (f *sandboxFlags) openUpstream(stderr io.Writer, ask policy.Approver, bin *binFolder) (*upstream.Manager, error) {
	say := func(msg string) {
		if !f.quiet {
			fmt.Fprintln(stderr, "donax:", msg)
		}
	}
	file, err := f.upstream.load(f.confirm.mode, say)
	if err != nil || file == nil {
		return nil, err
	}
	// A book of its own: the mode of --confirm must not loosen that of a tool.
	book, err := approve.New(approve.Config{Mode: approve.AskOnce, File: f.confirm.file, Report: func(err error) { say(err.Error()) }})
	if err != nil {
		return nil, usageError("donax approvals ls --approvals FILE", "%v", err)
	}
	m := upstream.New(upstream.Config{
		Servers: file.Servers, CacheDir: stateDir(), Approve: ask, Remember: book.Wrap,
		Progress: !f.quiet && isTerminal(stderr), Version: version(), Logf: f.upstream.logf(), Changed: bin.set,
	})
	if f.upstream.log == nil { // one line: it must see all commands at once
		bin.set(m.Commands())
	}
	return m, nil
}

func (f *upstreamFlags) logf() func(string, ...any) {
	if f.log == nil {
		return nil
	}
	return func(format string, args ...any) { f.log(fmt.Sprintf(format, args...)) }
}

// settle is how long a server waits at its start for upstream servers whose
// tools it does not know yet. Those that need longer come later.
const settle = 3 * time.Second

// prepare asks the upstream servers that were never asked, for a moment, and
// returns what clients should be told of them.
func prepare(ctx context.Context, m *upstream.Manager, log func(string)) string {
	if m == nil {
		return ""
	}
	wait, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	m.Prepare(wait)
	log(m.Summary())
	return m.Instructions()
}

// binFolder is the virtual /bin: the programs of the box, and the commands of
// upstream servers, which come and go. It is shown read-only.
type binFolder struct {
	*vfs.Mem

	mu    sync.Mutex
	tools map[string]bool // shown; guarded by mu
}

func newBin(box []sandbox.Program) (*binFolder, error) {
	b := &binFolder{
		Mem:   vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{MaxBytes: -1, MaxFiles: -1}), Now: func() time.Time { return time.Unix(0, 0) }}),
		tools: map[string]bool{},
	}
	for name, text := range sandbox.BinFiles(box) {
		if err := b.write(name, text); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *binFolder) write(name, text string) error {
	f, err := b.Open("/"+name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// set shows exactly these tools beside the box. A tool that cannot be shown
// can still be run.
func (b *binFolder) set(tools []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := map[string]bool{}
	for _, name := range tools {
		now[name] = true
		if !b.tools[name] {
			_ = b.write(name, sandbox.BinFile(name))
		}
	}
	for name := range b.tools {
		if !now[name] {
			_ = b.Remove(path.Join("/", name))
		}
	}
	b.tools = now
}
