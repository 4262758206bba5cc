package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// frameOf builds the bytes of a frame.
func frameOf(k kind, id uint32, put func(*encoder)) []byte {
	e := newEncoder(64)
	put(e)
	binary.LittleEndian.PutUint32(e.b, uint32(len(e.b)-headSize))
	e.b[4] = byte(k)
	binary.LittleEndian.PutUint32(e.b[5:], id)
	return e.b
}

// wire is a socket whose other end has said what it had to say.
type wire struct {
	io.Reader
	io.Writer
}

func (wire) Close() error { return nil }

// mirror is a network that sends back what it gets.
type mirror struct {
	wait      int64 // the worker is silent until so many requests are under way
	now, most atomic.Int64
}

// Read is the silence, and then the end.
func (m *mirror) Read([]byte) (int, error) {
	for range 3000 {
		if m.now.Load() >= m.wait {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, io.EOF
}

func (m *mirror) Close() error { m.now.Add(-1); return nil }

func (m *mirror) Do(ctx context.Context, r sandbox.Request, admit sandbox.Admit) (*sandbox.Response, error) {
	if err := admit(ctx, policy.Net{Host: r.URL, Method: r.Method, Bytes: r.Size}); err != nil {
		return nil, err
	}
	var body io.Reader = strings.NewReader(r.URL)
	if r.Body != nil {
		body = io.MultiReader(body, r.Body)
	}
	for n := m.now.Add(1); ; {
		if most := m.most.Load(); n <= most || m.most.CompareAndSwap(most, n) {
			break
		}
	}
	return &sandbox.Response{Status: 200, Header: r.Header, Body: struct {
		io.Reader
		io.Closer
	}{body, m}}, nil
}

// served feeds what a worker says to the server's end, with one run and one
// inspection under way.
func served(said []byte) (p *process, out *bytes.Buffer, killed bool, err error) {
	return servedWith(said, &mirror{})
}

func servedWith(said []byte, m *mirror) (p *process, out *bytes.Buffer, killed bool, err error) {
	out = &bytes.Buffer{}
	mem := vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{MaxBytes: 1 << 20, MaxFiles: 100})})
	p = &process{
		cfg:    &Config{Policy: policy.AllowAll{}},
		limits: DefaultLimits,
		epoch:  func() uint64 { return 0 },
		conn:   newConn(wire{io.MultiReader(bytes.NewReader(said), m), io.Discard}),
		slay:   func() { killed = true },
		asked:  make(chan struct{}, maxAsked), gone: make(chan struct{}),
		inspects: map[uint32]chan *decoder{2: make(chan *decoder, 1)}, calls: map[callKey]*toolCall{},
	}
	var err2 error
	if p.files, err2 = newHostFiles([]vfs.MountPoint{{Path: "/", FS: mem, Mode: vfs.ReadWrite}}, p); err2 != nil {
		return nil, out, false, err2
	}
	p.session, err2 = sandbox.New(sandbox.Config{FS: mem, Policy: policy.AllowAll{}, Network: m, Limits: sandbox.Limits{Net: 1 << 20}, Dir: "/"})
	if err2 != nil {
		return nil, out, false, err2
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := &serverRun{p: p, id: 1, ctx: ctx, in: strings.NewReader("input"), exited: make(chan struct{}),
		wake: make(chan struct{}, 1), over: make(chan struct{}), idle: make(chan struct{})}
	r.fetcher = sync.OnceValue(func() *sandbox.Fetcher { return p.session.Fetcher(ctx, policy.Command{}) })
	p.runs = map[uint32]*serverRun{1: r}
	go r.write(out, out)
	err = p.read()
	cancel() // the worker says nothing more, so what waits for it would for ever
	p.answers.Wait()
	close(r.over)
	<-r.idle
	return p, out, killed, err
}

// aFetch is a request to the network, with a body when upload is not 0.
func aFetch(id uint32, run, call, upload uint64) []byte {
	return frameOf(kindFetch, id, func(e *encoder) {
		e.uint(run)
		e.uint(call)
		e.fetch(sandbox.Fetch{By: "curl", Used: policy.Usage{Execs: 1}, Request: sandbox.Request{
			Method: "GET", URL: "http://a.test/", Header: []sandbox.HeaderField{{Name: "A", Value: "b"}}, Size: -1, Timeout: time.Second,
		}}, upload)
	})
}

