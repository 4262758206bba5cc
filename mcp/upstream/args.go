package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A request is a command line of a tool, read.
type request struct {
	help      bool
	json      bool // print structuredContent
	arguments map[string]any
}

// Bounds of arguments.
const (
	maxArguments = 8 << 20
	maxArgDepth  = 64
	maxDigits    = 400
)

// parseArgs reads the flags of a tool against its schema and checks what they
// make. An error names the flag and what the schema says of it.
func parseArgs(s *schema, args []string, stdin io.Reader) (request, error) {
	r := request{arguments: map[string]any{}}
	whole := false // an object was given
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, valued := strings.Cut(arg, "=")
		switch {
		case arg == "--help" || arg == "-h":
			return request{help: true}, nil
		case arg == "-":
			data, err := io.ReadAll(io.LimitReader(stdin, maxArguments+1))
			if err != nil {
				return r, err
			}
			if err := r.object(data, whole); err != nil {
				return r, fmt.Errorf("standard input: %w", err)
			}
			whole = true
		case name == "--json":
			if !valued && len(args) > 0 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
				value, valued, args = args[0], true, args[1:]
			}
			if !valued {
				r.json = true
				continue
			}
			if err := r.object([]byte(value), whole); err != nil {
				return r, fmt.Errorf("--json: %w", err)
			}
			whole = true
		case !strings.HasPrefix(arg, "--") || arg == "--":
			return r, fmt.Errorf("unexpected argument %q: arguments are --NAME VALUE, --json '{...}', or - for a JSON object on standard input", cut(arg, 100))
		default:
			p, negated := flag(s, name[2:])
			if p == nil {
				return r, unknownFlag(s, name)
			}
			rest, err := r.flag(p, negated, value, valued, args)
			if err != nil {
				return r, err
			}
			args = rest
		}
	}
	return r, s.check("", r.arguments, 0)
}

// flag finds the property of a flag, with - for _ where that is clear, and
// --no-NAME for a boolean.
func flag(s *schema, name string) (p *property, negated bool) {
	if p = s.property(name); p != nil {
		return p, false
	}
	if p = s.property(strings.ReplaceAll(name, "-", "_")); p != nil {
		return p, false
	}
	if base, ok := strings.CutPrefix(name, "no-"); ok {
		if p, _ = flag(s, base); p != nil && p.schema.only("boolean") {
			return p, true
		}
	}
	return nil, false
}

func unknownFlag(s *schema, name string) error {
	var have []string
	for _, p := range s.properties {
		have = append(have, "--"+p.name)
	}
	switch {
	case s.loose:
		return fmt.Errorf("unknown flag %s: this tool's schema is not known in full; give --json '{...}'", cut(name, 100))
	case len(have) == 0:
		return fmt.Errorf("unknown flag %s: this tool's schema names no arguments", cut(name, 100))
	}
	return fmt.Errorf("unknown flag %s: this tool has %s", cut(name, 100), line(strings.Join(have, " "), 1000))
}

// flag sets the value of one flag and returns the words after it.
func (r *request) flag(p *property, negated bool, value string, valued bool, args []string) ([]string, error) {
	s, name := p.schema, "--"+p.name
	if s.only("boolean") && !valued {
		return args, r.set(p, !negated)
	}
	if negated {
		return nil, fmt.Errorf("--no-%s takes no value", p.name)
	}
	if !valued {
		if len(args) == 0 {
			return nil, fmt.Errorf("%s needs a value: %s", name, s.facts())
		}
		value, args = args[0], args[1:]
	}
	if !s.only("array") {
		v, err := s.value(value)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", name, cut(value, 100), err)
		}
		return args, r.set(p, v)
	}
	// Each use of the flag adds an item; a JSON array gives all at once.
	if strings.HasPrefix(value, "[") {
		if v, err := decode([]byte(value)); err == nil {
			return args, r.set(p, v)
		}
	}
	items := s.items
	if items == nil {
		items = &schema{}
	}
	v, err := items.value(value)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", name, cut(value, 100), err)
	}
	list, ok := r.arguments[p.name].([]any)
	if !ok && r.arguments[p.name] != nil {
		return nil, fmt.Errorf("%s is given twice", name)
	}
	r.arguments[p.name] = append(list, v)
	return args, nil
}

func (r *request) set(p *property, v any) error {
	if _, again := r.arguments[p.name]; again {
		return fmt.Errorf("--%s is given twice", p.name)
	}
	r.arguments[p.name] = v
	return nil
}

// object takes the arguments from a JSON object; flags add to it.
func (r *request) object(data []byte, again bool) error {
	if again {
		return errors.New("the arguments are given twice")
	}
	if len(data) > maxArguments {
		return fmt.Errorf("longer than %d bytes", maxArguments)
	}
	v, err := decode(data)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return errors.New("want a JSON object")
	}
	for name, v := range m {
		if _, there := r.arguments[name]; there {
			return fmt.Errorf("%s is given twice", cut(name, 100))
		}
		r.arguments[name] = v
	}
	return nil
}

// decode reads one JSON value and keeps the digits of its numbers.
func decode(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("no JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// value reads the text of a flag as the type that the schema wants.
func (s *schema) value(v string) (any, error) {
	if s.types == nil || s.is("string") {
		if s.types == nil && len(v) > 0 && strings.ContainsRune("{[", rune(v[0])) {
			if x, err := decode([]byte(v)); err == nil {
				return x, nil
			}
		}
		return v, nil
	}
	x, err := decode([]byte(v))
	if err != nil {
		return nil, fmt.Errorf("want %s", s.facts())
	}
	return x, nil
}
