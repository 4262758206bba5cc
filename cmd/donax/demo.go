package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/donax-sh/donax/examples/policies"
	"github.com/donax-sh/donax/mcp/client"
	"github.com/spf13/cobra"
)

func newDemo(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Watch a real MCP client drive a real server",
		Long: `Start donax serve as a child, with a policy and a folder that is made for the purpose,
and drive it with an MCP client: a pipeline, a refusal and its explanation, a stream, a
kill, and a folder that is whole at the end.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 5*time.Minute)
			defer cancel()
			d := &demo{std: std, paint: painter(std.out)}
			if err := d.run(ctx); err != nil {
				return &exitError{exitFault, fmt.Errorf("demo: %w", err)}
			}
			return nil
		},
	}
}

// demo is one showing.
type demo struct {
	std    stdio
	paint  func(color, text string) string
	dir    string // everything below is temporary
	policy string
	client *client.Client
}

// run shows the scenes in order; each one checks what it claims.
func (d *demo) run(ctx context.Context) error {
	var err error
	if d.dir, err = os.MkdirTemp("", "donax-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	if err := d.prepare(); err != nil {
		return err
	}
	project := filepath.Join(d.dir, "project")
	before, err := digest(project)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := []string{self, "serve", "--policy", d.policy, "--mount", project}
	d.say("A server is started as any MCP client would start it:")
	d.say("  donax serve --policy policy.rego --mount project")
	var log bytes.Buffer
	start := time.Now()
	d.client, err = client.Start(ctx, client.Config{Command: command, Env: os.Environ(), Stderr: &log, Name: "donax-demo", Version: version()})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, log.String())
	}
	defer d.client.Close()
	name, _, revision := d.client.Server()
	tools, err := d.client.Tools(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	d.say(fmt.Sprintf("  connected to %s in %d ms, MCP %s, tools: %s", name, time.Since(start).Milliseconds(), revision, strings.Join(names, " ")))

	for _, scene := range []func(context.Context) error{d.pipeline, d.refusal, d.stream, d.runaway, d.wreck} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	after, err := digest(project)
	if err != nil {
		return err
	}
	if before != after {
		return fmt.Errorf("the folder on this machine changed: %s is now %s", before, after)
	}
	d.say(d.paint(green, "  the folder on this machine is whole: sha256 "+after[:16]+" before and after"))
	d.say("\nNext: donax connect claude-code --mount . prints what your client needs.")
	return nil
}

func (d *demo) pipeline(ctx context.Context) error {
	d.title("A pipeline over the mounted folder; every program in it is WebAssembly")
	r, err := d.do(ctx, `grep -rhoE 'ERROR|WARN' logs | sort | uniq -c | sort -rn; wc -l < src/main.go`, nil)
	if err != nil {
		return err
	}
	return r.expect(0)
}

func (d *demo) refusal(ctx context.Context) error {
	d.title("Refused by the policy, under whatever name")
	for _, line := range []string{
		`rm -rf /workspace`,
		`find . -maxdepth 0 -exec rm -rf /workspace {} +`,
		`cp /bin/rm ./tidy; $'./ti\x64y' -rf /workspace`,
	} {
		r, err := d.do(ctx, line, nil)
		if err != nil {
			return err
		}
		if !strings.Contains(r.output, "denied by policy") {
			return fmt.Errorf("%s was not refused", line)
		}
	}
	d.title("Why: donax policy explain --policy policy.rego 'rm -rf /workspace'")
	return explain(ctx, d.policy, `rm -rf /workspace`, func(text string) { d.say(indent(text)) })
}

func (d *demo) stream(ctx context.Context) error {
	d.title("A slow command, streamed as progress")
	started := time.Now()
	r, err := d.do(ctx, `for i in 1 2 3 4; do echo "step $i of 4"; sleep 0.4; done`, func(text string) {
		for line := range strings.Lines(text) {
			fmt.Fprintf(d.std.out, "  %s %s", d.paint(dim, fmt.Sprintf("+%4d ms", time.Since(started).Milliseconds())), line)
		}
	})
	if err != nil {
		return err
	}
	return r.expect(0)
}

func (d *demo) runaway(ctx context.Context) error {
	d.title("A runaway loop, killed")
	id, err := d.create(ctx, `while :; do :; done`)
	if err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond)
	start := time.Now()
	if _, err := d.call(ctx, "terminal_kill", map[string]any{"terminalId": id}); err != nil {
		return err
	}
	res, err := d.call(ctx, "terminal_wait_for_exit", map[string]any{"terminalId": id})
	if err != nil {
		return err
	}
	d.say(fmt.Sprintf("  ended %d ms after terminal_kill: %v", time.Since(start).Milliseconds(), exitText(res.Structured)))
	return d.release(ctx, id)
}

func (d *demo) wreck(ctx context.Context) error {
	d.title("Allowed here, and harmless: the mount is copy-on-write")
	r, err := d.do(ctx, `rm -rf src logs notes.md; echo "left in the sandbox: $(ls | wc -l)"`, nil)
	if err != nil {
		return err
	}
	return r.expect(0)
}

// prepare writes the folder and the policy.
func (d *demo) prepare() error {
	var errs, warns strings.Builder
	for i := range 40 {
		fmt.Fprintf(&errs, "10:%02d ERROR request %d failed\n", i, i)
		fmt.Fprintf(&warns, "11:%02d WARN slow answer\n11:%02d INFO ok\n", i, i)
	}
	starter, err := policies.Get(policies.Starter)
	if err != nil {
		return err
	}
	d.policy = filepath.Join(d.dir, "policy.rego")
	for name, text := range map[string]string{
		"policy.rego":          starter.Policy,
		"project/src/main.go":  "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n",
		"project/notes.md":     "# Notes\n",
		"project/logs/a.log":   errs.String(),
		"project/logs/b.log":   warns.String(),
		"project/logs/c/d.log": "12:00 ERROR last one\n",
	} {
		file := filepath.Join(d.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// digest is one hash over the names and contents of a folder.
func digest(dir string) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %v\n", name, e.Type())
		if e.Type().IsRegular() {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			h.Write(data)
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
