package worker

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// maxFetches is how many requests to the network one worker may have under way.
// More wait in the worker. The server takes twice as many, as one that has been
// given up may be there for a moment still. Each waits for at most two answers
// of maxAsked.
const maxFetches = 16

// fetch makes a request for a line in the worker and answers with what it wants
// first. The server admits it, dials, adds secrets and counts, exactly as for a
// line of its own; the worker gets the response and nothing else.
func (p *process) fetch(r *serverRun, d *decoder) (*encoder, error) {
	key := callKey{r.id, d.uint()}
	f, upload := d.fetch()
	if err := d.end(); err != nil {
		return nil, err
	}
	if p.session == nil {
		return nil, fmt.Errorf("%w: a request to a network that it does not have", errProtocol)
	}
	t := p.begin(r.ctx, key)
	if t == nil {
		return ended(errTooMany), nil
	}
	if !p.enterFetch() {
		t.end()
		return ended(errTooMany), nil
	}
	if upload != 0 {
		u := p.begin(t.ctx, callKey{r.id, upload})
		if u == nil {
			p.leaveFetch()
			t.end()
			return ended(errTooMany), nil
		}
		u.body = true
		f.Body = toolStream{u, wantInput}
	}
	f.Stderr = toolStream{t, wantError}
	go func() {
		defer t.end()
		if upload != 0 {
			e := newEncoder(8)
			e.byte(wantUpload)
			if _, err := t.want(e); err != nil {
				p.leaveFetch()
				return
			}
		}
		err := p.respond(t, r.fetcher(), f)
		p.leaveFetch() // before the worker hears of the end, and begins the next
		_, _ = t.want(ended(err))
	}()
	return t.next(), nil
}

var errTooMany = &sandbox.NetError{Kind: sandbox.NetUnreachable, Msg: "too many requests at a time"}

func (p *process) enterFetch() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fetching >= 2*maxFetches {
		return false
	}
	p.fetching++
	return true
}

func (p *process) leaveFetch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetching--
}

// respond makes the request and hands the response to the worker, as fast as
// it takes it.
func (p *process) respond(t *toolCall, by *sandbox.Fetcher, f sandbox.Fetch) error {
	res, err := by.Do(t.ctx, f)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	e := newEncoder(1024)
	e.byte(wantHead)
	e.response(res)
	if len(e.b)-headSize > maxSmall {
		return &sandbox.NetError{Kind: sandbox.NetTooLarge, Msg: "the head of the response is too large"}
	}
	if _, err := t.want(e); err != nil {
		return err
	}
	var to error
	_, err = io.CopyBuffer(toolOutput{toolStream{t, wantOutput}, &to}, res.Body, make([]byte, window/4))
	if to != nil {
		return nil // nobody reads it any more
	}
	return err
}

// toolOutput tells an end of the reader from one of what is read.
type toolOutput struct {
	toolStream
	err *error
}

func (o toolOutput) Write(p []byte) (n int, err error) {
	n, err = o.toolStream.Write(p)
	*o.err = err
	return n, err
}

// upload answers with what the body of a request wants first.
func (p *process) upload(r *serverRun, d *decoder) (*encoder, error) {
	key := callKey{r.id, d.uint()}
	if err := d.end(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	u := p.calls[key]
	p.mu.Unlock()
	if u == nil || !u.body {
		return ended(context.Canceled), nil
	}
	return u.next(), nil
}

// fetch writes a request, without its body, and who makes it. upload is the
// number under which the body is asked for; 0 for none.
func (e *encoder) fetch(f sandbox.Fetch, upload uint64) {
	for _, s := range [...]string{f.By, f.Method, f.URL, f.From} {
		e.string(s)
	}
	e.fields(f.Header)
	e.int(f.Size)
	e.int(int64(f.Connect))
	e.int(int64(f.Timeout))
	e.usage(f.Used)
	e.uint(upload)
}

func (d *decoder) fetch() (f sandbox.Fetch, upload uint64) {
	f.By, f.Method, f.URL, f.From = d.string(), d.string(), d.string(), d.string()
	f.Header, f.Size = d.fields(), d.int()
	f.Connect, f.Timeout = time.Duration(d.int()), time.Duration(d.int())
	f.Used, upload = d.usage(), d.uint()
	return f, upload
}

func (e *encoder) fields(h []sandbox.HeaderField) {
	list(e, h, func(f sandbox.HeaderField) { e.string(f.Name); e.string(f.Value) })
}

func (d *decoder) fields() []sandbox.HeaderField {
	return many(d, 2, func() sandbox.HeaderField { return sandbox.HeaderField{Name: d.string(), Value: d.string()} })
}

// response writes the head of one.
func (e *encoder) response(r *sandbox.Response) {
	for _, s := range [...]string{r.Proto, r.Reason, r.Remote} {
		e.string(s)
	}
	e.int(int64(r.Status))
	e.fields(r.Header)
	for _, t := range [...]time.Duration{r.Times.Resolved, r.Times.Connected, r.Times.Secured, r.Times.Answered} {
		e.int(int64(t))
	}
}

func (d *decoder) response() *sandbox.Response {
	r := &sandbox.Response{Proto: d.string(), Reason: d.string(), Remote: d.string(), Status: d.int32(), Header: d.fields()}
	for _, t := range [...]*time.Duration{&r.Times.Resolved, &r.Times.Connected, &r.Times.Secured, &r.Times.Answered} {
		*t = time.Duration(d.int())
	}
	return r
}