// seeds are what a worker may rightly say.
func seeds() [][]byte {
	return [][]byte{
		frameOf(kindOutput, 1, func(e *encoder) { e.byte(1); e.b = append(e.b, "hello"...) }),
		frameOf(kindBegun, 1, func(e *encoder) {}),
		frameOf(kindExit, 1, func(e *encoder) { e.uint(3); e.error(&sandbox.LimitError{What: "x", Time: true}) }),
		frameOf(kindInspected, 2, func(e *encoder) {
			e.error(nil)
			e.facts(policy.Command{Text: "ls", Calls: []policy.Call{{Name: "ls", Args: []string{"-l"}, Dynamic: []int{0}}}})
		}),
		frameOf(kindDecide, 7, func(e *encoder) {
			e.uint(1)
			e.action(&policy.Action{Kind: policy.KindExec, Exec: &policy.Exec{Name: "ls", Args: []string{"a"}}})
			e.usage(policy.Usage{Execs: 1})
		}),
		frameOf(kindInput, 8, func(e *encoder) { e.uint(1); e.uint(3) }),
		frameOf(kindFile, 9, func(e *encoder) {
			e.byte(byte(opOpen))
			e.uint(0)
			e.string("/f")
			e.int(int64(os.O_CREATE | os.O_RDWR))
			e.uint(0o644)
		}),
		aFetch(14, 1, 5, 0),
		aFetch(15, 1, 6, 7),
		frameOf(kindUpload, 16, func(e *encoder) { e.uint(1); e.uint(7) }),
		frameOf(kindStep, 17, func(e *encoder) { e.uint(1); e.uint(5); e.bytes(nil); e.bool(false); e.bool(false) }),
		frameOf(kindStep, 18, func(e *encoder) { e.uint(1); e.uint(7); e.bytes([]byte("body")); e.bool(false); e.bool(true) }),
		frameOf(kindDone, 19, func(e *encoder) { e.uint(1); e.uint(5) }),
		frameOf(kindFile, 10, func(e *encoder) { e.byte(byte(opWrite)); e.uint(1); e.bytes([]byte("data")) }),
		frameOf(kindFile, 11, func(e *encoder) { e.byte(byte(opReadAt)); e.uint(1); e.uint(10); e.int(0) }),
		frameOf(kindFile, 12, func(e *encoder) { e.byte(byte(opReadDir)); e.uint(1); e.uint(10) }),
		frameOf(kindFile, 13, func(e *encoder) {
			e.byte(byte(opChtimes))
			e.uint(0)
			e.string("/f")
			e.time(time.Time{})
			e.time(time.Now())
		}),
	}
}

// TestRightfulFrames: each seed is taken.
func TestRightfulFrames(t *testing.T) {
	for i, s := range seeds() {
		if _, _, killed, err := served(s); err != io.EOF || killed {
			t.Errorf("frame %d: %v, killed %v", i, err, killed)
		}
	}
	if _, out, _, _ := served(seeds()[0]); out.String() != "hello" {
		t.Errorf("output %q", out)
	}
}

