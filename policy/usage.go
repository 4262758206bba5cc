package policy

import (
	"context"
	"sync/atomic"
	"time"
)

// Usage counts what has been used so far.
type Usage struct {
	TerminalsOpen int64 `json:"terminals_open"` // other commands of the principal that run
	Execs         int64 `json:"execs"`          // programs that the line has started
	CPUMS         int64 `json:"cpu_ms"`         // milliseconds that the line's programs have run, with what they waited
	OutputBytes   int64 `json:"output_bytes"`   // bytes that the line has written
	NetBytes      int64 `json:"net_bytes"`      // bytes that the line has sent and received
	ToolCalls     int64 `json:"tool_calls"`     // upstream tools that the line has called
}

// A Meter counts the use of one terminal. The context carries it to whoever
// has something to count; it is safe for concurrent use, and a nil Meter
// counts nothing.
type Meter struct {
	Open func() int64 // other commands of the principal that run; nil means none

	ran, net, tools atomic.Int64
}

// Ran counts the time of a program.
func (m *Meter) Ran(d time.Duration) {
	if m != nil {
		m.ran.Add(int64(d))
	}
}

// Net counts bytes that were sent or received.
func (m *Meter) Net(bytes int64) {
	if m != nil {
		m.net.Add(bytes)
	}
}

// Tool counts one call of an upstream tool.
func (m *Meter) Tool() {
	if m != nil {
		m.tools.Add(1)
	}
}

// Usage returns the counts, with those that the caller keeps itself: programs
// started and bytes written.
func (m *Meter) Usage(execs, output int64) Usage {
	u := Usage{Execs: execs, OutputBytes: output}
	if m == nil {
		return u
	}
	if m.Open != nil {
		u.TerminalsOpen = m.Open()
	}
	u.CPUMS, u.NetBytes, u.ToolCalls = time.Duration(m.ran.Load()).Milliseconds(), m.net.Load(), m.tools.Load()
	return u
}

type meterKey struct{}

// WithMeter returns a context that carries m.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterFrom returns the meter that ctx carries, or nil.
func MeterFrom(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}
