package brake

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
)

// A Limit is how much of something may happen in a window of time. When it is
// exceeded the breaker is open, and refuses, until the window ends. The zero
// Limit does not limit.
type Limit struct {
	N     int64         // calls, errors, repeats, nanoseconds of CPU, or bytes
	Every time.Duration // 0: ever, until [Breakers.Reset]
}

// What a breaker counts.
type What string

// The kinds of breaker.
const (
	Calls   What = "calls"   // of tools, but those that only look at or end something
	Repeats What = "repeats" // the same call with the same arguments, with no other between
	Errors  What = "errors"  // calls that ended in an error, denials among them
	CPU     What = "cpu"     // time that commands have computed
	Bytes   What = "bytes"   // that commands have written
)

// Limits bounds what one principal, or one run, may do.
type Limits map[What]Limit

// A Trip tells of a breaker that has just opened.
type Trip struct {
	What      What
	Principal string
	Run       string // the run that did too much; "" when it was the principal, in all of its runs
	Limit     Limit
}

// BreakersConfig configures [Breakers]. Its zero value limits nothing.
type BreakersConfig struct {
	Principal Limits // of each principal
	Run       Limits // of each run: what came through one session (policy.Session.ID), where there are sessions

	// Report is told of each trip, before whatever is done about it. ctx is that of what tripped it. It must not block for long.
	Report func(context.Context, Trip)

	// Meter returns a context in which commands count their CPU time, and a function that returns what
	// they have used. Nil means that CPU is not counted.
	Meter func(context.Context) (context.Context, func() time.Duration)

	Clock func() time.Time // nil means time.Now
}

// Breakers open when a client does too much: calls are refused and actions
// denied; where CPU or bytes were exceeded, commands that run are ended. It is
// safe for concurrent use.
type Breakers struct {
	cfg BreakersConfig

	mu       sync.Mutex
	accounts map[account]*tally
	trips    map[What]int64
}

// account is a principal in all of its runs, or one run of it.
type account struct{ principal, run string }

// tally is what one account has done in its windows.
type tally struct {
	windows map[What]*window
	last    [sha256.Size]byte // digest of the last call
	used    time.Time
	stops   map[int]context.CancelCauseFunc // commands that run
	next    int
}

type window struct {
	from time.Time
	n    int64
	open bool
}

var (
	_ policy.Constanter = (*Breakers)(nil)
	_ policy.Gate       = (*Breakers)(nil)
)

// Kinds returns the kinds of breaker.
func Kinds() []What { return []What{Calls, Repeats, Errors, CPU, Bytes} }

// NewBreakers returns breakers that are all closed. It refuses limits that
// would never hold.
func NewBreakers(c BreakersConfig) (*Breakers, error) {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	for _, limits := range []Limits{c.Principal, c.Run} {
		for w, l := range limits {
			switch {
			case !slices.Contains(Kinds(), w):
				return nil, fmt.Errorf("brake: there is no breaker %q", w)
			case l.N <= 0 || l.Every < 0:
				return nil, fmt.Errorf("brake: the limit of %s is not positive", w)
			case w == CPU && c.Meter == nil:
				return nil, errors.New("brake: CPU cannot be limited without a meter")
			}
		}
	}
	return &Breakers{cfg: c, accounts: map[account]*tally{}, trips: map[What]int64{}}, nil
}

// Reset closes all breakers and forgets what they have counted.
func (b *Breakers) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.accounts {
		t.windows, t.last = map[What]*window{}, [sha256.Size]byte{}
	}
}

// scopes returns the accounts of whoever s is, with the limits of each.
func (b *Breakers) scopes(s policy.Subject) map[account]Limits {
	p := fmt.Sprintf("%q %q %q", s.Principal.Tenant, s.Principal.Auth, s.Principal.Sub)
	out := map[account]Limits{}
	if len(b.cfg.Principal) > 0 {
		out[account{principal: p}] = b.cfg.Principal
	}
	if len(b.cfg.Run) > 0 && s.Session.ID != "" {
		out[account{p, s.Session.ID}] = b.cfg.Run
	}
	return out
}

// maxAccounts bounds how many are kept; sessions come and go.
const maxAccounts = 10_000

// tally returns the tally of an account. The caller holds mu.
func (b *Breakers) tally(a account, now time.Time) *tally {
	t := b.accounts[a]
	if t == nil {
		if len(b.accounts) >= maxAccounts { // runs that have been quiet for an hour go first; principals stay
			maps.DeleteFunc(b.accounts, func(a account, t *tally) bool {
				return a.run != "" && len(t.stops) == 0 && now.Sub(t.used) > time.Hour
			})
		}
		t = &tally{windows: map[What]*window{}, stops: map[int]context.CancelCauseFunc{}}
		b.accounts[a] = t
	}
	t.used = now
	return t
}

// window returns the window of w, begun anew when the last one is over. The
// caller holds mu.
func (t *tally) window(w What, l Limit, now time.Time) *window {
	x := t.windows[w]
	if x == nil || l.Every > 0 && now.Sub(x.from) >= l.Every {
		x = &window{from: now}
		t.windows[w] = x
	}
	return x
}

// An openError says which breaker refuses.
type openError struct {
	what What
	run  bool
	l    Limit
	wait time.Duration
}

func (e *openError) Error() string {
	whose := "this principal"
	if e.run {
		whose = "this run"
	}
	every := ""
	if e.l.Every > 0 {
		every = fmt.Sprintf(" in %v", e.l.Every)
	}
	return fmt.Sprintf("a breaker is open: %s of %s, limit %s%s", e.what, whose, e.l.amount(e.what), every)
}

