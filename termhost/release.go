package termhost

import (
	"context"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost/filter"
)

// redact sets where the command writes: the buffer, behind what the policy
// wants redacted.
func (t *Terminal) redact(list []policy.Redaction) error {
	t.sink, t.flush = t.out, func() error { return nil }
	if len(list) == 0 {
		return nil
	}
	r, err := filter.NewRedactor(t.out, list)
	if err != nil {
		return err
	}
	t.sink, t.flush = r, r.Flush
	return nil
}

// withheld asks the policy whether output may be shown. It is asked each time,
// because what has become of the command since may matter.
func (t *Terminal) withheld(written int64, exit *Exit) error {
	h := t.host
	if e, ok := h.engine.(policy.Constanter); ok {
		if d, ok := e.Constant(policy.KindOutput); ok && d.Effect == policy.Allow {
			return nil
		}
	}
	o := policy.Output{Stream: policy.StreamTerminal, Bytes: written}
	if exit != nil {
		o.ExitCode = statusKilled
		if exit.Code != nil {
			o.ExitCode = *exit.Code
		}
	}
	a := policy.Action{Kind: policy.KindOutput, Subject: t.subject, Output: &o}
	a.Usage = t.meter.Usage(0, written)
	ctx, cancel := context.WithTimeout(context.Background(), h.limits.InspectLimit)
	defer cancel()
	_, err := policy.Check(ctx, h.engine, a)
	return err
}
