package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// TestCorpus runs a folder of scripts with bash's answers, named by
// DONAX_SHELL_CORPUS. It fails when the sandbox itself does: a fault, a step
// that cannot be stopped, a limit message that is not one. How many answers
// are bash's is printed.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("DONAX_SHELL_CORPUS")
	if dir == "" {
		t.Skip("DONAX_SHELL_CORPUS names no corpus")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatal("no corpus in ", dir)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		total, same := 0, 0
		for line := range strings.Lines(string(data)) {
			var c struct {
				File, Name, Src, Stdout string
				Status                  int
				Host                    bool
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			if c.Host {
				continue
			}
			total++
			if os.Getenv("DONAX_SHELL_CORPUS_TRACE") != "" {
				fmt.Fprintf(os.Stderr, "%s: %s\n", c.File, c.Name)
			}
			s := newSession(t, policy.AllowAll{}, func(cfg *sandbox.Config) {
				cfg.Limits = sandbox.Limits{Timeout: 3 * time.Second, Output: 1 << 20}
				cfg.Programs = append(cfg.Programs, fake{"argv.py", argvPy}, fake{"printenv.py", printenvPy})
				cfg.Env = []string{"TMP=/tmp"}
			})
			var out bytes.Buffer
			status, err := s.Run(t.Context(), policy.Command{Text: c.Src}, nil, &out, nil)
			var fe *sandbox.Fault
			if errors.As(err, &fe) && fe.Name == "the shell" || errors.Is(err, sandbox.ErrAbandoned) {
				detail := ""
				if fe != nil {
					detail = fe.Detail
				}
				t.Errorf("%s: %s: %v\n%s\n%.600s", c.File, c.Name, err, c.Src, detail)
			}
			if out.String() == c.Stdout && status == c.Status {
				same++
			}
		}
		t.Logf("%s: %d of %d as bash", filepath.Base(name), same, total)
	}
}

func argvPy(ctx context.Context, p *sandbox.Proc) error {
	list := make([]string, len(p.Args)-1)
	for i, a := range p.Args[1:] {
		quote := "'"
		if strings.Contains(a, "'") && !strings.Contains(a, `"`) {
			quote = `"`
		}
		list[i] = quote + strings.NewReplacer("\n", `\n`, "\t", `\t`, `\`, `\\`).Replace(a) + quote
	}
	_, err := fmt.Fprintf(p.Stdout, "[%s]\n", strings.Join(list, ", "))
	return writeError(err)
}

func printenvPy(ctx context.Context, p *sandbox.Proc) error {
	for _, a := range p.Args[1:] {
		value := "None"
		for _, kv := range p.Env {
			if v, ok := strings.CutPrefix(kv, a+"="); ok {
				value = v
			}
		}
		fmt.Fprintln(p.Stdout, value)
	}
	return nil
}
