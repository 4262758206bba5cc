package termhost

import (
	"time"
)

// Limits bounds a Host. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Running      int           // commands of one principal that run at a time; one more is refused
	Kept         int           // terminals of one principal; the oldest exited ones are released to make room
	Total        int           // commands that run at a time for all principals together
	Output       int           // bytes of output kept where a Spec does not say
	OutputMax    int           // the most bytes that a Spec may ask to be kept
	Shells       int           // named sessions of one principal; one more is refused
	ShellsTotal  int           // named sessions of all principals together
	Idle         time.Duration // a terminal that nobody asks about for so long is killed and released, a named session unused for so long is closed; negative: never
	InspectLimit time.Duration // wall time of parsing and of the decision together
	CloseLimit   time.Duration // how long Close waits for commands to end
}

// DefaultLimits is the one place where defaults live.
var DefaultLimits = Limits{
	Running:      32,
	Kept:         256,
	Total:        4096,
	Output:       1 << 20,
	OutputMax:    8 << 20,
	Shells:       16,
	ShellsTotal:  256,
	Idle:         30 * time.Minute,
	InspectLimit: 10 * time.Second,
	CloseLimit:   5 * time.Second,
}

func orDefault[T int | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	l.Running = orDefault(l.Running, d.Running)
	l.Kept = max(orDefault(l.Kept, d.Kept), l.Running) // so that making room never touches a running terminal
	l.Total = orDefault(l.Total, d.Total)
	l.Output = orDefault(l.Output, d.Output)
	l.OutputMax = max(orDefault(l.OutputMax, d.OutputMax), l.Output)
	l.Shells = orDefault(l.Shells, d.Shells)
	l.ShellsTotal = orDefault(l.ShellsTotal, d.ShellsTotal)
	l.Idle = orDefault(l.Idle, d.Idle)
	l.InspectLimit = orDefault(l.InspectLimit, d.InspectLimit)
	l.CloseLimit = orDefault(l.CloseLimit, d.CloseLimit)
	return l
}
