package mcp_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocs plays the conversations of docs/mcp.md: blocks marked mcp over a
// byte stream, blocks marked mcp-http over HTTP. There long lines go on, two
// spaces in, and $SERVER stands for the server's own name.
func TestDocs(t *testing.T) {
	const page = "../docs/mcp.md"
	const server = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"donax","version":"0.0.0-test"}}`
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```(mcp|mcp-http)\n(.*?)```")
	breaks := regexp.MustCompile(`,("content":|"structuredContent":|"capabilities":|"supportedVersions":|"requestState":|"inputRequests":|"exitStatus":|"protocolVersion":|"arguments":|"requestedSchema":)`)
	played := 0
	out := block.ReplaceAllStringFunc(string(text), func(b string) string {
		m := block.FindStringSubmatch(b)
		script := strings.ReplaceAll(strings.ReplaceAll(m[2], "\n  ", ""), "$SERVER", server)
		played++
		var got string
		if m[1] == "mcp" {
			got = play(t, script)
		} else if got = playHTTP(t, script); got != script && !*update {
			t.Errorf("got:\n%s\nwant:\n%s", got, script)
		}
		var lines []string
		for l := range strings.Lines(strings.ReplaceAll(got, server, "$SERVER")) {
			if len(l) > 130 {
				l = breaks.ReplaceAllString(l, ",\n  $1")
			}
			lines = append(lines, l)
		}
		return "```" + m[1] + "\n" + strings.Join(lines, "") + "```"
	})
	if played < 6 {
		t.Errorf("%d conversations were found", played)
	}
	if *update {
		if err := os.WriteFile(page, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
