package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
	"github.com/donax-sh/donax/policy/brake"
	"github.com/donax-sh/donax/policy/rego"
	"github.com/donax-sh/donax/termhost"
	"github.com/donax-sh/donax/wasm"
	"github.com/spf13/cobra"
)

// waistFlags are the flags of what stands round the rules.
type waistFlags struct {
	audit    string
	onError  string
	masks    []string
	files    bool
	breakers []string

	serving bool // keep a record where nobody said otherwise
}

func (f *waistFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	what := "off unless given"
	if f.serving {
		what = "a file of its own in donax's state folder unless given"
	}
	fl.StringVar(&f.audit, "audit", "", "record what was asked, decided and done in `FILE`, or off; "+what)
	fl.StringVar(&f.onError, "audit-on-error", "deny", "what to do when that cannot be written, `deny|allow`")
	fl.StringArrayVar(&f.masks, "audit-mask", nil, "never record what matches `REGEX` (repeatable)")
	fl.BoolVar(&f.files, "audit-files", false, "record every file that is opened or changed, too")
	if f.serving {
		fl.StringArrayVar(&f.breakers, "breaker", nil, "stop a client that does too much, `[run.]WHAT=N[/TIME]`: calls=600/1m, repeats=20, errors=50/10m, cpu=10m/1h, bytes=1GiB/1h (repeatable)")
	}
}

// A waist is what stands round the rules: the brake, the breakers and the
// record.
type waist struct {
	brake    brake.Switch
	breakers *brake.Breakers // nil: none
	recorder *audit.Recorder // nil: no record
	tell     bool            // the head, at start and end
	idle     bool            // nothing was served yet, and nobody asked for the record: it is removed at the end
	mask     func(string) string
	stderr   io.Writer
}

func (f *waistFlags) open(stderr io.Writer, quiet bool, mounts []mount, env []string, layers []*rego.Engine) (*waist, error) {
	w := &waist{stderr: stderr}
	var err error
	if w.mask, err = audit.NewMask(f.masks, secretValues(env)); err != nil {
		return nil, usageError("--audit-mask 'key-[0-9a-f]+'", "--audit-mask: %v", err)
	}
	if s := brake.Load(brakeFile()); s.On {
		w.brake.On(s.Reason)
	}
	if err := f.openBreakers(w); err != nil {
		return nil, err
	}
	return w, f.openRecorder(w, stderr, quiet, mounts, env, layers)
}

func (f *waistFlags) openRecorder(w *waist, stderr io.Writer, quiet bool, mounts []mount, env []string, layers []*rego.Engine) error {
	if f.onError != "deny" && f.onError != "allow" {
		return usageError("--audit-on-error deny", "--audit-on-error %q: want deny or allow", f.onError)
	}
	path := f.audit
	if path == "off" || path == "" && !f.serving {
		return nil
	}
	if path == "" {
		if stateDir() == "" {
			fmt.Fprintln(stderr, "donax: no audit log: there is no folder for it (give one with --audit FILE)")
			return nil
		}
		path = filepath.Join(eventsDir(), fmt.Sprintf("%s-%d.jsonl", time.Now().UTC().Format("20060102T150405.000"), os.Getpid()))
	}
	if err := outOfReach(path, mounts); err != nil {
		return err
	}
	var err error
	w.recorder, err = audit.Open(audit.Config{
		Path: path, Files: f.files, Mask: f.masks, Secrets: secretValues(env), AllowOnError: f.onError == "allow",
		Labels:   map[string]string{"id": strings.ToLower(rand.Text()[:12]), "version": version()},
		Revision: revision(layers),
		Report: func(err error) {
			if err != nil {
				fmt.Fprintf(stderr, "donax: %v: %s\n", err, map[string]string{"deny": "nothing is admitted until it can be written", "allow": "going on without a record"}[f.onError])
			} else {
				fmt.Fprintln(stderr, "donax: audit: the log can be written again")
			}
		},
	})
	switch {
	case err != nil && f.audit == "": // nobody has asked for one, and the place may be read-only
		fmt.Fprintf(stderr, "donax: no audit log: %v (give a place with --audit FILE)\n", err)
		return nil
	case err != nil:
		return usageError("--audit FILE, with a file of its own for each server", "--audit %s: %v", path, err)
	}
	w.idle = f.audit == ""
	if w.tell = f.serving && !quiet; w.tell {
		fmt.Fprintf(stderr, "donax: audit log %s, head %s\n", path, w.recorder.Head())
	}
	return nil
}

// secretValues are texts that are never shown: what operators give to lines.
func secretValues(env []string) []string {
	secrets := []string{os.Getenv("DONAX_TOKEN")}
	for _, kv := range env {
		_, v, _ := strings.Cut(kv, "=")
		secrets = append(secrets, v)
	}
	return secrets
}

// revision names the policies in force.
func revision(layers []*rego.Engine) func() string {
	return func() string {
		switch len(layers) {
		case 0:
			return "default"
		case 1:
			return layers[0].Hash()
		}
		hashes := make([]string, len(layers))
		for i, l := range layers {
			hashes[i] = l.Hash()
		}
		return strings.Join(hashes, "+")
	}
}

// outOfReach refuses a file that lines could change: on a mount they may write.
func outOfReach(path string, mounts []mount) error {
	for _, m := range mounts {
		if m.mode != "rw" {
			continue
		}
		src := realFile(m.src)
		for _, inside := range []string{realFile(path), absolute(path)} { // where it is, and the link that leads there
			if rel, err := filepath.Rel(src, inside); err == nil && filepath.IsLocal(rel) {
				return usageError("a place outside "+m.src, "%s lies on a mount that lines may write: they could change it", path)
			}
		}
	}
	return nil
}