func (e *openError) hint() string {
	if e.l.Every > 0 {
		return fmt.Sprintf("do something else, and come back in %v", (e.wait + time.Second - 1).Truncate(time.Second))
	}
	return tellOperator
}

func (l Limit) amount(w What) string {
	if w == CPU {
		return time.Duration(l.N).String()
	}
	return fmt.Sprint(l.N)
}

// check returns the breaker that is open for s, if any. The caller holds mu.
func (b *Breakers) check(s policy.Subject, now time.Time) error {
	for a, limits := range b.scopes(s) {
		t := b.accounts[a]
		if t == nil {
			continue
		}
		for w, l := range limits {
			if x := t.windows[w]; x != nil && x.open && t.window(w, l, now) == x {
				return &openError{w, a.run != "", l, x.from.Add(l.Every).Sub(now)}
			}
		}
	}
	return nil
}

// spend adds n of w to the accounts of s, and opens the breakers that are over
// their limit. Report is called, and commands are ended, without mu.
func (b *Breakers) spend(ctx context.Context, s policy.Subject, w What, n int64) {
	var trips []Trip
	var stop []context.CancelCauseFunc
	now := b.cfg.Clock()
	b.mu.Lock()
	for a, limits := range b.scopes(s) {
		l := limits[w]
		if l.N <= 0 {
			continue
		}
		t := b.tally(a, now)
		x := t.window(w, l, now)
		if x.n += n; x.n <= l.N || x.open {
			continue
		}
		x.open = true
		b.trips[w]++
		trips = append(trips, Trip{What: w, Principal: s.Principal.Sub, Run: a.run, Limit: l})
		if w == CPU || w == Bytes {
			for _, f := range t.stops {
				stop = append(stop, f)
			}
		}
	}
	b.mu.Unlock()
	for _, t := range trips {
		if b.cfg.Report != nil {
			b.cfg.Report(ctx, t)
		}
	}
	for _, f := range stop {
		f(&EndedError{(&openError{what: w, run: trips[0].Run != "", l: trips[0].Limit}).Error()})
	}
}

// Decide implements [policy.Engine]: it denies while a breaker is open for the
// principal or its run.
func (b *Breakers) Decide(_ context.Context, a policy.Action) (policy.Decision, error) {
	if a.Kind == policy.KindOutput { // what was written can still be read
		return policy.Decision{Effect: policy.Allow}, nil
	}
	b.mu.Lock()
	err := b.check(a.Subject, b.cfg.Clock())
	b.mu.Unlock()
	var open *openError
	if errors.As(err, &open) {
		return policy.Decision{Reasons: []policy.Reason{{Msg: open.Error(), Rule: "breaker", Hint: open.hint()}}}, nil
	}
	return policy.Decision{Effect: policy.Allow}, nil
}

// Constant implements [policy.Constanter]. An open breaker ends commands; it
// need not be asked about each thing they do.
func (b *Breakers) Constant(k policy.Kind) (policy.Decision, bool) {
	return policy.Decision{Effect: policy.Allow}, k != policy.KindCommand
}

// Enter implements [policy.Gate].
func (b *Breakers) Enter(ctx context.Context, c policy.ToolCall) (func(policy.Outcome), error) {
	if c.Harmless {
		return leave, nil
	}
	s := policy.SubjectFrom(ctx)
	b.spend(ctx, s, Calls, 1)
	b.repeat(ctx, s, sha256.Sum256(fmt.Appendf(nil, "%q %s", c.Tool, c.Arguments)))
	b.mu.Lock()
	err := b.check(s, b.cfg.Clock())
	b.mu.Unlock()
	var open *openError
	if errors.As(err, &open) {
		return nil, &policy.RefusedError{Msg: open.Error(), Hint: open.hint()}
	}
	return func(o policy.Outcome) {
		if o == policy.OutcomeError || o == policy.OutcomeFault {
			b.spend(ctx, s, Errors, 1)
		}
	}, nil
}

// repeat counts calls that are the same as the one before; another call closes
// the breaker.
func (b *Breakers) repeat(ctx context.Context, s policy.Subject, digest [sha256.Size]byte) {
	now := b.cfg.Clock()
	b.mu.Lock()
	for a, limits := range b.scopes(s) {
		if limits[Repeats].N <= 0 {
			continue
		}
		if t := b.tally(a, now); t.last != digest {
			t.last = digest
			delete(t.windows, Repeats)
		}
	}
	b.mu.Unlock()
	b.spend(ctx, s, Repeats, 1)
}

// WriteMetrics writes what the breakers count, in the text format of
// Prometheus.
func (b *Breakers) WriteMetrics(w io.Writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprint(w, "# HELP donax_breaker_trips_total Breakers that have opened.\n# TYPE donax_breaker_trips_total counter\n")
	for _, what := range Kinds() {
		fmt.Fprintf(w, "donax_breaker_trips_total{breaker=%q} %d\n", what, b.trips[what])
	}
}

// WriteMetrics writes the state of the switch, in the text format of
// Prometheus.
func (s *Switch) WriteMetrics(w io.Writer) {
	on := 0
	if s.State().On {
		on = 1
	}
	fmt.Fprintf(w, "# HELP donax_brake_on Whether the brake is on.\n# TYPE donax_brake_on gauge\ndonax_brake_on %d\n", on)
}
