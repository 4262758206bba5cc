package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp/client"
	"github.com/donax-sh/donax/policy/audit"
	"github.com/donax-sh/donax/policy/brake"
)

// home is a place where donax runs as a program of its own, with state of its own.
type home struct {
	t   *testing.T
	bin string
	env []string
	dir string
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := os.MkdirTemp("", "donax") // short: the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, bin: filepath.Join(dir, "donax")}
	if err := os.Symlink(self, h.bin); err != nil {
		t.Fatal(err)
	}
	h.env = append(os.Environ(), "DONAX_STATE="+filepath.Join(dir, "state"), "DONAX_CACHE="+testCache(t))
	return h
}

// donax runs donax and returns its output and status.
func (h *home) donax(args ...string) (string, int) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), h.bin, args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// serve starts a server on a pipe.
func (h *home) serve(args ...string) *client.Client {
	h.t.Helper()
	var log bytes.Buffer
	c, err := client.Start(h.t.Context(), client.Config{Command: append([]string{h.bin, "serve"}, args...), Env: h.env, Dir: h.dir, Stderr: &log})
	if err != nil {
		h.t.Fatal(err, log.String())
	}
	h.t.Cleanup(func() { c.Close() }) // it may have been killed
	return c
}

func (h *home) call(c *client.Client, tool string, args map[string]any) client.Result {
	h.t.Helper()
	r, err := c.Call(h.t.Context(), tool, args, nil)
	if err != nil {
		h.t.Fatal(tool, err)
	}
	return r
}

func (h *home) start(c *client.Client, line string) string {
	h.t.Helper()
	r := h.call(c, "terminal_create", map[string]any{"command": line})
	id, _ := r.Structured["terminalId"].(string)
	if id == "" {
		h.t.Fatal(line, r.Text)
	}
	return id
}

// servers returns what the running servers say.
func (h *home) servers() []brake.Report {
	h.t.Helper()
	out, _ := h.donax("brake", "status", "--json")
	var r struct{ Servers []brake.Report }
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		h.t.Fatal(err, out)
	}
	return r.Servers
}

// written waits until a terminal has written something.
func (h *home) written(c *client.Client, id string) {
	h.t.Helper()
	for until := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		r := h.call(c, "terminal_output", map[string]any{"terminalId": id})
		if r.Structured["output"] != "" {
			return
		}
		if time.Now().After(until) {
			h.t.Fatal("nothing is written")
		}
	}
}

// Case S107: the brake reaches what runs, proves that it is gone, and refuses
// the rest until the operator releases it.
// Threats: BR-1, BR-3.
func TestBrake(t *testing.T) {
	h := newHome(t)
	one, two := h.serve("--audit", "one.jsonl"), h.serve()
	var ids []string
	for _, line := range []string{
		"echo on; while :; do :; done", "echo on; sleep 1000", "echo on; yes >/dev/null", "echo on; sleep 1000 | cat", "echo on; f() { sleep 1000; }; f & wait",
	} {
		ids = append(ids, h.start(one, line))
	}
	h.start(two, "API_KEY=hunter2-55555 sleep 1000")
	for _, id := range ids {
		h.written(one, id)
	}
	if s := h.servers(); len(s) != 2 || s[0].Running+s[1].Running != len(ids)+1 {
		t.Fatalf("%+v", s)
	}
	start := time.Now()
	out, status := h.donax("brake", "on", "smoke in", "rack 7\x1b[2J")
	if status != 0 || !strings.Contains(out, `brake on: smoke in rack 7\x1b[2J`) || !strings.Contains(out, "5 of 5 commands stopped") || !strings.Contains(out, "1 of 1 commands stopped") || !strings.Contains(out, "stopped  t_") ||
		!strings.Contains(out, "API_KEY=[masked] sleep 1000") || strings.Contains(out, "hunter2") {
		t.Fatalf("%d %s", status, out)
	}
	t.Logf("the brake took %v:\n%s", time.Since(start), out)
	for _, s := range h.servers() {
		if s.Running != 0 || !s.State.On {
			t.Errorf("%+v", s)
		}
	}
	for _, id := range ids {
		r := h.call(one, "terminal_wait_for_exit", map[string]any{"terminalId": id, "timeoutMs": 1})
		if exit, _ := r.Structured["exitStatus"].(map[string]any); exit == nil || exit["signal"] != "SIGKILL" || !strings.Contains(fmt.Sprint(exit["detail"]), "the brake is on: smoke in rack 7") {
			t.Errorf("%s", r.Text)
		}
		if r := h.call(one, "terminal_output", map[string]any{"terminalId": id}); r.Structured["output"] != "on\n" {
			t.Errorf("what was written is lost: %s", r.Text)
		}
	}
	refused := func(c *client.Client) {
		t.Helper()
		if r := h.call(c, "terminal_create", map[string]any{"command": "echo hi"}); !r.IsError || !strings.HasPrefix(r.Text, "refused: the brake is on: smoke in rack 7") || !strings.Contains(r.Text, "[decision ") {
			t.Errorf("%s", r.Text)
		}
	}
	refused(one)
	refused(two)
	refused(h.serve()) // one that starts later
	if out, status := h.donax("-c", "echo hi"); status != 137 || !strings.Contains(out, "the brake is on: smoke in rack 7") {
		t.Errorf("%d %s", status, out)
	}
	if out, _ := h.donax("brake", "on", "another reason"); !strings.Contains(out, "brake on: smoke in rack 7") || strings.Contains(out, "another") {
		t.Errorf("the first reason is lost: %s", out)
	}
	if out, status := h.donax("brake", "off"); status != 0 || !strings.Contains(out, "brake off") {
		t.Errorf("%d %s", status, out)
	}
	h.call(one, "terminal_wait_for_exit", map[string]any{"terminalId": h.start(one, "echo hi")})
	if out, status := h.donax("-c", "echo hi"); status != 0 || out != "hi\n" {
		t.Errorf("%d %s", status, out)
	}

	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if out, status := h.donax("events", "--verify", "one.jsonl"); status != 0 {
		t.Errorf("%s", out)
	}
	seq := map[string]int64{}
	for l, err := range audit.Read(filepath.Join(h.dir, "one.jsonl")) {
		if err != nil {
			t.Fatal(err)
		}
		if seq[l.Type] == 0 {
			seq[l.Type] = l.Seq
		}
	}
	if seq[audit.TypeBrakeOn] == 0 || seq[audit.TypeBrakeOn] > seq[audit.TypeEnd] || seq[audit.TypeStopped] < seq[audit.TypeBrakeOn] || seq[audit.TypeBrakeOff] == 0 {
		t.Errorf("the record is in another order: %v", seq)
	}
}

