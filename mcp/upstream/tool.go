package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/donax-sh/donax/mcp/client"
)

// Tool is one tool as a command. Its texts are the server's, made fit to be
// shown.
type Tool struct {
	Command     string // SERVER.TOOL
	Server      string // name in commands
	Name        string // the tool's own
	Title       string
	Description string
	Annotations client.Annotations
	Confirm     Confirm
	SHA256      string // of all that the server says of the tool; hex

	schema *schema
}

const (
	maxDescription = 4000
	maxTitle       = 200
)

// Synopsis returns the arguments of the tool in one line.
func (t Tool) Synopsis() string { return t.synopsis() }

// Summary is the first sentence or so of what the server says of the tool.
func (t Tool) Summary() string {
	s, _, _ := strings.Cut(t.Description, "\n")
	if s == "" {
		s = t.Title
	}
	return line(s, 160)
}

// toolsOf makes commands of a server's list: those that its configuration
// allows, in the order of the list. The second result pins the whole list.
func toolsOf(cfg *Server, server string, list []client.Tool) ([]*Tool, string) {
	var kept []client.Tool
	var names []string
	var sums []string
	seen := map[string]bool{}
	for _, t := range list {
		sum := digest(t)
		sums = append(sums, sum)
		if seen[t.Name] || !cfg.allows(t.Name) {
			continue // a second tool of one name could only be called by its first
		}
		seen[t.Name] = true
		kept, names = append(kept, t), append(names, t.Name)
	}
	var out []*Tool
	for i, name := range commandNames(names, maxToolName) {
		t := kept[i]
		out = append(out, &Tool{
			Command: server + "." + name, Server: server, Name: t.Name,
			Title: line(t.Title, maxTitle), Description: prose(t.Description, maxDescription),
			Annotations: t.Annotations, Confirm: cfg.confirm(t.Name), SHA256: digest(t), schema: parseSchema(t.InputSchema),
		})
	}
	slices.Sort(sums)
	return out, hash([]byte(strings.Join(sums, "\n")))
}

// digest covers everything that a server says of a tool.
func digest(t client.Tool) string {
	b, err := json.Marshal(t) // keys of maps are sorted
	if err != nil {
		b = []byte(t.Name + "\x00" + t.Description)
	}
	return hash(b)
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// allows reports whether a tool is not filtered out.
func (s *Server) allows(tool string) bool {
	match := func(g string) bool { ok, err := matchTool(g, tool); return ok && err == nil }
	return (s.Allow == nil || slices.ContainsFunc(s.Allow, match)) && !slices.ContainsFunc(s.Deny, match)
}

// matchTool matches a glob of the operator's against the name that a server
// gave its tool. A slash is a character like any other there: for path.Match
// no star would match it, and a server could name a tool out of a filter.
func matchTool(glob, tool string) (bool, error) {
	const slash = "\x00" // in no name that a list keeps
	return path.Match(strings.ReplaceAll(glob, "/", slash), strings.ReplaceAll(tool, "/", slash))
}
