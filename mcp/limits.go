package mcp

import (
	"time"
)

// Limits bounds a [Server]. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Message   int           // bytes of one incoming message
	Calls     int           // tool calls of one principal in progress at a time; more get a "busy" result
	Requests  int           // requests of one connection in progress at a time, of whatever kind
	Wait      time.Duration // how long terminal_wait_for_exit waits where the call does not say
	WaitMax   time.Duration // the longest that a call may ask for
	Result    int           // bytes of output in one result where the terminal's creator set no outputByteLimit
	ResultMax int           // bytes of output in one result in any case
	Drain     time.Duration // how long calls in progress may run on after the input has ended
}

// DefaultLimits is the one place where defaults live. Wait stays under the 60
// seconds after which many clients give up on a call.
var DefaultLimits = Limits{
	Message:   4 << 20,
	Calls:     256,
	Requests:  512,
	Wait:      50 * time.Second,
	WaitMax:   10 * time.Minute,
	Result:    64 << 10,
	ResultMax: 1 << 20,
	Drain:     5 * time.Second,
}

func orDefault[T int | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	return Limits{
		Message:   orDefault(l.Message, d.Message),
		Calls:     orDefault(l.Calls, d.Calls),
		Requests:  orDefault(l.Requests, d.Requests),
		Wait:      orDefault(l.Wait, d.Wait),
		WaitMax:   orDefault(l.WaitMax, d.WaitMax),
		Result:    orDefault(l.Result, d.Result),
		ResultMax: orDefault(l.ResultMax, d.ResultMax),
		Drain:     orDefault(l.Drain, d.Drain),
	}
}