// A line that runs without a server hears of the brake, too.
func TestBrakeEndsALine(t *testing.T) {
	h := newHome(t)
	cmd := exec.CommandContext(t.Context(), h.bin, "-c", "echo on; sleep 1000")
	cmd.Env, cmd.Dir = h.env, h.dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "on\n" {
		t.Fatal(line, err)
	}
	h.donax("brake", "on", "smoke")
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 137 || !strings.Contains(errs.String(), "the brake is on: smoke") {
		t.Errorf("%v %s", err, errs.String())
	}
}

// Case S114: what the record says after the server was killed is sound, and
// what is torn is told.
// Threats: AU-4.
func TestTheRecordSurvivesAKill(t *testing.T) {
	h := newHome(t)
	c := h.serve("--audit", "log.jsonl")
	for range 3 {
		h.written(c, h.start(c, "for i in 1 2 3; do ls /bin; done; while :; do true; done"))
	}
	pid := h.servers()[0].PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.dir, "log.jsonl")
	for until := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil && time.Now().Before(until); {
		_ = c.Close() // reaps it
		time.Sleep(10 * time.Millisecond)
	}
	out, status := h.donax("events", "--verify", path)
	if status != 0 || !strings.Contains(out, "are sound") {
		t.Fatalf("%d %s", status, out)
	}
	// A machine that loses power leaves a line half written.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":4`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if out, status := h.donax("events", "--verify", path); status != 0 || !strings.Contains(out, "the last line is torn") {
		t.Errorf("%d %s", status, out)
	}
	if out, status := h.donax("-c", "true", "--audit", path); status != 0 {
		t.Errorf("%d %s", status, out)
	}
	out, status = h.donax("events", "--verify", path)
	if status != 0 || strings.Contains(out, "torn") || !strings.Contains(out, "1 time(s) a writer ended without closing") {
		t.Errorf("%d %s", status, out)
	}
	if out, _ := h.donax("events", path); !strings.Contains(out, "log.recovered  -  torn_bytes=8") {
		t.Errorf("%s", out)
	}
	// A tail that is cut off is no crash.
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(lines[:len(lines)-3], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, status := h.donax("events", "--verify", path); status != 1 || !strings.Contains(out, "BROKEN") || !strings.Contains(out, "cut off") {
		t.Errorf("%d %s", status, out)
	}
	if out, status := h.donax("-c", "true", "--audit", path); status != 2 || !strings.Contains(out, "missing at the end") {
		t.Errorf("%d %s", status, out)
	}
}

