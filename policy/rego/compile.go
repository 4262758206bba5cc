package rego

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/donax-sh/donax/policy"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	topcache "github.com/open-policy-agent/opa/v1/topdown/cache"
)

// A snapshot is one compiled policy. It never changes.
type snapshot struct {
	cfg      Config
	pkg      ast.Ref // data.donax
	texts    texts
	data     []dataFile
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

// packagePath splits a package name: "donax", "acme.agents".
func packagePath(name string) ([]string, error) {
	ref, err := ast.ParseRef("data." + name)
	if err != nil || len(ref) < 2 {
		return nil, fmt.Errorf("policy: %q is not a package name", name)
	}
	var path []string
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			return nil, fmt.Errorf("policy: %q is not a package name", name)
		}
		path = append(path, string(s))
	}
	return path, nil
}

// compile reads, parses, compiles and lints. The error is about reading;
// problems of the text are in the snapshot, whose other fields are then
// incomplete.
func compile(ctx context.Context, c Config) (*snapshot, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	src, err := collect(c.Paths, false)
	if err != nil {
		return nil, err
	}
	for name, text := range c.Sources {
		if _, dup := src.modules[name]; dup {
			return nil, fmt.Errorf("policy: %s is given twice", name)
		}
		src.modules[name] = text
	}
	return compileSources(ctx, c, src)
}

func compileSources(ctx context.Context, c Config, src *sources) (*snapshot, error) {
	path, err := packagePath(c.Package)
	if err != nil {
		return nil, err
	}
	data, err := mergeData(src.data, path)
	if err != nil {
		return nil, err
	}
	s := &snapshot{cfg: c, texts: src.modules, data: src.data, pkg: packageRef(path), hash: hashOf(src.modules, data), changing: changingBuiltins()}

	modules, probs := parse(src.modules)
	if len(probs) > 0 {
		s.problems = probs
		return s, nil
	}
	s.store = inmem.NewFromObjectWithOpts(data, inmem.OptRoundTripOnWrite(false), inmem.OptReturnASTValuesOnRead(true))
	if s.txn, err = s.store.NewTransaction(ctx); err != nil {
		return nil, err
	}
	s.compiler = newCompiler().WithPathConflictsCheck(storage.NonEmpty(ctx, s.store, s.txn))
	s.compiler.Compile(modules)
	if s.compiler.Failed() {
		s.problems = s.texts.fromAST(s.compiler.Errors)
		s.problems = append(s.problems, s.beforeCompile(modules)...)
		s.problems.sort()
		return s, nil
	}
	s.lint(modules, data)
	if len(s.problems.errors()) > 0 {
		return s, nil
	}
	s.values = topcache.NewInterQueryValueCache(ctx, nil)
	s.reads = s.inputReads()
	s.queries = map[policy.Kind]*query{}
	for _, k := range policy.Kinds() {
		if s.queries[k], err = s.prepare(k); err != nil {
			return nil, err
		}
	}
	s.findConstants(ctx)
	return s, nil
}

func packageRef(path []string) ast.Ref {
	ref := ast.Ref{ast.DefaultRootDocument}
	for _, p := range path {
		ref = append(ref, ast.StringTerm(p))
	}
	return ref
}

func newCompiler() *ast.Compiler {
	return ast.NewCompiler().
		WithStrict(true).
		WithCapabilities(newCapabilities()).
		WithDefaultRegoVersion(ast.RegoV1).
		WithSchemas(newSchemaSet()).
		WithUseTypeCheckAnnotations(true)
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
