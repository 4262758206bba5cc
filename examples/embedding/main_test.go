package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy/audit"
	"github.com/donax-sh/donax/policy/brake"
)

// TestEmbedding talks to the example over a pipe, as a client does.
func TestEmbedding(t *testing.T) {
	cache := os.Getenv("DONAX_CACHE")
	if base, err := os.UserCacheDir(); cache == "" && err == nil {
		cache = filepath.Join(base, "donax")
	}
	c := config{cache: cache, log: filepath.Join(t.TempDir(), "audit.jsonl"), brake: new(brake.Switch)}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- run(context.Background(), c, inR, outW)
		outW.Close()
	}()
	lines := bufio.NewReader(outR)
	call := func(tool, args string) (text string, structured map[string]any) {
		t.Helper()
		fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", tool, args)
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Result struct {
				Content           []struct{ Text string }
				StructuredContent map[string]any
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || len(m.Result.Content) == 0 {
			t.Fatal(err, line)
		}
		return m.Result.Content[0].Text, m.Result.StructuredContent
	}
	output := func(command string) string {
		t.Helper()
		text, s := call("terminal_create", fmt.Sprintf(`{"command":%q}`, command))
		if s == nil {
			return text
		}
		id := fmt.Sprintf(`{"terminalId":%q}`, s["terminalId"])
		call("terminal_wait_for_exit", id)
		_, s = call("terminal_output", id)
		return s["output"].(string)
	}
	if got, _ := call("greet", `{}`); got != "hello guest" {
		t.Errorf("%q", got)
	}
	if got := output("seq 3 | sort -rn | head -1"); got != "3\n" {
		t.Errorf("%q", got)
	}
	if got := output("rm -rf /"); !strings.Contains(got, "guests: rm is not granted") {
		t.Errorf("%q", got)
	}
	inW.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(lines); err != nil {
		t.Error(err)
	}
	if v, err := audit.Verify(c.log, audit.VerifyOptions{}); err != nil || v.Unclean != 0 {
		t.Errorf("%+v %v", v, err)
	}
	var events []string
	for l, err := range audit.Read(c.log) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Result != nil {
			events = append(events, l.Type+" "+l.Result.Effect)
		}
		if l.Type == "call" && (l.Labels["goal"] != "show how donax is embedded" || l.Labels["scope"] != "demo data only" || l.RequestedBy != "guest") {
			t.Errorf("%s", l.Raw)
		}
	}
	for _, want := range []string{"call allow", "command allow", "exec allow", "exec deny"} {
		if !slices.Contains(events, want) {
			t.Errorf("no %s in %q", want, events)
		}
	}
}
