package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// scale is how much a soak does: a little in every run, all of it where
// DONAX_SOAK=1 says that there is time.
func scale[T any](little, all T) T {
	if os.Getenv("DONAX_SOAK") == "1" {
		return all
	}
	return little
}

// Terminals that come and go in a real server leave nothing behind.
func TestSoakTerminals(t *testing.T) {
	r := serveHTTP(t)
	n := scale(200, 10_000)
	round := func() {
		id := fmt.Sprintf(`{"terminalId":%q}`, terminalID.FindString(r.call("terminal_create", `{"command":"x=$(seq 10 | sort -rn | head -1); echo $x | tr 0 9"}`)))
		if out := r.call("terminal_wait_for_exit", id); !strings.Contains(out, `"exitCode":0`) {
			t.Fatal(out)
		}
		if out := r.call("terminal_output", id); !strings.Contains(out, `"output":"19\\n"`) && !strings.Contains(out, `"output":"19\n"`) {
			t.Fatal(out)
		}
		r.call("terminal_release", id)
	}
	for range n / 10 {
		round()
	}
	_, rss, _ := r.p.usage()
	goroutines := r.metric("go_goroutines")
	for range n {
		round()
	}
	_, now, peak := r.p.usage()
	t.Logf("%d terminals: %.0f MiB before, %.0f after, %.0f at most; %v goroutines before, %v after", n, rss, now, peak, goroutines, r.metric("go_goroutines"))
	if now > rss+64 {
		t.Errorf("%.0f MiB more", now-rss)
	}
	if more := r.metric("go_goroutines") - goroutines; more > 20 {
		t.Errorf("%v goroutines more", more)
	}
	if left := r.metric("donax_terminals"); left != 0 {
		t.Errorf("%v terminals are left", left)
	}
}

// A client that reads nothing while a command writes costs its own buffer.
func TestSoakUnread(t *testing.T) {
	r := serveHTTP(t)
	size, unread := scale(32<<20, 1<<30-1<<20), scale(time.Second, time.Minute)
	id := fmt.Sprintf(`{"terminalId":%q}`, terminalID.FindString(r.call("terminal_create", fmt.Sprintf(`{"command":"head -c %d /dev/zero | tr \"\\\\0\" x"}`, size))))
	_, before, _ := r.p.usage()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 8 {
		resp, err := r.post(ctx, "terminal_wait_for_exit", id, fmt.Sprintf(`"progressToken":%d,`, i))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() // nobody reads it
	}
	time.Sleep(unread)
	out := ""
	for out = r.call("terminal_wait_for_exit", id); strings.Contains(out, `"running":true`); {
		out = r.call("terminal_wait_for_exit", id)
	}
	if !strings.Contains(out, fmt.Sprintf(`"bytesWritten":%d`, size)) {
		t.Error(out)
	}
	_, after, peak := r.p.usage()
	t.Logf("%d MiB written: %.0f MiB before, %.0f after, %.0f at most", size>>20, before, after, peak)
	if peak > before+200 { // the box is loaded in between, which takes some 100
		t.Errorf("%.0f MiB more", peak-before)
	}
}

// Many terminals at a time, mostly asleep, all complete; meanwhile others are
// answered.
func TestSoakSleepers(t *testing.T) {
	n := scale(100, 1000)
	r := serveHTTP(t, "--terminals", fmt.Sprint(2*n))
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 100
	other := fmt.Sprintf(`{"terminalId":%q}`, terminalID.FindString(r.call("terminal_create", `{"command":"echo hi"}`)))
	r.call("terminal_wait_for_exit", other)
	var all sync.WaitGroup
	seconds := scale(2, 20)
	for range n {
		all.Go(func() {
			id := terminalID.FindString(r.call("terminal_create", fmt.Sprintf(`{"command":"sleep %d"}`, seconds)))
			out := ""
			for ok := true; ok; ok = strings.Contains(out, `"running":true`) {
				out = r.call("terminal_wait_for_exit", fmt.Sprintf(`{"terminalId":%q}`, id))
			}
			if !strings.Contains(out, `"exitCode":0`) {
				t.Errorf("%s", out)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	var took []time.Duration
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(100 * time.Millisecond):
			from := time.Now()
			if out := r.call("terminal_output", other); !strings.Contains(out, `"output":"hi`) {
				t.Error(out)
			} else {
				took = append(took, time.Since(from))
			}
		}
	}
	slices.Sort(took)
	cpu, _, peak := r.p.usage()
	t.Logf("%d terminals: p99 of %d terminal_output %v, %.0f MiB at most, %v of CPU", n, len(took), took[len(took)*99/100], peak, cpu)
}