// TestLies are messages that make no sense. The first of them ends the worker.
//
// Threats: WO-5.
func TestLies(t *testing.T) {
	long := make([]byte, headSize)
	binary.LittleEndian.PutUint32(long, 1<<31)
	long[4] = byte(kindOutput)
	lies := map[string][]byte{
		"an endless frame":         long,
		"a kind of the server's":   frameOf(kindRun, 1, func(e *encoder) {}),
		"an unknown kind":          frameOf(200, 1, func(e *encoder) {}),
		"output of no run":         frameOf(kindOutput, 5, func(e *encoder) { e.byte(1) }),
		"a third stream":           frameOf(kindOutput, 1, func(e *encoder) { e.byte(3) }),
		"output without stream":    frameOf(kindOutput, 1, func(e *encoder) {}),
		"more output than room":    frameOf(kindOutput, 1, func(e *encoder) { e.byte(1); e.b = append(e.b, make([]byte, window+1)...) }),
		"the beginning of nothing": frameOf(kindBegun, 9, func(e *encoder) {}),
		"the end of nothing":       frameOf(kindExit, 9, func(e *encoder) { e.uint(0); e.error(nil) }),
		"two ends":                 bytes.Repeat(frameOf(kindExit, 1, func(e *encoder) { e.uint(0); e.error(nil) }), 2),
		"a status of 300":          frameOf(kindExit, 1, func(e *encoder) { e.uint(300); e.error(nil) }),
		"facts of nothing":         frameOf(kindInspected, 3, func(e *encoder) {}),
		"an action about commands": frameOf(kindDecide, 1, func(e *encoder) { e.uint(1); e.byte(9) }),
		"a request without a run":  frameOf(kindDecide, 1, func(e *encoder) {}),
		"a step without a run":     frameOf(kindStep, 1, func(e *encoder) {}),
		"a fetch without a run":    frameOf(kindFetch, 1, func(e *encoder) {}),
		"a count without members":  frameOf(kindDecide, 1, func(e *encoder) { e.uint(1); e.byte(actExec); e.string("x"); e.uint(1 << 40) }),
		"more after the message":   frameOf(kindInput, 1, func(e *encoder) { e.uint(1); e.uint(1); e.byte(0) }),
		"a head without fields":    frameOf(kindFetch, 1, func(e *encoder) { e.uint(1); e.uint(5); e.b = append(e.b, 0, 0, 0, 0, 255, 255, 255, 127) }),
		"half a request":           frameOf(kindFetch, 1, func(e *encoder) { e.uint(1); e.uint(5); e.string("curl") }),
		"more after an upload":     frameOf(kindUpload, 1, func(e *encoder) { e.uint(1); e.uint(5); e.byte(0) }),
		"a huge read":              frameOf(kindFile, 1, func(e *encoder) { e.byte(byte(opRead)); e.uint(1); e.uint(1 << 30) }),
		"a mount that is not":      frameOf(kindFile, 1, func(e *encoder) { e.byte(byte(opStat)); e.uint(4); e.string("/") }),
		"an operation that is not": frameOf(kindFile, 1, func(e *encoder) { e.byte(99); e.uint(1) }),
	}
	for name, said := range lies {
		_, _, killed, err := served(said)
		if !errors.Is(err, errProtocol) && !killed {
			t.Errorf("%s: %v, killed %v", name, err, killed)
		}
	}
}

// FuzzServer lets a worker say anything: the server takes it or ends it.
//
// Threats: WO-5.
func FuzzServer(f *testing.F) {
	var all []byte
	for _, s := range seeds() {
		f.Add(s)
		all = append(all, s...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, said []byte) {
		p, out, _, err := served(said)
		if err == nil {
			t.Fatal("reading ended without a reason")
		}
		if out.Len() > len(said) {
			t.Errorf("%d bytes of output from %d", out.Len(), len(said))
		}
		if p.busy() && len(p.runs) > 1 {
			t.Error("a run came from nowhere")
		}
		p.files.closeAll()
	})
}

