package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/client"
	"github.com/donax-sh/donax/mcp/client/clienttest"
)

// TestMain makes the test binary be the faulty server, or the client of the
// conformance suite, when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fake-server" {
		os.Exit(clienttest.Main(os.Args[2:]))
	}
	if len(os.Args) == 3 && os.Args[1] == "suite-client" {
		if err := suiteClient(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is the command of a server with faults.
func fake(faults ...string) client.Config {
	return client.Config{Command: append([]string{os.Args[0], "fake-server"}, faults...), Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func start(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func call(t *testing.T, c *client.Client, tool string, args map[string]any) client.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := c.Call(ctx, tool, args, nil)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return r
}

// Threats: UP-5.
func TestFaultyStarts(t *testing.T) {
	for _, faults := range [][]string{{}, {"banner"}, {"noise"}, {"silent"}, {"crash"}, {"flood"}, {"slow"}} {
		t.Run(fmt.Sprint(faults), func(t *testing.T) {
			t.Parallel()
			cfg := fake(faults...)
			cfg.Limits.Probe = time.Second
			c := start(t, cfg)
			if name, _, revision := c.Server(); name != "fake" || revision != "2025-11-25" {
				t.Errorf("%s %s", name, revision)
			}
			if tools, err := c.Tools(context.Background()); err != nil || tools[0].Name != "echo" || !tools[0].Annotations.Destructive {
				t.Errorf("%v %v", tools, err)
			}
			if got := call(t, c, "args", nil).Text; got != "{}" {
				t.Errorf("no arguments are sent as %s", got)
			}
			if !strings.HasPrefix(c.Instructions(), "Ask the fake.") {
				t.Error(c.Instructions())
			}
		})
	}
}

func TestFailedStartsSayWhy(t *testing.T) {
	for want, cfg := range map[string]client.Config{
		"no such file":        {Command: []string{"/nonexistent/server"}},
		"no nonexistent in":   {Command: []string{"nonexistent"}, Env: []string{"PATH=/bin"}},
		"no configuration":    fake("exit"),
		"either a command or": {},
		"https://HOST/PATH":   {URL: "file:///etc/passwd"},
	} {
		cfg.Limits.Probe = time.Second
		c, err := client.Start(context.Background(), cfg)
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", cfg.Command, err, want)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cfg := fake("silent", "mute")
	cfg.Limits.Probe = 500 * time.Millisecond
	begin := time.Now()
	if _, err := client.Start(ctx, cfg); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// Threats: UP-5.
func TestListsEnd(t *testing.T) {
	for fault, want := range map[string]string{"loop": "does not end", "giantlist": "longer than the limit"} {
		if _, err := start(t, fake(fault)).Tools(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

// Threats: UP-5.
func TestResults(t *testing.T) {
	cfg := fake()
	cfg.Limits.Message = 1 << 20
	c := start(t, cfg)
	r := call(t, c, "media", nil)
	var kinds []string
	for _, b := range r.Content {
		kinds = append(kinds, string(b.Kind))
	}
	if got := strings.Join(kinds, " "); got != "text image audio resource resource_link" || !bytes.Equal(r.Content[1].Data, []byte("\x89PNG")) || string(r.Content[3].Data) != "# notes" {
		t.Errorf("%s %+v", got, r)
	}
	if r := call(t, c, "weird", nil); r.Text != "{\"depth\":3,\"type\":\"hologram\"}\nafter" {
		t.Errorf("content of an unknown kind: %+v", r)
	}
	if r := call(t, c, "nocontent", nil); string(r.JSON) != `{"a":1}` {
		t.Errorf("structure alone: %+v", r)
	}
	if r := call(t, c, "ids", nil); string(r.JSON) != `{"id":9007199254740993}` {
		t.Errorf("digits are lost: %s", r.JSON)
	}
	if r := call(t, c, "fail", nil); !r.IsError || r.Text != "it did not work" {
		t.Errorf("%+v", r)
	}
	if _, err := c.Call(context.Background(), "big", map[string]any{"bytes": 2 << 20}, nil); err == nil || !strings.Contains(err.Error(), "longer than the limit") {
		t.Errorf("an answer over the limit: %v", err)
	}
	if _, err := c.Call(context.Background(), "nonsense", nil, nil); err == nil {
		t.Error("an unknown tool answers")
	}
	steps, done := make(chan string, 10), make(chan error)
	go func() {
		_, err := c.Call(context.Background(), "steps", map[string]any{"n": 3, "wait": true}, func(m string) { steps <- m })
		done <- err
	}()
	for i := range 3 {
		if got, want := <-steps, fmt.Sprint("step ", i+1); got != want {
			t.Errorf("progress %q, want %q", got, want)
		}
	}
	call(t, c, "release", nil)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	c := start(t, fake())
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, "hang", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for range 100 {
		if call(t, c, "cancelled", nil).Text == "1" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the server was not told")
}

// Threats: UP-5.
func TestServerDies(t *testing.T) {
	c := start(t, fake())
	if _, err := c.Call(context.Background(), "die", nil, nil); err == nil {
		t.Error("a dead server answers")
	}
	select {
	case <-c.Done():
	case <-time.After(time.Minute):
		t.Error("its end is not seen")
	}
}

func TestChangesAreSettled(t *testing.T) {
	var n atomic.Int32
	cfg := fake()
	cfg.ToolsChanged = func() { n.Add(1) }
	c := start(t, cfg)
	for range 3 {
		call(t, c, "change", nil)
	}
	for range 200 {
		if n.Load() > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n.Load() != 1 {
		t.Errorf("six notices make %d changes", n.Load())
	}
}

// Threats: UP-10.
func TestQuestionsOfServers(t *testing.T) {
	if got := call(t, start(t, fake()), "ask", nil).Text; !strings.Contains(got, "-32") {
		t.Errorf("an elicitation that was not offered: %s", got)
	}
	if got := call(t, start(t, fake()), "sample", nil).Text; !strings.Contains(got, "does not support") {
		t.Errorf("sampling: %s", got)
	}
	for answer, want := range map[bool]string{true: "accept", false: "decline"} {
		cfg := fake()
		cfg.Elicit = func(_ context.Context, e client.Elicitation) bool {
			if !strings.HasPrefix(e.Message, "May I?") || e.Fields {
				t.Errorf("%+v", e)
			}
			return answer
		}
		if got := call(t, start(t, cfg), "ask", nil).Text; !strings.Contains(got, want) {
			t.Errorf("%v: %s", answer, got)
		}
	}
}

// TestCloseEndsTheTree kills servers that do not end by themselves, and what
// they started.
// Threats: UP-6.
func TestCloseEndsTheTree(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("process groups are a matter of unix")
	}
	before := runtime.NumGoroutine()
	c := start(t, fake("stubborn"))
	var pid int
	if _, err := fmt.Sscan(call(t, c, "child", nil).Text, &pid); err != nil || pid < 2 {
		t.Fatal(pid, err)
	}
	begin := time.Now()
	c.Close()
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("Close took %v", d)
	}
	for range 200 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			pid = 0
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if pid != 0 {
		t.Errorf("process %d outlives its server", pid)
	}
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// zombie reports whether a process is dead and only not waited for.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// Threats: UP-8.
func TestNothingIsInherited(t *testing.T) {
	t.Setenv("DONAX_TEST_CANARY", "canary-9431")
	if got := call(t, start(t, fake()), "env", map[string]any{"name": "DONAX_TEST_CANARY"}).Text; got != "" {
		t.Errorf("the server sees %q", got)
	}
}
