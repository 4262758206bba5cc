package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// usage is what a process has used: CPU time, and memory that is resident now
// and was at most, in MiB.
func (p *process) usage() (cpu time.Duration, rss, peak float64) {
	p.t.Helper()
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		p.t.Skip("no /proc: ", err)
	}
	_, after, _ := strings.Cut(string(stat), ") ") // behind the name
	f := strings.Fields(after)
	for _, ticks := range f[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.ParseInt(ticks, 10, 64)
		if err != nil {
			p.t.Fatal(err)
		}
		cpu += time.Duration(n) * 10 * time.Millisecond
	}
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		switch name {
		case "VmRSS":
			rss = kb / 1024
		case "VmHWM":
			peak = kb / 1024
		}
	}
	return cpu, rss, peak
}

// BenchmarkServeCall is one trivial call to a real server over stdio: the CPU
// time is the server's alone. The memory is that of the server before the
// first call, with the box prepared.
func BenchmarkServeCall(b *testing.B) {
	p := start(b, "-q")
	p.call(1, "terminal_create", `{"command":"echo hi"}`)
	id := fmt.Sprintf(`{"terminalId":%q}`, terminalID.FindString(p.line()))
	p.call(2, "terminal_wait_for_exit", id)
	p.line()
	from, _, _ := p.usage()
	for i := 0; b.Loop(); i++ {
		p.call(i, "terminal_output", id)
		p.line()
	}
	cpu, rss, _ := p.usage()
	b.ReportMetric(float64((cpu-from).Microseconds())/float64(b.N), "cpu-us/op")
	b.ReportMetric(rss, "MiB")
}

// BenchmarkServeIdle is the memory of a server that has answered a client
// and does nothing.
func BenchmarkServeIdle(b *testing.B) {
	var sum float64
	for b.Loop() {
		p := start(b, "-q")
		fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s}}`+"\n", modern)
		p.line()
		time.Sleep(3 * time.Second) // the box is prepared in the background
		_, rss, _ := p.usage()
		sum += rss
		p.in.Close()
		_ = p.cmd.Wait()
	}
	b.ReportMetric(sum/float64(b.N), "MiB")
}

// BenchmarkServeThousandTerminals is terminal_output while a thousand
// terminals are made, and while they sleep, in workers. The memory is what the
// server and its workers have each to itself.
func BenchmarkServeThousandTerminals(b *testing.B) {
	const n, clients = 1000, 16
	r := serveHTTP(b, "--terminals", strconv.Itoa(n+1))
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 2 * clients
	create := func(line string) string {
		return terminalID.FindString(r.call("terminal_create", fmt.Sprintf(`{"command":%q}`, line)))
	}
	output := func(id string) time.Duration {
		from := time.Now()
		r.call("terminal_output", fmt.Sprintf(`{"terminalId":%q}`, id))
		return time.Since(from)
	}
	watched := create("echo begun; sleep 3600")
	var all sync.WaitGroup
	ids, todo, began := make([]string, n), make(chan int), time.Now()
	for range clients {
		all.Go(func() {
			for i := range todo {
				if ids[i] = create("echo begun; sleep 3600"); ids[i] == "" {
					b.Error("a terminal was not made")
				}
			}
		})
	}
	made := make(chan struct{})
	go func() {
		for i := range n {
			todo <- i
		}
		close(todo)
		all.Wait()
		close(made)
	}()
	var starting, running []time.Duration
	for done := false; !done; {
		starting = append(starting, output(watched))
		select {
		case <-made:
			done = true
		case <-time.After(5 * time.Millisecond):
		}
	}
	took := time.Since(began)
	for _, id := range ids {
		for !strings.Contains(r.call("terminal_output", fmt.Sprintf(`{"terminalId":%q}`, id)), "begun") {
			starting = append(starting, output(watched))
		}
	}
	begun := time.Since(began)
	for i := 0; b.Loop(); i++ {
		running = append(running, output(ids[i%n]))
	}
	b.ReportMetric(p99(starting), "start-p99-ms")
	b.ReportMetric(p99(running), "p99-ms")
	b.ReportMetric(took.Seconds(), "create-s")
	b.ReportMetric(begun.Seconds(), "begun-s")
	b.ReportMetric(r.p.memory(), "MiB")
}

func p99(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)*99/100].Microseconds()) / 1000
}

// memory is what the process and those that it has started have each to
// itself, in MiB.
func (p *process) memory() (sum float64) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		status, err := os.ReadFile(dir + "/status")
		if err != nil {
			continue // it has ended
		}
		var parent, pid int
		var own float64
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(line, ":")
			n, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			switch name {
			case "Pid":
				pid = int(n)
			case "PPid":
				parent = int(n)
			case "RssAnon":
				own = n / 1024
			}
		}
		if pid == p.cmd.Process.Pid || parent == p.cmd.Process.Pid {
			sum += own
		}
	}
	return sum
}
