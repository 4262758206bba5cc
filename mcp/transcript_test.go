package mcp_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/donax-sh/donax/mcp"
)

var update = flag.Bool("update", false, "rewrite the transcripts with what the server says")

const metaFields = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":`

// macros are expanded in what the client sends.
var macros = strings.NewReplacer(
	"$META", `"_meta":{`+metaFields+`{}}`, // a whole _meta member of the modern era
	"$FIELDS", metaFields+`{}`, // its fields, to add some
	"$PERSON", metaFields+`{"elicitation":{"form":{}}}`, // the fields of a client that can ask a person
	"$INIT", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
)

// A transcript is a conversation:
//
//	> LINE      the client sends a line, macros expanded
//	>> "TEXT"   the client sends these bytes as they are, quoted as in Go
//	>* N TEXT   the client sends TEXT N times
//	! eof       the client closes its end
//	< LINE      the server says this
//	# TEXT      a comment
//
// What the server says is compared block by block: several
// requests may be answered in any order, so a block with several answers is
// compared sorted. Ids of
// terminals read as $T1, $T2 and so on, the server's instructions as
// $INSTRUCTIONS, and the last requestState as $STATE. At the end the client closes its end,
// and Serve must return nil without another word.
//
// Threats: PR-1.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcript/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := false
		for i := range a.Files {
			f := &a.Files[i]
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+f.Name, func(t *testing.T) {
				got := play(t, string(f.Data))
				if *update && got != string(f.Data) {
					f.Data, changed = []byte(got), true
				}
			})
		}
		if changed {
			if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// instructions are the same in every transcript.
var instructions = func() string {
	b, err := json.Marshal(mcp.Instructions)
	if err != nil {
		panic(err)
	}
	return string(b)
}()

type player struct {
	*client
	ids   []string // of terminals, in order of appearance
	state string   // the last requestState
}

var statePattern = regexp.MustCompile(`"requestState":"([^"]+)"`)

var idPattern = regexp.MustCompile(`t_[0-9a-f]{32}`)

func (p *player) normal(line string) string {
	line = strings.Replace(line, instructions, `"$INSTRUCTIONS"`, 1)
	if m := statePattern.FindStringSubmatch(line); m != nil {
		p.state = m[1]
		line = strings.Replace(line, m[1], "$STATE", 1)
	}
	return idPattern.ReplaceAllStringFunc(line, func(id string) string {
		i := slices.Index(p.ids, id)
		if i < 0 {
			i = len(p.ids)
			p.ids = append(p.ids, id)
		}
		return fmt.Sprintf("$T%d", i+1)
	})
}

func (p *player) expand(line string) string {
	line = strings.ReplaceAll(macros.Replace(line), "$STATE", p.state)
	for i, id := range p.ids {
		line = strings.ReplaceAll(line, fmt.Sprintf("$T%d", i+1), id)
	}
	return line
}

// play runs a conversation and returns it as it went.
func play(t *testing.T, script string) string {
	s := newServer(t, mcp.Config{Tools: fixtures()})
	p := &player{client: serve(t, context.Background(), s)}
	var log strings.Builder
	lines := strings.Split(strings.TrimSuffix(script, "\n"), "\n")
	for i := 0; i < len(lines); {
		sent := 0
		for ; i < len(lines) && !strings.HasPrefix(lines[i], "< "); i++ {
			l := lines[i]
			log.WriteString(l + "\n")
			verb, rest, _ := strings.Cut(l, " ")
			switch verb {
			case ">":
				p.send(p.expand(rest))
				sent++
			case ">>":
				b, err := strconv.Unquote(rest)
				if err != nil {
					t.Fatalf("%q: %v", rest, err)
				}
				io.WriteString(p.in, b)
				sent++
			case ">*":
				n, text, _ := strings.Cut(rest, " ")
				count, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				io.WriteString(p.in, strings.Repeat(text, count))
			case "!":
				p.in.Close()
			case "#", "":
			default:
				t.Fatalf("bad line %q", l)
			}
		}
		var want []string
		for ; i < len(lines) && strings.HasPrefix(lines[i], "< "); i++ {
			want = append(want, strings.TrimPrefix(lines[i], "< "))
		}
		var got []string
		if *update {
			got = p.collect(200 * time.Millisecond)
		} else {
			for range want {
				got = append(got, p.normal(p.next()))
			}
		}
		if sent > 1 || answers(got) > 1 {
			slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(sortKey(a), sortKey(b)) })
		}
		for k, l := range got {
			log.WriteString("< " + l + "\n")
			if !*update && l != want[k] {
				t.Errorf("got  %s\nwant %s", l, want[k])
			}
		}
	}
	rest, err := p.end()
	for _, l := range rest {
		t.Errorf("after the end: %s", p.normal(l))
	}
	if err != nil {
		t.Errorf("Serve: %v", err)
	}
	return log.String()
}

// collect takes what comes until nothing has come for a while.
func (p *player) collect(quiet time.Duration) (got []string) {
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				return got
			}
			got = append(got, p.normal(l))
		case <-time.After(quiet):
			return got
		}
	}
}

// answers counts the lines that carry an id.
func answers(lines []string) (n int) {
	for _, l := range lines {
		if strings.TrimSpace(sortKey(l)) != "" {
			n++
		}
	}
	return n
}

// sortKey orders answers by id; what has none comes first.
func sortKey(line string) string {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal([]byte(line), &m)
	return fmt.Sprintf("%8s", m.ID)
}