// TestCodec: what is written is what is read.
func TestCodec(t *testing.T) {
	round := func(name string, put func(*encoder), get func(*decoder) any, want any) {
		t.Helper()
		e := newEncoder(10)
		put(e)
		d := &decoder{b: e.b[headSize:]}
		got := get(d)
		if err := d.end(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for n := range e.b[headSize:] { // and a part of it is an error, never a panic
			d := &decoder{b: e.b[headSize : headSize+n]}
			get(d)
			if d.end() == nil {
				t.Errorf("%s: %d of %d bytes are enough", name, n, len(e.b)-headSize)
			}
		}
	}
	c := policy.Command{Text: "a\x00é", Args: []string{"x", ""}, Name: "n", Script: true, Params: []string{"p"}, Cwd: "/", Environ: []string{"A=b"}, Limits: policy.Limits{TimeoutMS: 1, OutputBytes: 2, MemoryBytes: 3, Commands: 4}}
	round("request", func(e *encoder) { e.request(c) }, func(d *decoder) any { return d.request() }, c)
	facts := policy.Command{Text: "t", Cwd: "/w", Env: []string{"A"}, Static: true, Features: []string{"pipe"}, Limits: c.Limits,
		Calls: []policy.Call{{Name: "n", Args: []string{"a"}, Dynamic: []int{1}, Assigns: []string{"X"}, Redirects: []policy.Redirect{{Op: ">", Target: "f"}}, Line: 2}}}
	round("facts", func(e *encoder) { e.facts(facts) }, func(d *decoder) any { return d.facts() }, facts)
	exec := policy.Action{Kind: policy.KindExec, Exec: &policy.Exec{Name: "n", Args: []string{"a"}, Kind: "box", SHA256: "s", Cwd: "/", Depth: 2, Ancestors: []string{"x"}, Assigns: []string{"A"}, Background: true}}
	round("exec", func(e *encoder) { e.action(&exec) }, func(d *decoder) any { return d.action() }, exec)
	file := policy.Action{Kind: policy.KindFile, File: &policy.File{Op: "read", Path: "/p", Requested: "/r", To: "/t", Mount: "/m", By: "b"}}
	round("file", func(e *encoder) { e.action(&file) }, func(d *decoder) any { return d.action() }, file)
	dec := policy.Decision{ID: "i", Effect: policy.Ask, Reasons: []policy.Reason{{Msg: "m", Rule: "r", Hint: "h"}}, Warnings: []policy.Reason{{Msg: "w"}}, Limits: c.Limits}
	round("decision", func(e *encoder) { e.decision(dec) }, func(d *decoder) any { return d.decision() }, dec)
	fetch := sandbox.Fetch{By: "curl", Used: policy.Usage{Execs: 1, OutputBytes: 2, CPUMS: 3}, Request: sandbox.Request{
		Method: "PUT", URL: "u", From: "f", Header: []sandbox.HeaderField{{Name: "A", Value: ""}}, Size: -1, Connect: 1, Timeout: 2,
	}}
	round("fetch", func(e *encoder) { e.fetch(fetch, 9) }, func(d *decoder) any { f, up := d.fetch(); return []any{f, up} }, []any{fetch, uint64(9)})
	res := &sandbox.Response{Proto: "HTTP/1.1", Status: 200, Reason: "OK", Header: fetch.Header, Remote: "r", Times: sandbox.NetTimes{Resolved: 1, Connected: 2, Secured: 3, Answered: 4}}
	round("response", func(e *encoder) { e.response(res) }, func(d *decoder) any { return d.response() }, res)
	now := time.Unix(1, 2)
	info := &fileInfo{name: "n", size: 3, mode: 0o644, mtime: now, stat: vfs.Stat{Dev: 1 + remoteDevs, Ino: 2, Nlink: 3, Ctime: now}}
	given := *info
	given.stat.Dev = 1
	round("info", func(e *encoder) { e.info(&given) }, func(d *decoder) any { i := d.info(); return []any{i.name, i.size, i.mode, i.mtime, i.stat} }, []any{info.name, info.size, info.mode, info.mtime, info.stat})
	for _, err := range []error{
		&sandbox.LimitError{What: "w", Flag: "f", Time: true}, &sandbox.ParseError{Line: 1, Col: 2, Msg: "m"}, &sandbox.Fault{Name: "n", Detail: "d"},
		&sandbox.NetError{Kind: sandbox.NetDenied, Msg: "no"}, context.Canceled, context.DeadlineExceeded, errors.New("other"), errors.Join(context.Canceled, sandbox.ErrAbandoned),
	} {
		e := newEncoder(10)
		e.error(err)
		d := &decoder{b: e.b[headSize:]}
		got := d.error()
		if bad := d.end(); bad != nil || errors.Is(got, sandbox.ErrAbandoned) != errors.Is(err, sandbox.ErrAbandoned) || !strings.HasPrefix(got.Error(), strings.Split(err.Error(), "\n")[0]) {
			t.Errorf("%v came as %v (%v)", err, got, bad)
		}
	}
	if _, err := readFrame(bufio.NewReader(strings.NewReader("abc"))); err == nil {
		t.Error("half a head is a frame")
	}
}

// TestFetchLies: a worker gets no request past the bounds on what is under way,
// none for a line that has ended, and none where there is no network.
//
// Threats: WO-10.
func TestFetchLies(t *testing.T) {
	var many []byte
	for i := range uint32(200) {
		many = append(many, aFetch(i, 1, uint64(i), 0)...)
	}
	for _, c := range []struct {
		name string
		said []byte
		want int64
	}{
		{"200 requests", many, 2 * maxFetches},
		{"one number for two", append(aFetch(1, 1, 5, 0), aFetch(2, 1, 5, 0)...), 1},
		{"a line that is none", aFetch(1, 2, 5, 0), 0},
	} {
		m := &mirror{wait: c.want}
		if _, _, killed, err := servedWith(c.said, m); killed || err != io.EOF || m.most.Load() != c.want {
			t.Errorf("%s: %d, killed %v, %v", c.name, m.most.Load(), killed, err)
		}
	}
	none := &process{cfg: &Config{}, calls: map[callKey]*toolCall{}}
	if _, err := none.fetch(&serverRun{}, &decoder{b: aFetch(1, 1, 5, 0)[headSize+1:]}); !errors.Is(err, errProtocol) {
		t.Errorf("without a network: %v", err)
	}
}
