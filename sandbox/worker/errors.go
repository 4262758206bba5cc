package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Classes of errors on the wire: those that callers tell apart.
const (
	errNone byte = iota
	errLimit
	errParse
	errFault
	errDeadline
	errCanceled
	errDenied
	errOther
	errExit // a status of a program's own
	errNet
)

// maxError is how many bytes of an error's text go over the wire.
const maxError = 16 << 10

// error writes err as whoever runs a line in its own process would see it.
func (e *encoder) error(err error) {
	e.bool(errors.Is(err, sandbox.ErrAbandoned))
	var le *sandbox.LimitError
	var pe *sandbox.ParseError
	var fe *sandbox.Fault
	var code sandbox.ExitCode
	var ne *sandbox.NetError
	switch {
	case err == nil:
		e.byte(errNone)
	case errors.As(err, &code):
		e.byte(errExit)
		e.byte(byte(code))
	case errors.As(err, &ne):
		e.byte(errNet)
		e.byte(byte(ne.Kind))
		e.string(cut(ne.Msg))
	case errors.As(err, &le):
		e.byte(errLimit)
		e.string(le.What)
		e.string(le.Flag)
		e.string(le.How)
		e.bool(le.Time)
	case errors.As(err, &pe):
		e.byte(errParse)
		e.int(int64(pe.Line))
		e.int(int64(pe.Col))
		e.string(cut(pe.Msg))
	case errors.As(err, &fe):
		e.byte(errFault)
		e.string(fe.Name)
		e.string(cut(fe.Detail))
	case errors.Is(err, context.DeadlineExceeded):
		e.byte(errDeadline)
	case errors.Is(err, context.Canceled):
		e.byte(errCanceled)
	case errors.Is(err, policy.ErrDenied):
		e.byte(errDenied)
		e.string(cut(err.Error()))
	default:
		e.byte(errOther)
		e.string(cut(err.Error()))
	}
}

// error reads what encoder.error wrote. Denials of the whole command are the
// server's own to make, so one from a worker is just its text.
func (d *decoder) error() (err error) {
	abandoned := d.bool()
	switch d.byte() {
	case errNone:
		return nil
	case errLimit:
		err = &sandbox.LimitError{What: d.string(), Flag: d.string(), How: d.string(), Time: d.bool()}
	case errParse:
		err = &sandbox.ParseError{Line: d.int32(), Col: d.int32(), Msg: d.string()}
	case errFault:
		err = &sandbox.Fault{Name: d.string(), Detail: d.string()}
	case errExit:
		err = sandbox.ExitCode(d.byte())
	case errNet:
		err = &sandbox.NetError{Kind: sandbox.NetKind(d.byte()), Msg: d.string()}
	case errDeadline:
		err = context.DeadlineExceeded
	case errCanceled:
		err = context.Canceled
	case errDenied, errOther:
		err = errors.New(d.string())
	default:
		d.fail("an error of unknown class")
	}
	if abandoned {
		err = fmt.Errorf("%w (%w)", err, sandbox.ErrAbandoned)
	}
	return err
}

func cut(s string) string { return s[:min(len(s), maxError)] }