// openBreakers reads the --breaker flags.
func (f *waistFlags) openBreakers(w *waist) error {
	if len(f.breakers) == 0 {
		return nil
	}
	c := brake.BreakersConfig{
		Principal: brake.Limits{}, Run: brake.Limits{},
		Meter: func(ctx context.Context) (context.Context, func() time.Duration) {
			b := wasm.NewBudget(math.MaxInt64) // counts, and never runs out
			var worker atomic.Int64            // what a process of its own has used
			ctx = withWorkerCPU(wasm.WithBudget(ctx, b), &worker)
			return ctx, func() time.Duration { return time.Duration(b.Used() + worker.Load()) }
		},
		Report: func(ctx context.Context, t brake.Trip) {
			fmt.Fprintf(w.stderr, "donax: breaker %s of %s opened\n", t.What, policy.Plain(t.Principal))
			_ = w.record(context.WithoutCancel(ctx), audit.TypeTripped, map[string]any{
				"breaker": string(t.What), "principal": t.Principal, "run": t.Run, "limit": t.Limit.N, "window_ms": t.Limit.Every.Milliseconds(),
			}) // the breaker is open in any case
		},
	}
	for _, flag := range f.breakers {
		name, value, _ := strings.Cut(flag, "=")
		limits := c.Principal
		if n, ok := strings.CutPrefix(name, "run."); ok {
			name, limits = n, c.Run
		}
		l, err := parseLimit(brake.What(name), value)
		if err != nil {
			return usageError("--breaker calls=600/1m", "--breaker %q: %v", flag, err)
		}
		limits[brake.What(name)] = l
	}
	var err error
	if w.breakers, err = brake.NewBreakers(c); err != nil {
		return usageError("--breaker calls=600/1m", "--breaker: %v", err)
	}
	return nil
}

func parseLimit(what brake.What, s string) (l brake.Limit, err error) {
	n, every, windowed := strings.Cut(s, "/")
	if windowed {
		var d duration
		if err := d.Set(every); err != nil || d == 0 {
			return l, fmt.Errorf("%q is no time", every)
		}
		l.Every = time.Duration(d)
	}
	switch what {
	case brake.CPU:
		var d duration
		err = d.Set(n)
		l.N = int64(d)
	case brake.Bytes:
		var b size
		err = b.Set(n)
		l.N = int64(b)
	default:
		l.N, err = strconv.ParseInt(n, 10, 64)
	}
	if err != nil {
		return l, fmt.Errorf("%q is no amount of %s", n, what)
	}
	return l, nil
}

// engine puts the brakes before the rules, and the record round both.
func (w *waist) engine(rules policy.Engine) policy.Engine {
	layers := []policy.Engine{&w.brake}
	if w.breakers != nil {
		layers = append(layers, w.breakers)
	}
	e := policy.Stack(append(layers, rules)...)
	if w.recorder != nil {
		e = w.recorder.Engine(e)
	}
	return e
}

// gate stands before the calls of tools.
func (w *waist) gate() policy.Gate {
	list := []policy.Gate{&w.brake}
	if w.breakers != nil {
		list = append(list, w.breakers)
	}
	g := policy.Gates(list...)
	if w.recorder != nil {
		g = w.recorder.Gate(g)
	}
	return g
}

// runner follows commands to their end.
func (w *waist) runner(r termhost.Runner) termhost.Runner {
	r = brake.Run(r, w.breakers)
	if w.recorder != nil {
		r = w.recorder.Runner(r)
	}
	return r
}

// shells is runner for the shells of named sessions.
func (w *waist) shells(open func(context.Context) (termhost.Shell, error)) func(context.Context) (termhost.Shell, error) {
	return func(ctx context.Context) (termhost.Shell, error) {
		sh, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return waistShell{w.runner(sh), sh}, nil
	}
}

type waistShell struct {
	termhost.Runner
	io.Closer
}

func (w *waist) record(ctx context.Context, kind string, custom map[string]any) error {
	if w.recorder == nil {
		return nil
	}
	return w.recorder.Record(ctx, audit.Event{Type: kind, Custom: custom})
}

func (w *waist) metrics() []func(io.Writer) {
	out := []func(io.Writer){w.brake.WriteMetrics}
	if w.breakers != nil {
		out = append(out, w.breakers.WriteMetrics)
	}
	if w.recorder != nil {
		out = append(out, w.recorder.WriteMetrics)
	}
	return out
}

// serving says that clients can come: from now on the record is kept.
func (w *waist) serving() { w.idle = false }

// health is why nothing is admitted, if nothing is.
func (w *waist) health() error {
	switch {
	case w.recorder != nil && w.recorder.Failing():
		return errors.New("the audit log cannot be written")
	case w.brake.State().On:
		return errors.New("the brake is on")
	}
	return nil
}

// Close closes the log, and tells its head where operators keep what servers
// say: it is an anchor that who can write the log cannot change.
func (w *waist) Close() error {
	if w == nil || w.recorder == nil {
		return nil
	}
	if w.idle {
		if w.tell {
			fmt.Fprintln(w.stderr, "donax: the audit log is removed: nothing was served")
		}
		return w.recorder.Discard()
	}
	err := w.recorder.Close()
	if w.tell {
		fmt.Fprintf(w.stderr, "donax: audit log closed, head %s\n", w.recorder.Head())
	}
	return err
}

// stateDir is where donax keeps what must outlive it: DONAX_STATE, or donax in
// the user's folder for state. "" means that there is no place.
func stateDir() string {
	if d := os.Getenv("DONAX_STATE"); d != "" {
		return d
	}
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "donax")
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "state", "donax")
}

func eventsDir() string { return filepath.Join(stateDir(), "events") }
