package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// An mcpClient is what is known of a program that starts MCP servers.
type mcpClient struct {
	where  string   // its file: below the current folder, or ~/ and the user's home
	path   []string // to the server in it, in JSON; nil for TOML
	typed  bool     // a server says that it is a stdio server
	loose  bool     // comments and trailing commas may be in it
	adds   string   // the client's own command that adds a server; "" when it has none
	folder string   // variable that names the folder of the file, in place of where's
}

// mcpClients are the clients by name.
func mcpClients() map[string]mcpClient {
	return map[string]mcpClient{
		"claude-code": {where: ".mcp.json", path: []string{"mcpServers", "donax"}, typed: true, adds: "claude mcp add donax --"},
		"codex":       {where: "~/.codex/config.toml", adds: "codex mcp add donax --", folder: "CODEX_HOME"},
		"cursor":      {where: ".cursor/mcp.json", path: []string{"mcpServers", "donax"}},
		"gemini":      {where: "~/.gemini/settings.json", path: []string{"mcpServers", "donax"}, loose: true},
		"vscode":      {where: ".vscode/mcp.json", path: []string{"servers", "donax"}, typed: true, loose: true},
		"zed":         {where: "~/.config/zed/settings.json", path: []string{"context_servers", "donax"}, loose: true},
	}
}

// file is where the client reads its configuration.
func (c mcpClient) file() (string, error) {
	rest, home := strings.CutPrefix(c.where, "~/")
	if !home {
		return filepath.FromSlash(rest), nil
	}
	if dir := os.Getenv(c.folder); c.folder != "" && dir != "" {
		return filepath.Join(dir, filepath.Base(rest)), nil
	}
	if config, ok := strings.CutPrefix(rest, ".config/"); ok {
		if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" && runtime.GOOS == "linux" {
			return filepath.Join(dir, config), nil
		}
		if dir := os.Getenv("APPDATA"); dir != "" && runtime.GOOS == "windows" {
			return filepath.Join(dir, config), nil
		}
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return "", &hint{err, "--file PATH"}
	}
	return filepath.Join(dir, filepath.FromSlash(rest)), nil
}

// entry is the server as the client's JSON has it.
func (c mcpClient) entry(command string, args []string) any {
	e := struct {
		Type    string   `json:"type,omitempty"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{"", command, args}
	if c.typed {
		e.Type = "stdio"
	}
	return e
}

// print prints what the user has to do or to paste.
func (c mcpClient) print(std stdio, file, command string, args []string) {
	if c.adds != "" {
		fmt.Fprintln(std.err, "# run this; or --write puts it into "+file)
		fmt.Fprintln(std.out, c.adds, quoteWords(append([]string{command}, args...)))
		return
	}
	fmt.Fprintln(std.err, "# "+file+"; --write puts it there")
	text, err := setJSON(nil, c.path, c.entry(command, args), false)
	if err != nil {
		panic(err) // an empty file can be added to
	}
	_, _ = std.out.Write(text)
}

// edit returns text with the server set to start command.
func (c mcpClient) edit(text []byte, command string, args []string) ([]byte, error) {
	if c.path == nil {
		return setCodex(text, command, args)
	}
	old, err := c.server(text)
	switch {
	case err != nil:
		return nil, err
	case old == nil:
		return setJSON(text, c.path, c.entry(command, args), c.loose)
	case old["url"] != nil || old["serverUrl"] != nil || old["httpUrl"] != nil:
		return nil, errors.New("donax is a server with a URL there; take that out first")
	}
	set := func(name string, v any) {
		if err == nil {
			text, err = setJSON(text, append(append([]string(nil), c.path...), name), v, c.loose)
		}
	}
	if c.typed {
		set("type", "stdio")
	}
	set("command", command)
	set("args", args)
	return text, err
}

// server is the client's entry for donax in text, or nil.
func (c mcpClient) server(text []byte) (map[string]any, error) {
	if c.path == nil {
		m, err := decodeTOML(text)
		return codexServer(m), err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	o, err := parseJSON(text, c.loose)
	if err != nil {
		return nil, err
	}
	for i, name := range c.path {
		m := o.find(name)
		if m == nil {
			return nil, nil
		}
		if o = m.object; o == nil {
			return nil, fmt.Errorf("%q is no object", strings.Join(c.path[:i+1], "."))
		}
	}
	server := map[string]any{}
	for _, m := range o.members {
		var v any
		if json.Unmarshal(text[m.start:m.end], &v) != nil {
			v = struct{}{} // with comments inside: something, but nothing that is needed here
		}
		server[m.name] = v
	}
	return server, nil
}

// read returns the command of the client's file, or the one given where the
// file has none.
func (c mcpClient) read(file, command string, args []string) (string, []string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return command, args, nil
	}
	if err != nil {
		return "", nil, &exitError{exitFault, err}
	}
	server, err := c.server(text)
	if err != nil {
		return "", nil, malformed(file, err)
	}
	if server == nil {
		return command, args, nil
	}
	command, ok := server["command"].(string)
	list, listOK := server["args"].([]any)
	args = nil
	for _, a := range list {
		s, isString := a.(string)
		args, listOK = append(args, s), listOK && isString
	}
	if !ok || !listOK {
		return "", nil, malformed(file, errors.New("donax has no command and args there"))
	}
	return command, args, nil
}

func malformed(file string, err error) error {
	return &exitError{exitNo, &hint{fmt.Errorf("%s: %w", file, err), "mend the file, or choose another with --file"}}
}

// write puts the server into the client's file and shows what has changed.
func (c mcpClient) write(std stdio, file, command string, args []string) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitFault, err}
	}
	text, err := c.edit(bytes.Clone(old), command, args)
	if err != nil {
		return malformed(file, err)
	}
	if bytes.Equal(old, text) {
		fmt.Fprintf(std.out, "%s: nothing to change\n", file)
		return nil
	}
	if err := replaceFile(file, text); err != nil {
		return &exitError{exitFault, err}
	}
	fmt.Fprintf(std.out, "%s:\n%s", file, lineDiff(string(old), string(text)))
	return nil
}

// replaceFile writes a file in one step, so that no client reads half of it.
// A symlink stays one: its target is replaced.
func replaceFile(file string, text []byte) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	mode := fs.FileMode(0o644)
	if fi, err := os.Stat(file); err == nil {
		mode = fi.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".donax-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// lineDiff shows the lines that differ, from the first to the last.
func lineDiff(old, text string) string {
	a, b := strings.SplitAfter(old, "\n"), strings.SplitAfter(text, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	show := func(sign string, lines []string) {
		for _, l := range lines {
			if l != "" {
				out.WriteString(sign + strings.TrimRight(l, "\r\n") + "\n")
			}
		}
	}
	show("- ", a)
	show("+ ", b)
	return out.String()
}

// bareError is err without the path that was given.
func bareError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
