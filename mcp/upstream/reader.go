package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

type reader struct {
	name, dir string
	text      []byte
	getenv    func(string) (string, bool)
	file      *File
}

// at makes an error about the value v, a part of the text.
func (r *reader) at(v []byte, format string, args ...any) error {
	return fmt.Errorf("%s: %s", r.place(v), fmt.Sprintf(format, args...))
}

// place is FILE:LINE of v.
func (r *reader) place(v []byte) string {
	i := cap(r.text) - cap(v) // v is a slice of text
	if i < 0 || i > len(r.text) {
		return r.name
	}
	return fmt.Sprintf("%s:%d", r.name, 1+bytes.Count(r.text[:i], []byte("\n")))
}

func (r *reader) warn(v []byte, format string, args ...any) {
	r.file.Warnings = append(r.file.Warnings, r.at(v, format, args...).Error())
}

func (r *reader) read() error {
	var probe any
	if err := json.Unmarshal(r.text, &probe); err != nil {
		line := 1
		if se, ok := err.(*json.SyntaxError); ok {
			line += bytes.Count(r.text[:min(int(se.Offset), len(r.text))], []byte("\n"))
		}
		return fmt.Errorf("%s:%d: no JSON: %w", r.name, line, err)
	}
	top, err := r.members(r.text)
	if err != nil {
		return err
	}
	found := false
	for _, m := range top {
		if m.key != "mcpServers" {
			r.warn(m.value, "the key %q is ignored", m.key)
			continue
		}
		found = true
		list, err := r.members(m.value)
		if err != nil {
			return err
		}
		for _, one := range list {
			s, err := r.server(one)
			if err != nil {
				return err
			}
			r.file.Servers = append(r.file.Servers, s)
		}
	}
	if !found {
		return fmt.Errorf("%s: there is no mcpServers in it", r.name)
	}
	return nil
}

type member struct {
	key   string
	value []byte // a slice of the file's text
}

// members splits an object in the order of the file.
func (r *reader) members(v []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(v))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, r.at(v, "want an object")
	}
	var list []member
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // encoding/json gives nothing else here
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		end := int(dec.InputOffset())
		value := v[end-len(raw) : end]
		if slices.ContainsFunc(list, func(m member) bool { return m.key == key }) {
			return nil, r.at(value, "the key %q is there twice", key)
		}
		list = append(list, member{key, value})
	}
	return list, nil
}

// into decodes a member of the right type, or says what it should be.
func into[T any](r *reader, m member, what string) (v T, err error) {
	if json.Unmarshal(m.value, &v) != nil {
		err = r.at(m.value, "%s: want %s", m.key, what)
	}
	return v, err
}

// A raw is what a file says of a server before variables are resolved.
type raw struct {
	command, cwd, url, kind string
	args                    []string
	env, headers            map[string]string
}

func (r *reader) server(m member) (Server, error) {
	s := Server{Name: m.key, Remember: RememberCall, StartTimeout: defaultStart, CallTimeout: defaultCall, Idle: defaultIdle}
	list, err := r.members(m.value)
	if err != nil {
		return s, err
	}
	var x raw
	for _, k := range list {
		switch k.key {
		case "command":
			x.command, err = into[string](r, k, "a text")
		case "args":
			x.args, err = into[[]string](r, k, "an array of texts")
		case "env":
			x.env, err = into[map[string]string](r, k, "an object of texts")
		case "cwd":
			x.cwd, err = into[string](r, k, "a text")
		case "url":
			x.url, err = into[string](r, k, "a text")
		case "headers":
			x.headers, err = into[map[string]string](r, k, "an object of texts")
		case "type":
			x.kind, err = into[string](r, k, "a text")
		case "disabled": // of other clients: who disabled a server there wants it here too
			var off bool
			off, err = into[bool](r, k, "true or false")
			s.Disabled = s.Disabled || off
		case "donax":
			err = r.own(k, &s)
		default:
			r.warn(k.value, "%s: the key %q is not known and is ignored", m.key, k.key)
		}
		if err != nil {
			return s, err
		}
	}
	switch {
	case x.kind == "sse":
		return s, r.at(m.value, "%s: the type sse is not spoken any more: use http", m.key)
	case x.kind != "" && !slices.Contains([]string{"stdio", "http", "streamable-http", "streamableHttp"}, x.kind):
		return s, r.at(m.value, "%s: the type is stdio or http, not %q", m.key, x.kind)
	case (x.command == "") == (x.url == ""):
		return s, r.at(m.value, "%s: want either a command or a url", m.key)
	case x.kind == "stdio" && x.command == "" || x.kind != "" && x.kind != "stdio" && x.url == "":
		return s, r.at(m.value, "%s: the type %s does not fit", m.key, x.kind)
	}
	if err := r.resolve(x, &s); err != nil {
		s.Err = r.at(m.value, "%s: %v", m.key, err)
	}
	return s, nil
}
