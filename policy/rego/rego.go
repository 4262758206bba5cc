// Package rego is the policy engine on Open Policy Agent's Rego.
//
// [Load] compiles .rego files strictly and refuses what would silently allow:
// misspelt rules, fields and constants, rules of the wrong kind, data that
// poses as rules. [Engine.Decide] evaluates them for one [policy.Action]; it
// denies whenever the rules do not clearly allow, also on errors, wrong shapes
// and timeouts. [Check], [Engine.Explain], [Test] and [Format] are the tools
// for people who write policies.
//
// A policy is Rego v1 in package donax. The rules that matter are
//
//	allow                   boolean; command, exec, net, tool and module need it
//	deny, ask, warn         sets of messages: strings or {msg, rule, hint, ...}
//	limit                   set of objects; lowers limits of a command or of one program
//	governs                 set of "file" and "output": these then need allow too
//	redact, unset_env,      sets of objects, names and objects: further obligations, for
//	mount                   callers that carry them out, see [Config].Enforce
//
// A deny beats an ask, an ask beats allow, and what nothing allows is denied.
// The input document is described by [Schema] and checked at load.
package rego

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Defaults of [Config].
const (
	DefaultPackage  = "donax"
	DefaultTimeout  = 2 * time.Second // shorter ones deny by mistake on a loaded machine
	DefaultMaxInput = 256 << 10
	DefaultMaxStuck = 8
)

// Config says what to load and how to bound evaluation. Its zero value loads
// nothing, which [Load] refuses.
type Config struct {
	Paths   []string          // files (.rego, .json, .yaml), folders of them, signed bundles (.tar.gz) or their https URLs; *_test.* and hidden entries of folders are skipped
	Sources map[string]string // further modules: name to Rego text
	Key     *BundleKey        // verifies bundles; without it they are refused
	Client  *http.Client      // fetches bundles; nil means one that waits 30 seconds
	Package string            // package that is asked; "" means donax

	// Entrypoint asks one rule, such as "authz/decision" or "docker.authz.allow", instead of the contract's
	// rules in Package: a boolean, or an object {effect | allow | allowed, reason, reasons, warnings, limits}.
	// It answers every action; undefined and unknown shapes deny.
	Entrypoint string

	Enforce  []string      // obligations beside limit that the caller carries out; policies that use others are refused. See [Obligations]
	Timeout  time.Duration // per decision, wall time; 0 means DefaultTimeout
	MaxInput int           // bytes of facts per decision, larger ones deny; 0 means DefaultMaxInput
	MaxStuck int           // evaluations that may run on after their deadline before all is denied; 0 means DefaultMaxStuck

	fetched *fetched // what came from URLs, for the next look
}

// Obligations returns all that [Config].Enforce may hold. A caller names them
// when it carries out redact, unset_env and mount of the decisions it gets.
func Obligations() []string { return slices.Clone(optional) }

func (c Config) withDefaults() (Config, error) {
	if c.Package == "" {
		c.Package = DefaultPackage
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxInput == 0 {
		c.MaxInput = DefaultMaxInput
	}
	if c.MaxStuck == 0 {
		c.MaxStuck = DefaultMaxStuck
	}
	if c.Timeout < 0 || c.MaxInput < 0 || c.MaxStuck < 0 {
		return c, errors.New("policy: a bound in rego.Config is negative")
	}
	if len(c.Paths) == 0 && len(c.Sources) == 0 {
		return c, errors.New("policy: no files to load")
	}
	for _, o := range c.Enforce {
		if !slices.Contains(optional, o) {
			return c, fmt.Errorf("policy: %q is not an obligation that can be enforced: %v", o, optional)
		}
	}
	if c.fetched == nil {
		c.fetched = &fetched{}
	}
	_, _, err := c.asked()
	return c, err
}

// Engine decides with one compiled policy. It is safe for concurrent use.
type Engine struct {
	cur     atomic.Pointer[snapshot]
	reload  sync.Mutex // one at a time
	workers *workers
	stuck   atomic.Int64 // evaluations running on after their deadline
}

func newEngine() *Engine { return &Engine{workers: newWorkers()} }

var (
	_ policy.Engine     = (*Engine)(nil)
	_ policy.Constanter = (*Engine)(nil)
	_ policy.Repeater   = (*Engine)(nil)
)

// Load reads and compiles a policy. Whatever is wrong with the texts comes
// back as a [*LoadError] that lists every problem with file, line and caret;
// other errors are those of reading files.
func Load(ctx context.Context, c Config) (*Engine, error) {
	s, err := load(ctx, c)
	if err != nil {
		return nil, err
	}
	if bad := s.problems.errors(); len(bad) > 0 {
		return nil, &LoadError{Problems: bad}
	}
	e := newEngine()
	e.cur.Store(s)
	return e, nil
}

// Hash names the loaded texts: 16 hex digits that change with any byte of
// them.
func (e *Engine) Hash() string { return e.cur.Load().hash }

// Warnings returns what a person should look at, though it does not keep the
// policy from loading.
func (e *Engine) Warnings() []Problem { return e.cur.Load().problems }

// Stuck returns how many evaluations are running on after their deadline,
// in builtins that cannot be cancelled.
func (e *Engine) Stuck() int { return int(e.stuck.Load()) }

// Constant implements [policy.Constanter]: actions of kind k get the same
// answer whatever their facts, when no rule that could match reads them.
func (e *Engine) Constant(k policy.Kind) (policy.Decision, bool) {
	c := e.cur.Load().constant[k]
	if c == nil {
		return policy.Decision{}, false
	}
	return *c, true
}

// Repeats implements [policy.Repeater]: no rule that could match reads more
// than the facts of a and its subject.
func (e *Engine) Repeats(a policy.Action) bool { return e.cur.Load().key(nil, &a) != nil }
