package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
	"github.com/spf13/cobra"
)

// eventsFlags are the flags of events.
type eventsFlags struct {
	follow    bool
	verify    bool
	head      bool
	anchors   []string
	partial   bool
	json      bool
	since     string
	terminal  string
	principal string

	from time.Time
}

func newEvents(std stdio) *cobra.Command {
	var f eventsFlags
	cmd := &cobra.Command{
		Use:   "events [flags] [FILE...]",
		Short: "Read and verify audit logs",
		Long: `Print what audit logs record, one event a line: time, who, terminal, event, effect and
what it is about. FILE is what --audit was given; its closed files are read with it.
Without FILE it is all logs of servers that were given none.

--verify checks that no record was changed, removed, added or moved, and that none is
missing at the end, and names the first place where that is not so. Who may write the
log and its head can forge both: to see that, keep what --head prints in another place
and give it with --anchor.

Exit status: 0 when all is sound, 1 when it is not, 2 when the command line is wrong.`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), std, args) },
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.BoolVarP(&f.follow, "follow", "f", false, "go on printing what is recorded, until interrupted")
	fl.BoolVar(&f.verify, "verify", false, "check the chain of records instead of printing them")
	fl.BoolVar(&f.head, "head", false, "print SEQ:HASH of the last record that is on disk, to be kept elsewhere")
	fl.StringArrayVar(&f.anchors, "anchor", nil, "with --verify: a `SEQ:HASH` that --head once printed must be in the log (repeatable)")
	fl.BoolVar(&f.partial, "partial", false, "with --verify: older files were moved elsewhere")
	fl.BoolVar(&f.json, "json", false, "print the records as they are, one JSON object a line")
	fl.StringVar(&f.since, "since", "", "from `TIME` on: 2026-11-30T08:00:00Z, or 15m for the last quarter of an hour")
	fl.StringVar(&f.terminal, "terminal", "", "of the terminal `ID`, or that begins so")
	fl.StringVar(&f.principal, "principal", "", "of the principal `NAME`, or TENANT/NAME")
	return cmd
}