// Breakers stop a client that does too much, and the record says so.
// Threats: BR-5.
func TestBreakers(t *testing.T) {
	h := newHome(t)
	c := h.serve("--audit", "log.jsonl", "--breaker", "run.repeats=2", "--breaker", "bytes=100KiB/1h")
	h.call(c, "terminal_release", map[string]any{"terminalId": h.start(c, "echo hi")})
	h.start(c, "echo hi")
	if r := h.call(c, "terminal_create", map[string]any{"command": "echo hi"}); !r.IsError || !strings.Contains(r.Text, "a breaker is open: repeats of this run, limit 2 [decision ") {
		t.Errorf("%s", r.Text)
	}
	id := h.start(c, "head -c 10000000 /dev/zero; sleep 1000")
	r := h.call(c, "terminal_wait_for_exit", map[string]any{"terminalId": id})
	if exit, _ := r.Structured["exitStatus"].(map[string]any); exit == nil || exit["exitCode"] != 137.0 || !strings.Contains(fmt.Sprint(exit["detail"]), "bytes of this principal") {
		t.Errorf("%s", r.Text)
	}
	if r := h.call(c, "terminal_create", map[string]any{"command": "echo another"}); !r.IsError || !strings.Contains(r.Text, "bytes of this principal, limit 102400 in 1h") {
		t.Errorf("%s", r.Text)
	}
	if out, _ := h.donax("events", "log.jsonl"); !strings.Contains(out, "brake.tripped  -  breaker=repeats") || !strings.Contains(out, "brake.tripped  -  breaker=bytes") {
		t.Errorf("%s", out)
	}
	if out, status := h.donax("brake", "off"); status != 0 { // which closes breakers, too
		t.Errorf("%s", out)
	}
	h.start(c, "echo another")
	for _, bad := range []string{"speed=1", "calls", "calls=x", "calls=0", "calls=1/x", "bytes=1/0", "cpu=fast"} {
		if out, status := h.donax("serve", "--breaker", bad); status != 2 || !strings.Contains(out, "--breaker") {
			t.Errorf("%s: %d %s", bad, status, out)
		}
	}
}

// The record of a CPU breaker counts what commands compute, not what they sleep.
// Threats: BR-5.
func TestCPUBreaker(t *testing.T) {
	h := newHome(t)
	c := h.serve("--audit", "off", "--breaker", "cpu=2s")
	h.call(c, "terminal_wait_for_exit", map[string]any{"terminalId": h.start(c, "sleep 0.5")})
	id := h.start(c, "seq 100000000 | wc -l")
	r := h.call(c, "terminal_wait_for_exit", map[string]any{"terminalId": id})
	if exit, _ := r.Structured["exitStatus"].(map[string]any); exit == nil || !strings.Contains(fmt.Sprint(exit["detail"]), "cpu of this principal, limit 2s") {
		t.Errorf("%s", r.Text)
	}
}

// An operator reaches a server over HTTP, too, and sees what it does.
func TestBrakeOverHTTP(t *testing.T) {
	h := newHome(t)
	token := strings.Repeat("t0", 20)
	if err := os.WriteFile(filepath.Join(h.dir, "token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(h.dir, "own", "x.sock")
	cmd := exec.CommandContext(t.Context(), h.bin, "serve", "--http", "127.0.0.1:0", "--token-file", "token", "--control", socket, "--breaker", "calls=1000/1m")
	cmd.Env, cmd.Dir = h.env, h.dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	address := ""
	for address == "" && lines.Scan() {
		_, after, _ := strings.Cut(lines.Text(), "address=")
		address, _, _ = strings.Cut(after, " ")
	}
	go io.Copy(io.Discard, stderr)
	get := func() string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if m := get(); !strings.Contains(m, "\ndonax_brake_on 0\n") || !strings.Contains(m, "\ndonax_audit_failing 0\n") || !strings.Contains(m, "\ndonax_audit_records_total 1\n") {
		t.Errorf("%s", m)
	}
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := get()
	names := regexp.MustCompile(`\b(?:donax|go)_[a-z_]+\b`).FindAllString(string(page), -1)
	if len(names) < 20 {
		t.Errorf("the page names %d metrics", len(names))
	}
	for _, name := range names {
		if !strings.Contains(metrics, "# TYPE "+name+" ") {
			t.Errorf("docs/operating.md names %s, which is not there", name)
		}
	}
	if out, status := h.donax("brake", "on", "--control", socket, "only", "this"); status != 0 || !strings.Contains(out, "0 of 0 commands stopped") {
		t.Errorf("%d %s", status, out)
	}
	if m := get(); !strings.Contains(m, "\ndonax_brake_on 1\n") {
		t.Errorf("%s", m)
	}
	if out, status := h.donax("-c", "echo hi"); status != 0 { // the others are not touched
		t.Errorf("%d %s", status, out)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if out, status := h.donax("brake", "status", "--control", socket); status != 1 || !strings.Contains(out, "does not answer") || !strings.Contains(out, "brake on: only this") {
		t.Errorf("%d %s", status, out)
	}
	// It had a log of its own, which events finds, and which was closed.
	if out, status := h.donax("events", "--verify"); status != 0 || strings.Contains(out, "without closing") {
		t.Errorf("%d %s", status, out)
	}
	if out, _ := h.donax("events"); !strings.Contains(out, "brake.on  -  first=true kept_reason=only this") {
		t.Errorf("%s", out)
	}
}

// events -f prints what comes.
func TestEventsFollow(t *testing.T) {
	h := newHome(t)
	h.donax("-c", "echo first", "--audit", "log.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, h.bin, "events", "-f", "log.jsonl")
	cmd.Env, cmd.Dir = h.env, h.dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seen []string
	lines := bufio.NewScanner(out)
	await := func(what string) {
		t.Helper()
		for lines.Scan() {
			seen = append(seen, lines.Text())
			if strings.Contains(lines.Text(), what) {
				return
			}
		}
		t.Fatalf("no %s in %q", what, seen)
	}
	await("echo first")
	h.donax("-c", "echo second", "--audit", "log.jsonl")
	await("echo second")
	cancel()
	_ = cmd.Wait() // it was ended
}
