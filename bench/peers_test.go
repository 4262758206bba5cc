package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The sandboxes that donax is measured beside, as npm has them.
var peers = []struct{ name, pkg string }{
	{"just-bash", "just-bash@3.4.2"},
	{"bashkit", "@everruns/bashkit@0.18.2"},
}

// lines are what all are measured by. ratio is the most CPU time that donax
// may take beside the tools of the machine; 0 is any.
var lines = []struct {
	text  string
	tree  bool // a thousand small files are there
	ratio float64
}{
	{text: "echo hi"},
	{text: "true"},
	{text: "ls -la /bench"},
	{text: "grep -c NEEDLE /bench/text", ratio: 4},
	{text: "grep -cE 'err(or|ata) .*time' /bench/text", ratio: 4},
	{text: "grep -ci needle1 /bench/text", ratio: 4},
	{text: "wc /bench/text | awk '{print $1,$2,$3}'", ratio: 4},
	{text: "sort /bench/lines | md5sum", ratio: 4},
	{text: "cut -d- -f1 /bench/lines | sort | uniq -c | sort -rn | head -3 | awk '{print $1,$2}'", ratio: 4},
	{text: "sed 's/alpha/ALPHA/g' /bench/lines | md5sum", ratio: 4},
	{text: `sed -E 's/^([a-z]+)-([a-z]+)/\2_\1/' /bench/lines | md5sum`, ratio: 4},
	{text: "awk '{s+=$2} END{print s}' /bench/nums", ratio: 8},
	{text: "awk '{c[$1]+=$2} END{for(k in c) print k, c[k]}' /bench/nums | sort | md5sum", ratio: 8},
	{text: "cat /bench/text | grep error | wc -l"},
	{text: "cat /bench/lines | head -1"},
	{text: "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; echo $i"},
	{text: "n=0; for i in $(seq 1 10000); do n=$((n+i)); done; echo $n"},
	{text: "for i in $(seq 1 500); do x=$(echo $i); done; echo $x"},
	{text: "head -n 10000 /bench/nums | { n=0; while read -r k v; do n=$((n+v)); done; echo $n; }"},
	{text: "jq '[.[] | select(.nested.ok) | .score] | add' /bench/data.json", ratio: 4},
	{text: "jq -c 'group_by(.name) | map({n:.[0].name,c:length}) | .[0]' /bench/data.json", ratio: 4},
	{text: "find /bench/tree -name '*5.txt' | wc -l", tree: true},
	{text: "grep -rl 99 /bench/tree | wc -l", tree: true},
	{text: "echo /bench/tree/*7.txt | wc -w", tree: true},
	{text: "sha256sum /bench/text | cut -c1-8", ratio: 4},
	{text: "gzip -c /bench/text | gzip -dc | wc -c", ratio: 4},
	{text: "f(){ local a=$1; r=$((a*2)); }; for i in $(seq 1 1000); do f $i; done; echo $r"},
	{text: "s=abcdefghij; for i in $(seq 1 1000); do t=${s//c/XX}; u=${t#ab}; v=${u^^}; done; echo $v"},
}

// budget is how long each side may go on with a line to find its least time.
const budget = time.Second

const makeTree = "mkdir -p /bench/tree && for i in $(seq 1 1000); do echo $i > /bench/tree/f$i.txt; done"

// benchFiles are the inputs: log lines and JSON of a MiB, and tables of 100,000
// lines, the same in each run.
func benchFiles() map[string]string {
	r := rand.New(rand.NewPCG(7, 28))
	words := strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo " +
		"sierra tango uniform victor whiskey xray yankee zulu error warning info debug timeout connect request response")
	word := func() string { return words[r.IntN(len(words))] }
	var text, table, nums, data strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprint(&text, i)
		for range 6 + r.IntN(8) {
			text.WriteString(" " + word())
		}
		if i%50 == 0 {
			fmt.Fprint(&text, " NEEDLE", i)
		}
		text.WriteByte('\n')
	}
	for i := range 100_000 {
		fmt.Fprintf(&table, "%s-%s-%d\n", word(), word(), r.IntN(1_000_000))
		fmt.Fprintf(&nums, "%s %d\n", words[i%len(words)], r.IntN(1000))
	}
	sep := "["
	for i := 0; data.Len() < 1<<20; i++ {
		fmt.Fprintf(&data, `%s{"id":%d,"name":%q,"score":%d,"tags":[%q,%q],"nested":{"ok":%t,"v":%d.5}}`, sep, i, word(), r.IntN(100), word(), word(), i%3 == 0, r.IntN(100))
		sep = ","
	}
	data.WriteString("]\n")
	return map[string]string{"text": text.String(), "lines": table.String(), "nums": nums.String(), "data.json": data.String()}
}

