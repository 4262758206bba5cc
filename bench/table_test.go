package bench

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var write = flag.String("write", "", "write the tables to `FILE`, as Markdown")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *write != "" && code == 0 {
		if err := os.WriteFile(*write, []byte(table.String()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// table has what the benchmarks of this run have found.
var table tables

// line is one figure: ours beside another, and what was promised.
type line struct {
	what, ours, other string
	ratio             float64 // ours through the other
	bar               string
	ok                bool
}

type tables struct {
	names []string
	lines map[string][]line
}

// add adds a line, in place of what an earlier and shorter run of the same
// benchmark has added.
func (t *tables) add(name string, l line) {
	if t.lines == nil {
		t.lines = map[string][]line{}
	}
	if !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
	for i, old := range t.lines[name] {
		if old.what == l.what {
			t.lines[name][i] = l
			return
		}
	}
	t.lines[name] = append(t.lines[name], l)
}

func (t *tables) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Benchmarks

Written by `+"`go test ./bench -bench . -write ../docs/benchmarks.md`"+`: one run, on a machine with %d processors (%s/%s, %s). Times are CPU time, the
least of several runs, of this process and those it started. Read ratios: both sides of one were measured in turns, on a machine that
did other work as well.
`, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, n := range t.names {
		fmt.Fprintf(&b, "\n## %s\n\n| what | donax | beside it | ratio | bar | |\n|---|---|---|---|---|---|\n", n)
		for _, l := range t.lines[n] {
			met := "missed"
			if l.ok {
				met = "met"
			}
			ratio := ""
			if l.ratio > 0 && !math.IsInf(l.ratio, 0) {
				ratio = fmt.Sprintf("%.2f", l.ratio)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", strings.ReplaceAll(l.what, "|", `\|`), l.ours, l.other, ratio, l.bar, met)
		}
	}
	return b.String()
}

// cpu is the CPU time of this process and of those it has waited for.
func cpu() time.Duration {
	var sum int64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += u.Utime.Nano() + u.Stime.Nano()
		}
	}
	return time.Duration(sum)
}

// least is the least CPU time of several runs.
type least time.Duration

func (l *least) run(b *testing.B, f func() error) {
	b.Helper()
	start := cpu()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	if t := least(cpu() - start); *l == 0 || t < *l {
		*l = t
	}
}

func (l least) String() string {
	d := time.Duration(l)
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.0f ms", float64(d)/1e6)
}
