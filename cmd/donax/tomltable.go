package main

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// codexTable finds the table of our server in Codex's configuration.
var (
	codexTable  = regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*"?mcp_servers"?[ \t]*\.[ \t]*"?donax"?[ \t]*\][ \t]*(#.*)?\r?$`)
	tomlHeader  = regexp.MustCompile(`(?m)^[ \t]*\[`)
	tomlSetting = regexp.MustCompile(`(?m)^[ \t]*(command|args)[ \t]*=`)
)

// setCodex sets command and args of the server donax and leaves the rest of
// the text as it is. What comes out is read again: a text that is laid out in
// a way that this does not understand is refused, not spoilt.
func setCodex(text []byte, command string, args []string) ([]byte, error) {
	before, err := decodeTOML(text)
	if err != nil {
		return nil, err
	}
	settings := fmt.Sprintf("command = %s\nargs = %s\n", encode(command, "", 0), tomlList(args))
	var out []byte
	switch at := codexTable.FindIndex(text); {
	case at != nil:
		body := text[at[1]:]
		if next := tomlHeader.FindIndex(body); next != nil {
			body = body[:next[0]]
		}
		out = bytes.Join([][]byte{text[:at[1]], []byte("\n" + settings), dropSettings(body), text[at[1]+len(body):]}, nil)
	case codexServer(before) != nil:
		return nil, fmt.Errorf("mcp_servers.donax is not a table of its own there; edit it by hand")
	default:
		sep := ""
		if n := len(text); n > 0 {
			sep = strings.Repeat("\n", 2-min(1, bytes.Count(text[n-1:], []byte("\n"))))
		}
		out = bytes.Join([][]byte{text, []byte(sep + "[mcp_servers.donax]\n" + settings)}, nil)
	}
	after, err := decodeTOML(out)
	if err != nil {
		return nil, fmt.Errorf("cannot be edited safely; edit it by hand")
	}
	server := codexServer(after)
	want := make([]any, len(args))
	for i, a := range args {
		want[i] = a
	}
	same := server["command"] == command && reflect.DeepEqual(server["args"], want)
	for _, m := range []map[string]any{before, after} {
		if s := codexServer(m); s != nil {
			delete(s, "command")
			delete(s, "args")
			if len(s) == 0 {
				servers := m["mcp_servers"].(map[string]any)
				if delete(servers, "donax"); len(servers) == 0 {
					delete(m, "mcp_servers")
				}
			}
		}
	}
	if !same || !reflect.DeepEqual(before, after) {
		return nil, fmt.Errorf("cannot be edited safely; edit it by hand")
	}
	return out, nil
}

// dropSettings takes command and args out of the lines of a table.
func dropSettings(body []byte) []byte {
	for {
		at := tomlSetting.FindIndex(body)
		if at == nil {
			return bytes.TrimLeft(body, "\r\n")
		}
		// The value ends at the line end after which the text before it can be read.
		end := at[1]
		for {
			nl := bytes.IndexByte(body[end:], '\n')
			if nl < 0 {
				end = len(body)
				break
			}
			end += nl + 1
			if _, err := decodeTOML(body[at[0]:end]); err == nil {
				break
			}
		}
		body = bytes.Join([][]byte{body[:at[0]], body[end:]}, nil)
	}
}

func decodeTOML(text []byte) (map[string]any, error) {
	m := map[string]any{}
	if err := toml.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return m, nil
}

// codexServer is the table mcp_servers.donax, or nil.
func codexServer(m map[string]any) map[string]any {
	servers, _ := m["mcp_servers"].(map[string]any)
	server, _ := servers["donax"].(map[string]any)
	return server
}

func tomlList(args []string) string {
	var items []string
	for _, a := range args {
		items = append(items, encode(a, "", 0)) // a JSON string is a TOML one
	}
	return "[" + strings.Join(items, ", ") + "]"
}
