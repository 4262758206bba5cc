package worker

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/donax-sh/donax/policy"
)

// answer carries out one request of the worker and sends its answer. The error
// says that the request made no sense. To serve a further kind of request, add
// it to the kinds, to [process.read] and here.
func (p *process) answer(k kind, id uint32, d *decoder) error {
	e := newEncoder(256)
	if k == kindFile {
		if !p.busy() { // what a line has left behind changes nothing any more
			e.failed(syscall.EIO)
		} else if err := p.files.answer(d, e); err != nil {
			return err
		}
		_ = p.conn.send(kindAnswer, id, e) // a worker that is gone needs none
		return nil
	}
	if k == kindLookup {
		if err := p.lookup(d, e); err != nil {
			return err
		}
		_ = p.conn.send(kindAnswer, id, e) // the same
		return nil
	}
	number := d.uint()
	if d.err != nil {
		return d.err
	}
	r := p.running(uint32(number))
	if number > 1<<32-1 || r == nil {
		// The run may have ended while the request was under way.
		switch k {
		case kindDecide:
			e.string(policy.FailCancelled)
			e.string("")
		case kindInput:
			e.bytes(nil)
			e.byte(readEOF)
		default:
			e = ended(context.Canceled)
		}
		_ = p.conn.send(kindAnswer, id, e)
		return nil
	}
	switch k {
	case kindDecide:
		a := d.action()
		told := d.usage()
		a.Usage = policy.MeterFrom(r.ctx).Usage(told.Execs, told.OutputBytes)
		a.Usage.CPUMS += told.CPUMS
		if err := d.end(); err != nil {
			return err
		}
		p.decide(r, a, e)
	case kindInput:
		n := d.small(window / 4)
		if err := d.end(); err != nil {
			return err
		}
		r.read(n, e)
	case kindCall, kindStep, kindFetch, kindUpload:
		do := map[kind]func(*serverRun, *decoder) (*encoder, error){kindCall: p.call, kindStep: p.step, kindFetch: p.fetch, kindUpload: p.upload}[k]
		var err error
		if e, err = do(r, d); err != nil {
			return err
		}
	case kindDone:
		if err := p.stop(r, d); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: a request of kind %d", errProtocol, k)
	}
	_ = p.conn.send(kindAnswer, id, e)
	return nil
}

// decide asks the policy. Who asks is what the server knows, whatever the
// worker may claim.
func (p *process) decide(r *serverRun, a policy.Action, e *encoder) {
	a.Subject = policy.SubjectFrom(r.ctx)
	if a.File != nil {
		a.File.Mount = p.files.mountOf(a.File.Path, a.File.Mount)
	}
	epoch := p.epoch() // before asking: an answer of the policy before this one is not to be kept
	d, err := policy.Check(r.ctx, p.cfg.Policy, a)
	var denied *policy.DeniedError
	if errors.As(err, &denied) && denied.Err != nil {
		class := policy.FailOther
		var f *policy.Failure
		if errors.As(denied.Err, &f) && f.Class != "" {
			class = f.Class
		}
		e.string(class)
		e.string(d.ID)
		return
	}
	hold := p.hold(r.ctx, a)
	if err == nil {
		r.leave.give(effectOf(a), epoch, hold != holdOnce)
	}
	e.string("")
	e.decision(d)
	e.byte(hold)
	e.uint(epoch)
}

// hold says how long the answer to a holds. What is bound to the context of a
// run, as a grant that expires, is asked each time.
func (p *process) hold(ctx context.Context, a policy.Action) byte {
	if len(policy.Bound(ctx)) > 0 {
		return holdOnce
	}
	if _, ok := policy.ConstantOf(ctx, p.cfg.Policy, a.Kind); ok {
		return holdConstant
	}
	if c, ok := p.cfg.Policy.(policy.Repeater); ok && c.Repeats(a) {
		return holdFacts
	}
	return holdOnce
}

// constants are the answers that a run need not ask for.
func (p *process) constants(ctx context.Context) (known []constant) {
	if len(policy.Bound(ctx)) > 0 {
		return nil
	}
	for _, act := range []byte{actExec, actFile} {
		c := constant{act: act}
		var ok bool
		if c.decision, ok = policy.ConstantOf(ctx, p.cfg.Policy, c.kind()); ok {
			known = append(known, c)
		}
	}
	return known
}

// forget tells the worker that its decisions are void.
func (p *process) forget(epoch uint64) {
	e := newEncoder(10)
	e.uint(epoch)
	_ = p.conn.send(kindForget, 0, e) // a worker that is gone keeps none
}
