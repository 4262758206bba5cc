package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// children returns the processes that one process has started.
func children(t *testing.T, parent int) (pids []int) {
	t.Helper()
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended meanwhile
		}
		f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(f) > 1 && f[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits for processes to end. The bound is far beyond the second that is
// promised; what is asserted is that they end at all.
func gone(pids []int) (left []int) {
	for range 5000 {
		left = nil
		for _, pid := range pids {
			if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(b), ") Z ") {
				left = append(left, pid)
			}
		}
		if left == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

// busy starts lines that would run for ever and returns the server's workers.
func (p *process) busy(t *testing.T) []int {
	t.Helper()
	for i, line := range []string{"while :; do :; done", "sleep 1000", "yes > /dev/null"} {
		arg, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		p.call(i+1, "terminal_create", string(arg))
		if l := p.line(); !strings.Contains(l, "terminalId") {
			t.Fatal(l)
		}
	}
	var pids []int
	for range 5000 {
		if pids = children(t, p.cmd.Process.Pid); len(pids) >= 3 {
			return pids
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("three lines run in %d processes", len(pids))
	return nil
}

// TestNothingOutlivesTheServer ends servers in every way while lines run.
//
// Threats: WO-7.
func TestNothingOutlivesTheServer(t *testing.T) {
	for name, end := range map[string]func(p *process){
		"SIGKILL":          func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGKILL) },
		"SIGTERM":          func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGTERM) },
		"the client's end": func(p *process) { _ = p.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "--isolation", "terminal", "-q")
			pids := p.busy(t)
			end(p)
			p.rest(time.Minute)
			if left := gone(pids); left != nil {
				t.Errorf("processes %v outlive the server", left)
			}
		})
	}
}

// TestWorkerLost kills a worker under a terminal: its client is told, what was
// written stays, files are whole, and other terminals go on.
//
// Threats: WO-4.
func TestWorkerLost(t *testing.T) {
	p := start(t, "--isolation", "terminal", "-q")
	id := func() string {
		var m struct {
			Result struct {
				StructuredContent struct{ TerminalID string }
			}
		}
		l := p.line()
		if err := json.Unmarshal([]byte(l), &m); err != nil || m.Result.StructuredContent.TerminalID == "" {
			t.Fatal(l, err)
		}
		return m.Result.StructuredContent.TerminalID
	}
	p.call(1, "terminal_create", `{"command":"echo begun; until [ -e stop ]; do sleep 0.1; done; echo ended"}`)
	bystander := id()
	p.call(2, "terminal_create", `{"command":"echo kept > kept; echo before; while :; do :; done"}`)
	victim := id()
	// The one that burns time is the victim.
	var hot int
	for range 5000 {
		for _, pid := range children(t, p.cmd.Process.Pid) {
			if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
				f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
				if user, _ := strconv.Atoi(f[11]); user > 150 { // hundredths of a second
					hot = pid
				}
			}
		}
		if hot != 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if hot == 0 || syscall.Kill(hot, syscall.SIGKILL) != nil {
		t.Fatal("the worker was not found")
	}
	p.call(3, "terminal_wait_for_exit", `{"terminalId":"`+victim+`"}`)
	if l := p.line(); !strings.Contains(l, `"SIGKILL"`) || !strings.Contains(l, "worker lost") {
		t.Errorf("the end: %s", l)
	}
	p.call(4, "terminal_output", `{"terminalId":"`+victim+`"}`)
	if l := p.line(); !strings.Contains(l, "before") || !strings.Contains(l, "worker lost") {
		t.Errorf("the output: %s", l)
	}
	p.call(5, "terminal_create", `{"command":"cat kept; : > stop"}`)
	next := id()
	p.call(6, "terminal_wait_for_exit", `{"terminalId":"`+next+`"}`)
	if l := p.line(); !strings.Contains(l, `"exitCode":0`) {
		t.Errorf("the next terminal: %s", l)
	}
	p.call(8, "terminal_output", `{"terminalId":"`+next+`"}`)
	if l := p.line(); !strings.Contains(l, "kept") {
		t.Errorf("its output: %s", l)
	}
	p.call(7, "terminal_wait_for_exit", `{"terminalId":"`+bystander+`"}`)
	if l := p.line(); !strings.Contains(l, `"exitCode":0`) {
		t.Errorf("the bystander: %s", l)
	}
	_ = p.in.Close()
	p.rest(time.Minute)
}

// TestServedByWorkers: without a word about it, served lines run in workers.
func TestServedByWorkers(t *testing.T) {
	p := start(t, "-q")
	pids := p.busy(t)
	slices.Sort(pids)
	if pids = slices.Compact(pids); len(pids) < 3 {
		t.Errorf("%d processes", len(pids))
	}
	_ = p.in.Close()
	p.rest(time.Minute)
}
