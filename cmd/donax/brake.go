package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
	"github.com/donax-sh/donax/policy/brake"
	"github.com/donax-sh/donax/policy/rego"
	"github.com/donax-sh/donax/termhost"
	"github.com/spf13/cobra"
)

// brakeFlags are the flags of brake.
type brakeFlags struct {
	control string
	json    bool
}

func newBrake(std stdio) *cobra.Command {
	var f brakeFlags
	cmd := &cobra.Command{
		Use:   "brake on [REASON]|off|status",
		Short: "Stop everything, at once",
		Long: `Stop every terminal of every running server of this user, and refuse whatever comes
then: commands, and calls of tools but those that read output or end a terminal. on says
what was running and whether it is gone. The first reason is kept. The brake stays on for
servers and lines that start later, until off. With --control PATH it is about the one
server that was started with the same --control.

Exit status: 0 when all of that is so, 1 when a server could not do it or did not answer.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), std, args) },
	}
	cmd.Flags().StringVar(&f.control, "control", "", "the server that listens on the socket `PATH`")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *brakeFlags) run(ctx context.Context, std stdio, args []string) error {
	req := brake.Request{Op: args[0], Reason: strings.Join(args[1:], " ")}
	switch {
	case req.Op != "on" && req.Op != "off" && req.Op != "status":
		return usageError("donax brake status", "%q: want on, off or status", req.Op)
	case req.Op != "on" && len(args) > 1:
		return usageError("donax brake "+req.Op, "%s takes no reason", req.Op)
	}
	file, sockets, err := f.targets()
	if err != nil {
		return err
	}
	// The file first: a server that starts now either finds it, or has opened its socket already.
	state, err := keep(file, req)
	if err != nil {
		return &exitError{exitNo, fmt.Errorf("the brake of what starts later: %w", err)}
	}
	var reports []brake.Report
	failed := false
	for _, s := range sockets {
		rep, err := brake.Send(ctx, s, req)
		if errors.Is(err, brake.ErrGone) && f.control == "" {
			_ = os.Remove(s) // a crash left it
			continue
		}
		if err != nil {
			failed, rep.Error = true, err.Error()
		}
		reports = append(reports, rep)
	}
	if f.json {
		enc := json.NewEncoder(std.out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]any{"state": state, "servers": reports}); err != nil {
			return &exitError{exitFault, err}
		}
	} else {
		tellBrake(std.out, state, reports, req.Op)
	}
	if failed {
		return &exitError{code: exitNo}
	}
	return nil
}

// targets returns the file that keeps the state, and the sockets to talk to.
func (f *brakeFlags) targets() (file string, sockets []string, err error) {
	if f.control != "" {
		return f.control + stateSuffix, []string{f.control}, nil
	}
	if stateDir() == "" {
		return "", nil, usageError("DONAX_STATE=FOLDER donax brake status", "there is no folder to keep the brake in: neither DONAX_STATE nor HOME is set")
	}
	for _, dir := range runDirs() {
		found, err := brake.Sockets(dir)
		if err != nil {
			return "", nil, &exitError{exitNo, err}
		}
		sockets = append(sockets, found...)
	}
	return brakeFile(), sockets, nil
}

// keep changes or reads what later servers will find.
func keep(file string, r brake.Request) (brake.State, error) {
	switch r.Op {
	case "on":
		s, _, err := brake.Save(file, brake.State{On: true, Reason: r.Reason, Since: time.Now()})
		return s, err
	case "off":
		_, err := brake.Clear(file)
		return brake.State{}, err
	}
	return brake.Load(file), nil
}

func tellBrake(w io.Writer, state brake.State, reports []brake.Report, op string) {
	fmt.Fprintln(w, "brake", tellState(state))
	if len(reports) == 0 {
		fmt.Fprintln(w, "no server is running")
	}
	for _, r := range reports {
		switch {
		case r.Error != "" && r.PID == 0:
			fmt.Fprintf(w, "a server does not answer: %s\n", policy.Plain(r.Error))
		case op == "on":
			fmt.Fprintf(w, "server %d: %d of %d commands stopped in %d ms\n", r.PID, ended(r.Stopped), len(r.Stopped), r.TookMS)
		default:
			fmt.Fprintf(w, "server %d: brake %s; %d commands run\n", r.PID, tellState(r.State), r.Running)
		}
		for _, s := range r.Stopped {
			how := "stopped"
			if !s.Ended {
				how = "STILL RUNS"
			}
			fmt.Fprintf(w, "  %s  %s  %s  %s\n", how, policy.Plain(s.Terminal), policy.Plain(s.Principal), shorten(policy.Plain(s.Command), 100))
		}
		if r.Error != "" && r.PID != 0 {
			fmt.Fprintf(w, "  %s\n", policy.Plain(r.Error))
		}
	}
}

func ended(list []brake.Stopped) (n int) {
	for _, s := range list {
		if s.Ended {
			n++
		}
	}
	return n
}

func tellState(s brake.State) string {
	if !s.On {
		return "off"
	}
	text := "on"
	if s.Reason != "" {
		text += ": " + policy.Plain(s.Reason)
	}
	if !s.Since.IsZero() {
		text += " (since " + s.Since.Local().Format(time.DateTime) + ")"
	}
	return text
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// stopLimit is how long a server waits for its commands to be gone. They take
// a second at most; the rest is for a machine that is busy.
const stopLimit = 10 * time.Second

// control opens the socket on which the brake reaches this server, and puts
// the brake on if it was kept on. release closes the socket.
func (w *waist) control(ctx context.Context, flag string, host *termhost.Host, mountFlags []string, log *slog.Logger) (release func(), err error) {
	release = func() {}
	files := []string{brakeFile()}
	if flag != "off" {
		path := flag
		if path == "" && len(runDirs()) > 0 {
			path = filepath.Join(runDirs()[0], fmt.Sprintf("serve-%d.sock", os.Getpid()))
		} else if flag != "" {
			files = append(files, flag+stateSuffix)
		}
		mounts, err := parseMounts(mountFlags)
		if err != nil {
			return nil, err
		}
		for _, f := range append(files, path) {
			if f != "" {
				if err := outOfReach(f, mounts); err != nil {
					return nil, err
				}
			}
		}
		l, err := brake.Listen(path)
		switch {
		case err != nil && flag != "":
			return nil, usageError("--control off, or a short path in a folder of mode 0700", "--control %s: %v", flag, err)
		case err != nil:
			log.Warn("donax brake cannot reach this server (give a place with --control PATH)", "error", err)
		default:
			ctx, cancel := context.WithCancel(ctx)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = brake.Control(func(ctx context.Context, r brake.Request) brake.Report { return w.pull(ctx, host, r) }).Serve(ctx, l)
			}()
			release = func() { cancel(); <-done }
		}
	}
	for _, f := range files { // after the socket was opened: see brakeFlags.run
		if s := brake.Load(f); s.On {
			w.pull(ctx, host, brake.Request{Op: "on", Reason: s.Reason})
			log.Warn("the brake is on: nothing is admitted", "reason", policy.Plain(s.Reason))
		}
	}
	return release, nil
}

// pull does what an operator asks.
func (w *waist) pull(ctx context.Context, host *termhost.Host, r brake.Request) brake.Report {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	var rep brake.Report
	start := time.Now()
	switch r.Op {
	case "on":
		rep.State, rep.First = w.brake.On(r.Reason) // from here on nothing is admitted
		recorded := w.announce(ctx, map[string]any{"reason": r.Reason, "kept_reason": rep.State.Reason, "first": rep.First})
		list, err := host.Halt(ctx, tellHalt(rep.State))
		for _, s := range list {
			rep.Stopped = append(rep.Stopped, brake.Stopped{Terminal: s.ID, Principal: s.Principal.Sub, Command: shorten(w.mask(s.Command), 200), Ended: s.Ended})
		}
		for _, s := range rep.Stopped {
			recorded = errors.Join(recorded, w.record(ctx, audit.TypeStopped, map[string]any{"terminal_id": s.Terminal, "principal": s.Principal, "ended": s.Ended}))
		}
		if err = errors.Join(err, recorded); err != nil {
			rep.Error = err.Error()
		}
	case "off":
		if err := w.record(ctx, audit.TypeBrakeOff, map[string]any{"reason": w.brake.State().Reason}); err != nil {
			rep.State, rep.Error = w.brake.State(), "the brake stays on: "+err.Error()
			break
		}
		if w.breakers != nil {
			w.breakers.Reset()
		}
		host.Resume()
		w.brake.Off()
	default:
		rep.State = w.brake.State()
	}
	rep.TookMS, rep.Running = time.Since(start).Milliseconds(), host.Stats().Running
	return rep
}

// announceLimit is how long the brake waits for its own record.
const announceLimit = 300 * time.Millisecond

// announce records that the brake is pulled, before anything is ended. A disk
// that is full or slow must not keep the brake from being pulled.
func (w *waist) announce(ctx context.Context, custom map[string]any) error {
	done := make(chan error, 1)
	go func() { done <- w.record(context.WithoutCancel(ctx), audit.TypeBrakeOn, custom) }()
	select {
	case err := <-done:
		return err
	case <-time.After(announceLimit):
		return nil // it is in the log's order before what follows, and on the disk when that is
	}
}

// heedEvery is how often a line that no socket reaches looks at the brake.
const heedEvery = 200 * time.Millisecond

// heed returns a context that ends when the brake is put on.
func (w *waist) heed(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(heedEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if s := brake.Load(brakeFile()); s.On {
					w.brake.On(s.Reason)
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}

// tellHalt is what the clients of stopped commands are told.
func tellHalt(s brake.State) string {
	if s.Reason == "" {
		return "the brake is on"
	}
	return "the brake is on: " + policy.Plain(s.Reason)
}

// reloaded records that a policy was looked at again.
func (w *waist) reloaded(ctx context.Context, u rego.Update) {
	switch {
	case w.recorder == nil:
	case u.Err != nil:
		_ = w.record(ctx, audit.TypePolicyKept, map[string]any{"kept": u.Old, "error": u.Err.Error()}) // a failure has been reported
	default:
		_ = w.recorder.Revised(ctx) // the next decision tries again
	}
}

const stateSuffix = ".brake"

// brakeFile keeps the state of the brake; "" where there is no place for it.
func brakeFile() string {
	if stateDir() == "" {
		return ""
	}
	return filepath.Join(stateDir(), "run", "brake") // a folder of mode 0700, whatever that round it is
}

// runDirs returns the folders of control sockets, the one for new ones first.
func runDirs() (dirs []string) {
	desktop := fmt.Sprintf("/run/user/%d", os.Getuid())
	switch d := os.Getenv("XDG_RUNTIME_DIR"); {
	case os.Getenv("DONAX_STATE") != "":
	case filepath.IsAbs(d):
		dirs = append(dirs, filepath.Join(d, "donax"))
	}
	if d := stateDir(); d != "" {
		dirs = append(dirs, filepath.Join(d, "run"))
	}
	if os.Getenv("DONAX_STATE") == "" && os.Getenv("XDG_RUNTIME_DIR") == "" { // a server of the desktop may be there
		dirs = append(dirs, filepath.Join(desktop, "donax"))
	}
	return dirs
}
