package donax

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/donax-sh/donax"

// rooms says which other rooms a room may import. A room is a folder with
// all that lies below it; the longest match counts. Rooms that are missing
// here may import none.
var rooms = map[string][]string{
	"":                 {},
	"cmd":              {"mcp", "mcp/client", "mcp/upstream", "termhost", "termhost/filter", "sandbox", "sandbox/egress", "sandbox/vfs", "sandbox/worker", "policy", "policy/approve", "policy/audit", "policy/brake", "policy/rego", "wasm", "wasm/box", "wasm/rewrite", "examples"},
	"examples":         {"sandbox", "sandbox/vfs", "policy", "policy/rego", "policy/audit", "policy/brake", "wasm", "wasm/box", "mcp", "mcp/client", "mcp/upstream", "termhost"},
	"mcp":              {"termhost", "termhost/filter", "policy", "policy/brake"},
	"mcp/client":       {},
	"mcp/upstream":     {"mcp/client", "sandbox", "sandbox/vfs", "policy"},
	"termhost":         {"policy", "termhost/filter"},
	"termhost/filter":  {"policy"},
	"sandbox":          {"policy", "sandbox/vfs", "sandbox/shell"},
	"sandbox/egress":   {"sandbox", "policy"},
	"sandbox/shell":    {"sandbox/vfs", "cformat"},
	"sandbox/vfs":      {},
	"sandbox/worker":   {"sandbox", "sandbox/vfs", "policy"},
	"policy":           {},
	"bench":            {},
	"cformat":          {},
	"policy/approve":   {"policy"},
	"policy/rego":      {"policy", "examples"},
	"policy/audit":     {"policy"},
	"policy/brake":     {"policy"},
	"wasm":             {"sandbox", "sandbox/vfs", "policy", "wasm/wasi", "wasm/rewrite", "wasm/box"},
	"wasm/wasi":        {"sandbox", "sandbox/vfs"},
	"wasm/rewrite":     {},
	"wasm/box":         {},
	"wasm/box/build":   {"wasm/rewrite", "wasm/wasi", "wasm/box/applet", "wasm/box/core", "wasm/box/heavy", "wasm/box/foreign", "wasm/box"},
	"wasm/box/guest":   {"wasm/box/applet", "wasm/box/core", "wasm/box/heavy"},
	"wasm/box/core":    {"wasm/box/applet"},
	"wasm/box/heavy":   {"wasm/box/applet"},
	"wasm/box/foreign": {"wasm/box/applet"},
	"wasm/box/applet":  {"cformat"},
}

// owners says where a library may be used, and why nowhere else.
var owners = map[string]struct{ rooms, why string }{
	"github.com/open-policy-agent/opa":       {"policy/rego", "the policy language is an engine behind policy.Engine"},
	"github.com/tetratelabs/wazero":          {"wasm", "the runtime stays behind sandbox.Program"},
	"mvdan.cc/sh":                            {"sandbox", "the shell stays behind sandbox.Session"},
	"github.com/modelcontextprotocol/go-sdk": {"mcp", "the protocol stays behind mcp.Server and mcp/client"},
	"github.com/spf13/cobra":                 {"cmd", "the command line is wiring only"},
	"github.com/BurntSushi/toml":             {"cmd", "one client's configuration is TOML"},
	"github.com/itchyny/gojq":                {"wasm/box/applet", "runs inside wasm only"},
	"go.yaml.in/yaml/v3":                     {"wasm/box/applet policy/rego", "yq runs inside wasm; policies have data files"},
	"github.com/dlclark/regexp2":             {"wasm/box/applet", "runs inside wasm only"},
	"github.com/klauspost/compress":          {"wasm/box/applet wasm/wasi", "runs inside wasm; the host compresses for it, and unpacks nothing"},
	"github.com/ulikunitz/xz":                {"wasm/box", "unpacks the box, and runs inside wasm"},
}

// banned lists packages that would reach the host past the handles that
// donax gives.
var banned = map[string][]string{
	"sandbox": {"os/exec", "net", "net/http", "plugin", "os/user"},
	"wasm":    {"os/exec", "net", "net/http", "plugin", "os/user"},
}

// banExempt lists the folders that a ban does not cover, with the reason.
var banExempt = map[string]string{
	"sandbox/worker":                    "starts this program again, and nothing else",
	"sandbox/egress":                    "the only dialler",
	"wasm/box/build":                    "runs the Go compiler at development time; not linked into donax",
	"wasm/box/applet/applettest":        "only tests import it: it runs the tools that commands are compared with",
	"wasm/box/applet/internal/difftest": "only tests import it: it runs the tools that commands are compared with",
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		room, allowed := roomOf(dir)
		for _, imp := range p.Imports {
			if inner, ok := strings.CutPrefix(imp, module); ok {
				inner = strings.TrimPrefix(inner, "/")
				to, _ := roomOf(inner)
				if to != room && !slices.Contains(allowed, to) {
					t.Errorf("%s imports %s: the arrow %s -> %s is not in the design", dir, inner, room, to)
				}
				continue
			}
			for lib, own := range owners {
				if (imp == lib || strings.HasPrefix(imp, lib+"/")) && !slices.ContainsFunc(strings.Fields(own.rooms), func(r string) bool { return within(dir, r) }) {
					t.Errorf("%s imports %s, which belongs under %s: %s", dir, imp, own.rooms, own.why)
				}
			}
			for top, list := range banned {
				if within(dir, top) && banExempt[dir] == "" && slices.Contains(list, imp) {
					t.Errorf("%s imports %s, which is banned under %s", dir, imp, top)
				}
			}
		}
	}
}

// TestImportsRulesBite proves that the rules above can fail.
func TestImportsRulesBite(t *testing.T) {
	if room, _ := roomOf("sandbox/vfs/sub"); room != "sandbox/vfs" {
		t.Errorf("roomOf(sandbox/vfs/sub) = %q", room)
	}
	if _, allowed := roomOf("termhost"); slices.Contains(allowed, "sandbox") {
		t.Error("termhost may import sandbox: it must declare the Runner it needs instead")
	}
	if _, allowed := roomOf("sandbox"); slices.Contains(allowed, "wasm") {
		t.Error("sandbox may import wasm: programs are values passed in")
	}
}

func within(dir, room string) bool { return dir == room || strings.HasPrefix(dir, room+"/") }

func roomOf(dir string) (string, []string) {
	best := ""
	for r := range rooms {
		if within(dir, r) && len(r) > len(best) {
			best = r
		}
	}
	return best, rooms[best]
}

type pkg struct {
	ImportPath, Dir, Name string
	Imports               []string
	GoFiles               []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Name,Imports,GoFiles", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}
