package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
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
