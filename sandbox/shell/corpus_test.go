package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
)

// A corpusCase is one line of the shell corpus: a script and what bash did.
type corpusCase struct {
	Corpus, File, Name, Src, Stdout string
	Status                          int
	Host                            bool
}

// corpusFloor is the least share, in tenths of a percent, of the cases that
// must pass; it only goes up.
var corpusFloor = map[string]int{"oils": 955, "bashkit": 840}

// TestCorpus runs the scripts in the folder that DONAX_SHELL_CORPUS names.
// DONAX_SHELL_FAILURES names a file that gets the failing ones.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("DONAX_SHELL_CORPUS")
	if dir == "" {
		t.Skip("DONAX_SHELL_CORPUS is not set")
	}
	for _, corpus := range []string{"oils", "bashkit"} {
		t.Run(corpus, func(t *testing.T) {
			f, err := os.Open(filepath.Join(dir, corpus+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var cases []corpusCase
			sc := bufio.NewScanner(f)
			sc.Buffer(nil, 1<<24)
			for sc.Scan() {
				var c corpusCase
				if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
					t.Fatal(err)
				}
				if only := os.Getenv("DONAX_SHELL_ONLY"); only != "" && !strings.HasPrefix(c.File+"/"+c.Name, only) {
					continue
				}
				cases = append(cases, c)
			}
			runCorpus(t, corpus, cases)
		})
	}
}

func runCorpus(t *testing.T, corpus string, cases []corpusCase) {
	type tally struct{ pass, all int }
	areas := map[string]*tally{}
	var mu sync.Mutex
	var fails []string
	faults := 0
	var wg sync.WaitGroup
	sem := make(chan struct{}, 2)
	skipped := 0
	for _, c := range cases {
		if c.Host && os.Getenv("DONAX_SHELL_HOST") == "" {
			skipped++
			continue
		}
		wg.Add(1)
		sem <- struct{}{}
		go func() {
			defer func() { <-sem; wg.Done() }()
			start := time.Now()
			r := runCorpusCase(t, c)
			ok := r.out == c.Stdout && r.status == c.Status && r.fault == nil
			mu.Lock()
			defer mu.Unlock()
			a := areas[c.File]
			if a == nil {
				a = &tally{}
				areas[c.File] = a
			}
			a.all++
			if ok {
				a.pass++
				return
			}
			if r.fault != nil {
				faults++
			}
			detail := ""
			if f, ok := r.fault.(*Fault); ok {
				detail = f.Cause + "\n" + f.Detail
			}
			fails = append(fails, fmt.Sprintf("##### %s/%s (%v)\n%s\n--- want %d\n%s\n--- got %d %v\n%s\n--- stderr\n%s\n%s\n",
				c.File, c.Name, time.Since(start).Round(time.Millisecond), c.Src, c.Status, c.Stdout, r.status, r.fault, r.out, r.err, detail))
		}()
	}
	wg.Wait()
	pass, all := 0, 0
	names := make([]string, 0, len(areas))
	for n, a := range areas {
		pass += a.pass
		all += a.all
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if a := areas[n]; a.pass < a.all {
			t.Logf("%-24s %3d/%3d", n, a.pass, a.all)
		}
	}
	t.Logf("%s: %d of %d (%.1f %%), %d host cases left out, %d faults or timeouts", corpus, pass, all, 100*float64(pass)/float64(max(all, 1)), skipped, faults)
	if out := os.Getenv("DONAX_SHELL_FAILURES"); out != "" {
		sort.Strings(fails)
		if err := os.WriteFile(out+"."+corpus, []byte(strings.Join(fails, "\n")), 0o644); err != nil {
			t.Error(err)
		}
	}
	if os.Getenv("DONAX_SHELL_ONLY")+os.Getenv("DONAX_SHELL_HOST") == "" && pass*1000 < corpusFloor[corpus]*all {
		t.Errorf("%s: %d of %d pass, below the floor of %d per mille", corpus, pass, all, corpusFloor[corpus])
	}
}

func runCorpusCase(t *testing.T, c corpusCase) result {
	h := newTestHost(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	f, err := h.fs.Open("/case.sh", os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte(c.Src))
	f.Close()
	var out, errb lockedBuffer
	cfg := Config{Host: h, Dir: "/job", Stdout: &out, Stderr: &errb,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=/home/user", "TMP=/tmp", "LC_ALL=C.UTF-8", "SH=/usr/bin/bash", "PWD=/job"}}
	st, err := RunFile(ctx, cfg, "/case.sh", []string{"/case.sh"})
	return result{out.String(), errb.String(), st, err}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
