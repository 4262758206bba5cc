package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// terminal is one terminal from its creation to its release, as a client over
// a pipe has it.
func (p *process) terminal(line, want string) {
	p.t.Helper()
	p.call(1, "terminal_create", fmt.Sprintf(`{"command":%q}`, line))
	id := fmt.Sprintf(`{"terminalId":%q}`, terminalID.FindString(p.line()))
	p.call(2, "terminal_wait_for_exit", id)
	p.line()
	p.call(3, "terminal_output", id)
	if got := p.line(); !strings.Contains(got, want) {
		p.t.Fatal(got)
	}
	p.call(4, "terminal_release", id)
	p.line()
}

// BenchmarkServeTerminals is 200 terminals one after the other, each created,
// waited for, read and released by a client over a pipe: with workers, without,
// and the ratio. The two servers take turns, so that what else the machine does
// meets both.
func BenchmarkServeTerminals(b *testing.B) {
	for name, line := range map[string]string{"echo": "echo hi", "box": "seq 3 | cat | wc -l; echo hi"} {
		b.Run(name, func(b *testing.B) {
			kinds := []string{"none", "terminal"}
			var servers []*process
			for _, isolation := range kinds {
				p := start(b, "-q", "--isolation", isolation)
				for range 20 {
					p.terminal(line, "hi")
				}
				servers = append(servers, p)
			}
			time.Sleep(3 * time.Second) // workers have loaded all
			took, cpu := make([][]time.Duration, 2), make([]time.Duration, 2)
			for b.Loop() {
				for range 200 {
					for i, p := range servers {
						from := time.Now()
						p.terminal(line, "hi")
						took[i] = append(took[i], time.Since(from))
					}
				}
			}
			for i, p := range servers {
				cpu[i], _, _ = p.usage()
				b.ReportMetric(float64(mean(took[i]).Microseconds()), kinds[i]+"-us")
				b.ReportMetric(float64(median(took[i]).Microseconds()), kinds[i]+"-median-us")
			}
			b.ReportMetric(float64(mean(took[1]))/float64(mean(took[0])), "ratio")
			b.ReportMetric(float64(median(took[1]))/float64(median(took[0])), "median-ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func mean(took []time.Duration) (sum time.Duration) {
	for _, d := range took {
		sum += d
	}
	return sum / time.Duration(len(took))
}

func median(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}
