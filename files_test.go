package donax

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	maxLines    = 800 // of any Go file
	medianLines = 170 // over all Go files that are not tests; the aim is 150, so this only goes down
)

func TestFileSizes(t *testing.T) {
	var sizes []int
	walk(t, func(name string, data []byte) {
		if !strings.HasSuffix(name, ".go") {
			return
		}
		n := bytes.Count(data, []byte("\n"))
		if n > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it by what it does", name, n, maxLines)
		}
		if !strings.HasSuffix(name, "_test.go") {
			sizes = append(sizes, n)
		}
	})
	slices.Sort(sizes)
	if m := sizes[len(sizes)/2]; m > medianLines {
		t.Errorf("the median file has %d lines, more than %d", m, medianLines)
	}
}

func TestPackageDocs(t *testing.T) {
	for _, p := range packages(t) {
		var with []string
		for _, f := range p.GoFiles {
			src, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if src.Doc != nil && !strings.HasPrefix(src.Doc.Text(), "go:build") {
				with = append(with, f)
			}
		}
		if len(with) != 1 {
			t.Errorf("%s: %d files have a package doc, want exactly one: %v", p.ImportPath, len(with), with)
		}
	}
}

// TestNoInit holds the rule that nothing happens before main: what can run is
// readable in one place.
func TestNoInit(t *testing.T) {
	walk(t, func(name string, data []byte) {
		if strings.HasSuffix(name, ".go") && bytes.Contains(data, []byte("\nfunc init()")) {
			t.Errorf("%s has an init function", name)
		}
	})
}

func TestRequiredDocuments(t *testing.T) {
	for _, name := range []string{
		"README.md", "ARCHITECTURE.md", "RATIONALE.md", "SECURITY.md", "THREATS.md", "LIMITATIONS.md",
		"CHANGELOG.md", "THIRD_PARTY.md", "LICENSE",
	} {
		if fi, err := os.Stat(name); err != nil || fi.Size() < 300 {
			t.Errorf("%s is missing or says nothing", name)
		}
	}
}

// TestThirdPartyIsListed compares THIRD_PARTY.md with what go.mod requires
// directly.
func TestThirdPartyIsListed(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("THIRD_PARTY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mod), "\n") {
		f := strings.Fields(line)
		if len(f) == 2 && strings.HasPrefix(f[1], "v") && strings.Contains(f[0], ".") {
			if !strings.Contains(string(doc), f[0]) || !strings.Contains(string(doc), f[1]) {
				t.Errorf("THIRD_PARTY.md does not name %s %s", f[0], f[1])
			}
		}
	}
}

func walk(t *testing.T, f func(name string, data []byte)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f(name, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
