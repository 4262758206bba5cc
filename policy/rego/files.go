package rego

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxFile  = 16 << 20 // bytes of one file
	maxDepth = 32       // nesting of folders; ends loops of symlinks
)

// texts holds Rego modules by file name.
type texts map[string]string

// A dataFile is one JSON or YAML document and where it belongs below data.
type dataFile struct {
	name  string
	under []string
	text  []byte
	value map[string]any // already decoded; then there is no text
}

type sources struct {
	modules texts
	data    []dataFile
	tests   texts // *_test.rego, only when asked for
}

// collect reads everything that c names.
func collect(c Config, withTests bool) (*sources, error) {
	s := &sources{modules: texts{}, tests: texts{}}
	for name, text := range c.Sources {
		s.modules[name] = text
	}
	for _, p := range c.Paths {
		if isURL(p) {
			text, err := c.fetched.get(c.Client, p)
			if err != nil {
				return nil, err
			}
			if err := s.bundleFrom(bytes.NewReader(text), p, c.Key, withTests); err != nil {
				return nil, err
			}
			continue
		}
		st, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("policy: %w", err)
		}
		if st.IsDir() {
			before := len(s.modules) + len(s.tests)
			if err := s.folder(p, nil, 0, withTests); err != nil {
				return nil, err
			}
			if len(s.modules)+len(s.tests) == before && len(s.data) == 0 {
				return nil, fmt.Errorf("policy: folder %s holds no .rego files", p)
			}
			continue
		}
		if !st.Mode().IsRegular() {
			return nil, fmt.Errorf("policy: %s is not a regular file", p)
		}
		if isBundle(p) {
			if err := s.bundle(p, c.Key, withTests); err != nil {
				return nil, err
			}
			continue
		}
		if isTest(p) && !withTests {
			return nil, fmt.Errorf("policy: %s is a test: its rules must never decide in production", p)
		}
		known, err := s.file(p, nil)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, fmt.Errorf("policy: %s is neither .rego nor .json nor .yaml nor a bundle", p)
		}
	}
	return s, nil
}

func (s *sources) folder(dir string, under []string, depth int, withTests bool) error {
	if depth > maxDepth {
		return fmt.Errorf("policy: %s: folders are nested too deeply", dir)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	for _, ent := range list {
		name := filepath.Join(dir, ent.Name())
		if strings.HasPrefix(ent.Name(), ".") {
			continue
		}
		st, err := os.Stat(name) // follows symlinks: mounted configuration consists of them, and a rule that is left out may be a deny
		if err != nil {
			return fmt.Errorf("policy: %w", err)
		}
		switch {
		case st.IsDir():
			if err := s.folder(name, append(slices.Clip(under), ent.Name()), depth+1, withTests); err != nil {
				return err
			}
		case isTest(name) && !withTests:
		case !st.Mode().IsRegular(): // a pipe would be waited for until somebody writes
			return fmt.Errorf("policy: %s is not a regular file", name)
		default:
			if _, err := s.file(name, under); err != nil {
				return err
			}
		}
	}
	return nil
}

// file reads one file if its kind is known.
func (s *sources) file(name string, under []string) (bool, error) {
	ext := strings.ToLower(filepath.Ext(name))
	switch ext {
	case ".rego", ".json", ".yaml", ".yml":
	default:
		return false, nil
	}
	text, err := readBounded(name)
	if err != nil {
		return true, err
	}
	name = filepath.ToSlash(name)
	switch {
	case ext != ".rego":
		s.data = append(s.data, dataFile{name: name, under: under, text: text})
	case isTest(name):
		s.tests[name] = string(text)
	default:
		if old, dup := s.modules[name]; dup && old != string(text) {
			return true, fmt.Errorf("policy: two texts are called %s", name)
		}
		s.modules[name] = string(text)
	}
	return true, nil
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("larger than 16 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("policy: %s: %w", name, err)
	}
	return text, nil
}

// isTest reports whether a file belongs to tests: NAME_test.EXT.
func isTest(name string) bool {
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	return strings.HasSuffix(base, "_test")
}