// answer is what came of a line: what it printed and its CPU time.
type answer struct {
	Out    string `json:"out"`
	Micros int64  `json:"micros"`
	Error  string `json:"error"`
}

// BenchmarkPeers runs the lines in donax, in other sandboxes, and with the tools
// of the machine. The folder DONAX_PEERS is where npm has installed the others,
// or now does. It needs node and npm.
func BenchmarkPeers(b *testing.B) {
	if os.Getenv("DONAX_PEERS") == "" {
		b.Skip("DONAX_PEERS is not set")
	}
	files := benchFiles()
	columns := [][]answer{}
	for _, p := range peers {
		columns = append(columns, askPeer(b, p.name, p.pkg, files))
	}
	x := newSession(b)
	const inside = "/workspace/bench"
	if err := x.fs.Mkdir(inside, 0o755); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for name, text := range files {
		f, err := x.fs.Open(inside+"/"+name, os.O_WRONLY|os.O_CREATE, 0o644)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err == nil {
			err = f.Close()
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	in := func(folder, text string) string { return strings.ReplaceAll(text, "/bench", folder) }
	if _, err := x.line(b.Context(), in(inside, makeTree)); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("bash", "-c", in(dir, makeTree)).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	ahead := make([]int, len(peers))
	for i, l := range lines {
		var ours, native least
		for end := time.Now().Add(budget); native == 0 || time.Now().Before(end); {
			for range 10 { // a process is measured as often as its start allows
				ours.run(b, func() error {
					out, err := x.line(b.Context(), in(inside, l.text))
					columns = note(columns, len(peers), i, out)
					return err
				})
			}
			native.run(b, func() error {
				cmd := exec.Command("bash", "-c", in(dir, l.text))
				cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
				out, err := cmd.Output()
				columns = note(columns, len(peers)+1, i, string(out))
				return err
			})
		}
		want := columns[len(peers)+1][i].Out
		if got := columns[len(peers)][i].Out; got != want && !strings.HasPrefix(l.text, "ls ") {
			b.Errorf("%s\nprints %q, the tools of the machine %q", l.text, got, want)
		}
		row := line{what: l.text, ours: ours.String(), ratio: float64(ours) / float64(native)}
		row.ok = l.ratio == 0 || row.ratio <= l.ratio
		if l.ratio > 0 {
			row.bar = fmt.Sprintf("at most %v times native; ", l.ratio)
		}
		row.bar += "ahead of just-bash"
		for k, p := range peers {
			a := columns[k][i]
			took := least(time.Duration(a.Micros) * time.Microsecond)
			wrong := a.Error != "" || a.Out != want && !strings.HasPrefix(l.text, "ls ")
			text := took.String()
			switch {
			case a.Error != "":
				text = "failed"
			case wrong:
				text += " (wrong)"
			}
			if wrong || ours <= took {
				ahead[k]++
			} else if k == 0 {
				row.ok = false
			}
			row.other += text + " " + p.name + ", "
		}
		row.other += native.String() + " natively"
		table.add("Beside other sandboxes", row)
	}
	for k, least := range []int{len(lines), 18} {
		table.add("Beside other sandboxes", line{what: "ahead of " + peers[k].pkg, ours: fmt.Sprintf("%d of %d", ahead[k], len(lines)), bar: fmt.Sprintf("at least %d", least), ok: ahead[k] >= least})
	}
	b.Log("\n" + table.String())
}

// note keeps what a line printed in a column.
func note(columns [][]answer, column, i int, out string) [][]answer {
	for len(columns) <= column {
		columns = append(columns, make([]answer, len(lines)))
	}
	columns[column][i].Out = out
	return columns
}

// askPeer installs a package and has it run all lines.
func askPeer(b *testing.B, name, pkg string, files map[string]string) []answer {
	b.Helper()
	dir := filepath.Join(os.Getenv("DONAX_PEERS"), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	install := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir, pkg)
	if out, err := install.CombinedOutput(); err != nil {
		b.Fatalf("npm install %s: %v: %s", pkg, err, out)
	}
	type task struct {
		Line  string `json:"line"`
		Setup string `json:"setup,omitempty"`
	}
	var tasks []task
	for _, l := range lines {
		t := task{Line: l.text}
		if l.tree {
			t.Setup = makeTree
		}
		tasks = append(tasks, t)
	}
	placed := map[string]string{}
	for name, text := range files {
		placed["/bench/"+name] = text
	}
	in, err := json.Marshal(map[string]any{"files": placed, "cases": tasks, "budget": budget.Milliseconds()})
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/peer.mjs", name, dir)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v", pkg, err)
	}
	var all []answer
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var a answer
		if err := dec.Decode(&a); err != nil {
			b.Fatal(err)
		}
		all = append(all, a)
	}
	if len(all) != len(lines) {
		b.Fatalf("%s answered %d of %d lines", pkg, len(all), len(lines))
	}
	return all
}
