package rego

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	topcache "github.com/open-policy-agent/opa/v1/topdown/cache"
)

// maxExpressions is how many compiled regular expressions and globs are kept.
const maxExpressions = 1000

// A snapshot is one compiled policy. It never changes.
type snapshot struct {
	cfg      Config
	pkg      ast.Ref  // data.donax
	contract []string // rules that are asked
	entry    bool     // contract is one rule with a vocabulary of its own
	texts    texts
	data     map[string]any // never changed
	compiler *ast.Compiler
	store    storage.Store
	txn      storage.Transaction
	values   topcache.InterQueryValueCache // compiled regular expressions and globs
	queries  map[policy.Kind]*query
	constant map[policy.Kind]*policy.Decision
	reads    inputReads
	subjects subjectCache
	cache    decisionCache
	hash     string
	problems problems

	changing  map[string]bool // builtins whose answer changes
	mu        sync.Mutex
	ruleReads map[*ast.Rule]ruleReads // guarded by mu
}

var packageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`) })

// packagePath splits a package name: "donax", "acme.agents".
func packagePath(name string) ([]string, error) {
	if !packageName().MatchString(name) {
		return nil, fmt.Errorf("policy: %q is not a package name", name)
	}
	return strings.Split(name, "."), nil
}

// asked returns the package and the rules that are asked.
func (c Config) asked() (pkg, rules []string, err error) {
	if c.Entrypoint == "" {
		pkg, err = packagePath(c.Package)
		return pkg, allRules, err
	}
	name := strings.TrimPrefix(strings.ReplaceAll(strings.Trim(c.Entrypoint, "/"), "/", "."), "data.")
	path, err := packagePath(name)
	if err != nil || len(path) < 2 {
		return nil, nil, fmt.Errorf("policy: entry point %q is not PACKAGE/RULE", c.Entrypoint)
	}
	last := len(path) - 1
	return path[:last], path[last:], nil
}

// load reads, parses, compiles and lints. The error is about reading; problems
// of the text are in the snapshot, whose other fields are then incomplete.
func load(ctx context.Context, c Config) (*snapshot, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	src, err := collect(c, false)
	if err != nil {
		return nil, err
	}
	s, err := newSnapshot(c, src)
	if err != nil {
		return nil, err
	}
	return s, s.compile(ctx)
}

// newSnapshot puts together what is to be compiled.
func newSnapshot(c Config, src *sources) (*snapshot, error) {
	path, contract, err := c.asked()
	if err != nil {
		return nil, err
	}
	data, err := mergeData(src.data, path)
	if err != nil {
		return nil, err
	}
	c.Sources = maps.Clone(c.Sources) // read again at each reload
	return &snapshot{
		cfg: c, pkg: packageRef(path), contract: contract, entry: c.Entrypoint != "",
		texts: src.modules, data: data, hash: hashOf(src.modules, data), changing: changingBuiltins(),
	}, nil
}

// compile makes the snapshot ready to decide, or fills in its problems.
func (s *snapshot) compile(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil { // a bug in the compiler must not end a server that reloads
			err = fmt.Errorf("policy: the compiler panicked: %v", p)
		}
	}()
	modules, probs := parse(s.texts)
	if len(probs) > 0 {
		s.problems = probs
		return nil
	}
	s.store = inmem.NewFromObjectWithOpts(s.data, inmem.OptRoundTripOnWrite(false), inmem.OptReturnASTValuesOnRead(true))
	if s.txn, err = s.store.NewTransaction(ctx); err != nil {
		return err
	}
	s.compiler = newCompiler().WithPathConflictsCheck(storage.NonEmpty(ctx, s.store, s.txn))
	s.compiler.Compile(modules)
	if s.compiler.Failed() {
		s.problems = s.texts.fromAST(s.compiler.Errors)
		s.problems = append(s.problems, s.beforeCompile(modules)...)
		s.problems.sort()
		return nil
	}
	s.lint(modules)
	if len(s.problems.errors()) > 0 {
		return nil
	}
	// Bounded, which it is not by default: a policy may build expressions from what a command chose.
	entries := maxExpressions
	s.values = topcache.NewInterQueryValueCache(ctx, &topcache.Config{
		InterQueryBuiltinValueCache: topcache.InterQueryBuiltinValueCacheConfig{MaxNumEntries: &entries},
	})
	s.reads = s.inputReads()
	s.queries = map[policy.Kind]*query{}
	for _, k := range policy.Kinds() {
		if s.queries[k], err = s.prepare(k); err != nil {
			return err
		}
	}
	s.findConstants(ctx)
	return nil
}

func packageRef(path []string) ast.Ref {
	ref := ast.Ref{ast.DefaultRootDocument}
	for _, p := range path {
		ref = append(ref, ast.StringTerm(p))
	}
	return ref
}

// newCompiler compiles as production does. Type annotations in metadata are
// not used: one could turn the check of the input off for its rule, and an
// inline schema may refer to files of the server.
func newCompiler() *ast.Compiler {
	return ast.NewCompiler().
		WithStrict(true).
		WithCapabilities(newCapabilities()).
		WithDefaultRegoVersion(ast.RegoV1).
		WithSchemas(newSchemaSet())
}

func parse(src texts) (map[string]*ast.Module, problems) {
	caps := newCapabilities()
	modules := map[string]*ast.Module{}
	var probs problems
	for _, name := range slices.Sorted(maps.Keys(src)) {
		m, err := ast.ParseModuleWithOpts(name, src[name], ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true, Capabilities: caps})
		switch {
		case err != nil:
			probs = append(probs, src.fromAST(err)...)
		case m == nil:
			probs = append(probs, Problem{File: name, Code: "policy_lint", Msg: "the file is empty"})
		default:
			modules[name] = m
		}
	}
	return modules, probs
}

func hashOf(modules texts, data map[string]any) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		fmt.Fprintf(h, "%d:%s%d:%s", len(name), name, len(modules[name]), modules[name])
	}
	text, _ := json.Marshal(data) // keys sorted; the values came from JSON or YAML, so this cannot fail
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// rules returns the rules that define name in the policy's package.
func (s *snapshot) rules(name string) []*ast.Rule {
	return s.compiler.GetRules(s.pkg.Append(ast.StringTerm(name)))
}

func (s *snapshot) inPackage(m *ast.Module) bool { return m.Package.Path.Equal(s.pkg) }

func (s *snapshot) packageName() string { return strings.TrimPrefix(s.pkg.String(), "data.") }
