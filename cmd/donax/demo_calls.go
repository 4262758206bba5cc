package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/donax-sh/donax/mcp/client"
)

// ran is one line that was run to its end.
type ran struct {
	line, output string
	status       any
}

func (r ran) expect(status float64) error {
	if r.status != status {
		return fmt.Errorf("%s: exit status %v, want %v", r.line, r.status, status)
	}
	return nil
}

// do runs a line through the tools, as a client does, and shows it with its
// output, or hands the output to progress as it comes.
func (d *demo) do(ctx context.Context, line string, progress func(string)) (ran, error) {
	id, err := d.create(ctx, line)
	if err != nil {
		return ran{}, err
	}
	res, err := d.client.Call(ctx, "terminal_wait_for_exit", map[string]any{"terminalId": id}, progress)
	if err == nil && res.IsError {
		err = fmt.Errorf("terminal_wait_for_exit: %s", res.Text)
	}
	if err != nil {
		return ran{}, err
	}
	out, err := d.call(ctx, "terminal_output", map[string]any{"terminalId": id})
	if err != nil {
		return ran{}, err
	}
	r := ran{line: line}
	r.output, _ = out.Structured["output"].(string)
	if exit, ok := res.Structured["exitStatus"].(map[string]any); ok {
		r.status = exit["exitCode"]
	}
	if progress == nil {
		d.say(indent(r.output))
	}
	d.say("  " + d.paint(dim, exitText(res.Structured)))
	return r, d.release(ctx, id)
}

func (d *demo) create(ctx context.Context, line string) (string, error) {
	d.say("  " + d.paint(bold, "$ "+line))
	res, err := d.call(ctx, "terminal_create", map[string]any{"command": line})
	if err != nil {
		return "", err
	}
	id, _ := res.Structured["terminalId"].(string)
	return id, nil
}

func (d *demo) release(ctx context.Context, id string) error {
	_, err := d.call(ctx, "terminal_release", map[string]any{"terminalId": id})
	return err
}

func (d *demo) call(ctx context.Context, tool string, args map[string]any) (client.Result, error) {
	res, err := d.client.Call(ctx, tool, args, nil)
	if err == nil && res.IsError {
		err = fmt.Errorf("%s: %s", tool, res.Text)
	}
	return res, err
}

// exitText says how a command ended.
func exitText(structured map[string]any) string {
	exit, ok := structured["exitStatus"].(map[string]any)
	if !ok {
		return "still running"
	}
	if sig, _ := exit["signal"].(string); sig != "" {
		return "signal " + sig
	}
	return fmt.Sprintf("exit status %v", exit["exitCode"])
}

func (d *demo) say(text string) { fmt.Fprintln(d.std.out, text) }

func (d *demo) title(text string) { d.say("\n" + d.paint(cyan, text)) }

func indent(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return "  (no output)"
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
