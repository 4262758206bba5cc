package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

//go:embed policy.rego
var policyText string

// serve is an MCP server of a few lines: tickets exports 5 MB of them, ledger
// keeps what it is told.
func serve(name string, in io.Reader, out io.Writer) {
	object := func(properties string) string {
		return `{"type":"object","properties":{` + properties + `}}`
	}
	tools := map[string]string{
		"tickets": fmt.Sprintf(`[{"name":"export","description":"Export all tickets, one JSON object a line.","inputSchema":%s}]`, object("")),
		"ledger": fmt.Sprintf(`[{"name":"save","description":"Save a note.","inputSchema":%s},{"name":"pay","description":"Pay an amount.","inputSchema":%s}]`,
			object(`"title":{"type":"string"},"text":{"type":"string"}`), object(`"amount":{"type":"number"}`)),
	}[name]
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string         `json:"name"`
				Arguments map[string]any `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch m.Method {
		case "initialize":
			answer = fmt.Sprintf(`"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1"}}`, name)
		case "tools/list":
			answer = `"result":{"tools":` + tools + `}`
		case "tools/call":
			text := fmt.Sprintf("saved %v\n%v\n", m.Params.Arguments["title"], m.Params.Arguments["text"])
			switch m.Params.Name {
			case "export":
				text = export()
			case "pay":
				text = fmt.Sprintf("paid %v\n", m.Params.Arguments["amount"])
			}
			quoted, _ := json.Marshal(text) // a text cannot fail
			answer = fmt.Sprintf(`"result":{"content":[{"type":"text","text":%s}]}`, quoted)
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
	}
}

// export makes 5 MB of tickets, always the same.
func export() string {
	owners := []string{"ada", "bob", "cleo", "dan", "eve", "fay", "gus"}
	var b strings.Builder
	for i := 0; b.Len() < 5<<20; i++ {
		state := "closed"
		if i*i%7 < 3 {
			state = "open"
		}
		fmt.Fprintf(&b, `{"id":%d,"state":%q,"owner":%q,"title":"ticket number %d of the demo, with a title as long as titles are"}`+"\n", i, state, owners[i*i*i%11%len(owners)], i)
	}
	return b.String()
}
