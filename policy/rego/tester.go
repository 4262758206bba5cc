package rego

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// TestConfig says which tests to run.
type TestConfig struct {
	Config
	Run     string        // regular expression on PACKAGE.NAME; "" runs all
	Timeout time.Duration // for each test; 0 means 5 s
}

// A TestReport is the result of a run of tests.
type TestReport struct {
	Results   []TestResult `json:"results"`
	Coverage  float64      `json:"coverage"`            // percent of the rules' lines that ran
	Uncovered []Span       `json:"uncovered,omitempty"` // lines of rules that no test ran
}

// A TestResult is the result of one test rule.
type TestResult struct {
	Package  string        `json:"package"`
	Name     string        `json:"name"`
	Location string        `json:"location"`
	Pass     bool          `json:"pass"`
	Skipped  bool          `json:"skipped,omitempty"` // todo_test_ rules
	Failed   string        `json:"failed,omitempty"`  // the condition that did not hold, with its line
	Error    string        `json:"error,omitempty"`
	Output   string        `json:"output,omitempty"` // what print wrote
	Duration time.Duration `json:"duration"`
}

// A Span is a range of lines.
type Span struct {
	File string `json:"file"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

func (s Span) lines() string {
	if s.From == s.To {
		return fmt.Sprint(s.From)
	}
	return fmt.Sprintf("%d-%d", s.From, s.To)
}

// OK reports whether tests ran and none failed.
func (r *TestReport) OK() bool {
	ran := 0
	for _, t := range r.Results {
		if !t.Pass && !t.Skipped {
			return false
		}
		if !t.Skipped {
			ran++
		}
	}
	return ran > 0
}

// String returns failures, a summary and what is not covered.
func (r *TestReport) String() string {
	var b strings.Builder
	passed, skipped := 0, 0
	for _, t := range r.Results {
		switch {
		case t.Skipped:
			skipped++
			fmt.Fprintf(&b, "skip %s  %s\n", t.Name, t.Location)
		case t.Pass:
			passed++
		default:
			fmt.Fprintf(&b, "FAIL %s  %s\n", t.Name, t.Location)
			for _, s := range []string{t.Failed, t.Error} {
				if s != "" {
					fmt.Fprintf(&b, "     %s\n", s)
				}
			}
			for line := range strings.Lines(t.Output) {
				fmt.Fprintf(&b, "     | %s\n", strings.TrimSuffix(line, "\n"))
			}
		}
	}
	fmt.Fprintf(&b, "%d of %d passed, %d skipped, coverage %.1f%%\n", passed, len(r.Results)-skipped, skipped, r.Coverage)
	for _, s := range r.Uncovered {
		fmt.Fprintf(&b, "  not covered: %s:%s\n", s.File, s.lines())
	}
	return b.String()
}

// Test runs the test_ rules in the *_test.rego files of c.Paths with OPA's
// tester. It first loads the policy as production would and gives the same
// errors.
func Test(ctx context.Context, c TestConfig) (*TestReport, error) {
	base, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	src, err := collect(base, true)
	if err != nil {
		return nil, err
	}
	s, err := newSnapshot(base, src)
	if err != nil {
		return nil, err
	}
	if err := s.compile(ctx); err != nil {
		return nil, err
	}
	if bad := s.problems.errors(); len(bad) > 0 {
		return nil, &LoadError{Problems: bad}
	}
	if len(src.tests) == 0 {
		return nil, errors.New("policy: no tests: write test_ rules into files named *_test.rego")
	}
	all := texts{}
	maps.Copy(all, src.modules)
	maps.Copy(all, src.tests)
	modules, probs := parse(all)
	if len(probs) > 0 {
		return nil, &LoadError{Problems: probs}
	}
	tests := maps.Clone(modules)
	maps.DeleteFunc(tests, func(name string, _ *ast.Module) bool { _, ok := src.tests[name]; return !ok })
	if probs := all.checkTestInputs(tests); len(probs) > 0 {
		return nil, &LoadError{Problems: probs}
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	return s.runTests(ctx, c, modules, all)
}

// runTests runs all tests for coverage and, when some failed, once more with
// tracing, which excludes coverage, to find the conditions that did not hold.
func (s *snapshot) runTests(ctx context.Context, c TestConfig, modules map[string]*ast.Module, all texts) (*TestReport, error) {
	coverage := cover.New()
	results, err := s.runOnce(ctx, c, modules, all, func(r *tester.Runner) { r.SetCoverageQueryTracer(coverage) })
	if err != nil {
		return nil, err
	}
	report := &TestReport{Results: results}
	report.cover(coverage.Report(modules))
	if slices.ContainsFunc(results, func(r TestResult) bool { return !r.Pass && !r.Skipped }) {
		traced, err := s.runOnce(ctx, c, modules, all, func(r *tester.Runner) { r.EnableTracing(true) })
		if err != nil {
			return nil, err
		}
		for i := range min(len(traced), len(results)) {
			if !results[i].Pass {
				results[i].Failed = traced[i].Failed
			}
		}
	}
	return report, nil
}

func (s *snapshot) runOnce(ctx context.Context, c TestConfig, modules map[string]*ast.Module, all texts, with func(*tester.Runner)) (out []TestResult, err error) {
	store := inmem.NewFromObject(s.data)
	compiler := newCompiler().WithStrict(false).WithEnablePrintStatements(true).WithRewriteTestRules(true)
	err = storage.Txn(ctx, store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		runner := tester.NewRunner().SetCompiler(compiler).SetStore(store).SetModules(modules).
			CapturePrintOutput(true).RaiseBuiltinErrors(true).SetTimeout(c.Timeout).Filter(c.Run)
		with(runner)
		results, err := runner.RunTests(ctx, txn)
		if err != nil {
			var list ast.Errors
			if errors.As(err, &list) {
				return &LoadError{Problems: all.fromAST(list)}
			}
			return fmt.Errorf("policy: %w", err)
		}
		for r := range results {
			out = append(out, all.result(r))
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b TestResult) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Location, b.Location), strings.Compare(a.Name, b.Name))
	})
	return out, err
}

func (t texts) result(r *tester.Result) TestResult {
	out := TestResult{
		Package: strings.TrimPrefix(r.Package, "data."), Name: r.Name, Location: place(r.Location),
		Pass: r.Pass(), Skipped: r.Skip, Output: string(r.Output), Duration: r.Duration,
	}
	if r.Error != nil {
		out.Error = r.Error.Error()
	}
	if x := failedAt(r); x != nil && !out.Pass {
		p := t.at(x.Loc())
		out.Failed = fmt.Sprintf("line %d does not hold: %s", p.Line, strings.TrimSpace(p.Source))
	}
	return out
}

// failedAt finds the condition of the test rule itself that did not hold.
func failedAt(r *tester.Result) (x *ast.Expr) {
	own := map[uint64]bool{}
	for _, e := range r.Trace {
		if rule, ok := e.Node.(*ast.Rule); ok && e.Op == topdown.EnterOp && headName(rule) == r.Name {
			own[e.QueryID] = true
		}
		if expr, ok := e.Node.(*ast.Expr); ok && e.Op == topdown.FailOp && own[e.QueryID] {
			x = expr
		}
	}
	return x
}

// cover counts lines of rules, not of tests.
func (r *TestReport) cover(c cover.Report) {
	covered, not := 0, 0
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		if isTest(filepath.FromSlash(name)) {
			continue
		}
		f := c.Files[name]
		covered += f.CoveredLines
		not += f.NotCoveredLines
		for _, n := range f.NotCovered {
			span := Span{File: name, From: n.Start.Row, To: n.End.Row}
			if last := len(r.Uncovered) - 1; last >= 0 && r.Uncovered[last].File == name && span.From <= r.Uncovered[last].To+1 {
				r.Uncovered[last].To = max(span.To, r.Uncovered[last].To)
				continue
			}
			r.Uncovered = append(r.Uncovered, span)
		}
	}
	if covered+not > 0 {
		r.Coverage = 100 * float64(covered) / float64(covered+not)
	}
}