func (f *eventsFlags) run(ctx context.Context, std stdio, files []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.follow && len(files) == 0 {
		return f.tail(ctx, std.out, nil)
	}
	if len(files) == 0 {
		if files = servedLogs(); len(files) == 0 {
			return &exitError{exitNo, &hint{fmt.Errorf("there are no logs in %s", eventsDir()), "donax events FILE, where FILE is what --audit was given"}}
		}
	}
	switch {
	case f.head:
		return f.printHeads(std.out, files)
	case f.verify:
		return f.verifyAll(std.out, files)
	case f.follow:
		return f.tail(ctx, std.out, files)
	}
	for _, file := range files {
		for l, err := range audit.Read(file) {
			if err := f.print(std, l, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *eventsFlags) check() error {
	if f.since != "" {
		d, err := time.ParseDuration(f.since)
		if f.from = time.Now().Add(-d); err != nil || d < 0 {
			if f.from, err = time.Parse(time.RFC3339, f.since); err != nil {
				return usageError("--since 15m", "--since %q: want a time like 2026-11-30T08:00:00Z, or how long ago, like 15m", f.since)
			}
		}
	}
	if !f.verify && (len(f.anchors) > 0 || f.partial) {
		return usageError("donax events --verify", "--anchor and --partial are for --verify")
	}
	if f.verify && (f.follow || f.json || f.head || f.since != "" || f.terminal != "" || f.principal != "") {
		return usageError("donax events --verify", "--verify is about all of a log: it goes with --anchor and --partial only")
	}
	return nil
}

// servedLogs returns the logs of servers that were given none, oldest first.
func servedLogs() []string {
	if stateDir() == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(eventsDir(), "*.jsonl")) // the pattern is sound
	return files
}

func (f *eventsFlags) printHeads(w io.Writer, files []string) error {
	for _, file := range files {
		a, err := audit.Head(file)
		if err != nil {
			return &exitError{exitNo, err}
		}
		if len(files) > 1 {
			fmt.Fprintf(w, "%s ", file)
		}
		fmt.Fprintln(w, a)
	}
	return nil
}

func (f *eventsFlags) verifyAll(w io.Writer, files []string) error {
	o := audit.VerifyOptions{Partial: f.partial}
	for _, s := range f.anchors {
		a, err := audit.ParseAnchor(s)
		if err != nil {
			return usageError("--anchor \"$(cat anchor)\"", "%v", err)
		}
		o.Anchors = append(o.Anchors, a)
	}
	if len(files) > 1 && len(o.Anchors) > 0 {
		return usageError("donax events --verify --anchor SEQ:HASH FILE", "an anchor belongs to one log: name it")
	}
	sound := true
	for _, file := range files {
		v, err := audit.Verify(file, o)
		if v.Unclean > 0 {
			fmt.Fprintf(w, "%s: %d time(s) a writer ended without closing the log, as in a crash\n", file, v.Unclean)
		}
		if v.Torn != "" {
			fmt.Fprintf(w, "%s: the last line is torn, as a crash or a writer at work leaves it\n", v.Torn)
		}
		if err != nil {
			sound = false
			fmt.Fprintf(w, "BROKEN %s\n", policy.Plain(err.Error()))
			continue
		}
		fmt.Fprintf(w, "%s: %d records in %d file(s) are sound, up to %s\n", file, v.Records, v.Files, v.Last)
	}
	if !sound {
		return &exitError{code: exitNo}
	}
	return nil
}

// print prints one line of a log, if it is asked for.
func (f *eventsFlags) print(std stdio, l audit.Line, err error) error {
	var broken *audit.BrokenError
	if errors.As(err, &broken) {
		fmt.Fprintln(std.err, "donax:", policy.Plain(broken.Error()))
		return nil // what follows may still tell something; --verify is the judge
	}
	if err != nil {
		return &exitError{exitNo, err}
	}
	if !f.wants(l.Record) {
		return nil
	}
	if f.json {
		_, err = std.out.Write(append(bytes.Clone(l.Raw), '\n'))
	} else {
		_, err = fmt.Fprintln(std.out, tellRecord(l.Record))
	}
	return err
}

func (f *eventsFlags) wants(r audit.Record) bool {
	_, sub, _ := strings.Cut(r.RequestedBy, "/")
	return !r.Timestamp.Before(f.from) &&
		(f.principal == "" || r.RequestedBy == f.principal || sub == f.principal) &&
		(f.terminal == "" || strings.HasPrefix(terminalOf(r), f.terminal))
}

// terminalOf returns the id of the terminal that a record is about.
func terminalOf(r audit.Record) string {
	if id, ok := r.Custom["terminal_id"].(string); ok {
		return id
	}
	var in struct {
		Terminal policy.Terminal `json:"terminal"`
	}
	_ = json.Unmarshal(r.Input, &in) // an input of another shape has none
	return in.Terminal.ID
}

// tellRecord words a record for people. What a client has chosen cannot do
// anything to their terminal.
func tellRecord(r audit.Record) string {
	effect := "-"
	if r.Result != nil {
		effect = r.Result.Effect
		if r.Custom["enforced"] == false {
			effect += " (dry run)"
		}
	}
	who, terminal := r.RequestedBy, terminalOf(r)
	if who == "" {
		who = "-"
	}
	if terminal == "" {
		terminal = "-"
	}
	line := fmt.Sprintf("%s  %s  %s  %s  %s", r.Timestamp.Local().Format("2006-01-02 15:04:05.000"), policy.Plain(who), shorten(policy.Plain(terminal), 10), policy.Plain(r.Type), effect)
	if about := aboutRecord(r); about != "" {
		line += "  " + about
	}
	return line
}

func aboutRecord(r audit.Record) string {
	var in policy.Action
	_ = json.Unmarshal(r.Input, &in) // an input of another shape says nothing
	var words []string
	switch {
	case in.Command != nil:
		words = []string{in.Command.Text}
	case in.Exec != nil:
		words = append([]string{in.Exec.Name}, in.Exec.Args...)
	case in.File != nil:
		words = []string{in.File.Op, in.File.Path, in.File.To}
	case in.Net != nil:
		words = []string{in.Net.Method, fmt.Sprintf("%s://%s:%d%s", in.Net.Scheme, in.Net.Host, in.Net.Port, in.Net.Path), in.Net.IP}
	case in.Tool != nil:
		words = []string{in.Tool.Server, in.Tool.Name}
	case in.Module != nil:
		words = []string{in.Module.Name, in.Module.SHA256}
	default:
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for k := range r.Custom {
				if k != "terminal_id" && !strings.HasSuffix(k, "_sha256") && !yield(k) {
					return
				}
			}
		}) {
			words = append(words, fmt.Sprintf("%s=%v", name, r.Custom[name]))
		}
	}
	text := shorten(policy.Plain(strings.TrimSpace(strings.Join(words, " "))), 200)
	if r.Result != nil && r.Result.Effect != "allow" {
		for _, reason := range r.Result.Reasons {
			text += " -- " + policy.Plain(reason.Msg)
			if reason.Location != "" {
				text += " (" + policy.Plain(reason.Location) + ")"
			}
		}
		if r.Error != nil {
			text += " -- " + policy.Plain(r.Error.Message)
		}
	}
	if r.DecisionID != "" && (r.Result != nil && r.Result.Effect != "allow") {
		text += " [" + policy.Plain(r.DecisionID) + "]"
	}
	return text
}

// tailEvery is how often a log is looked at for more.
const tailEvery = 200 * time.Millisecond

// tail prints what is in the logs and what is added, until ctx ends. Without
// files it is all logs of servers, also of those that start later.
func (f *eventsFlags) tail(ctx context.Context, w io.Writer, files []string) error {
	seen := map[string]int64{} // the last record printed of each log
	std := stdio{out: w, err: io.Discard}
	for {
		logs := files
		if files == nil {
			logs = servedLogs()
		}
		for _, file := range logs {
			if a, err := audit.Head(file); err == nil && a.Seq == seen[file] {
				continue
			}
			for l, err := range audit.ReadFrom(file, seen[file]+1) {
				if err != nil || l.Seq == 0 { // a line that is still being written
					break
				}
				seen[file] = l.Seq
				if err := f.print(std, l, nil); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(tailEvery):
		}
	}
}
