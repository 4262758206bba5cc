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

// served feeds what a worker says to the server's end, with one run and one
// inspection under way.
func served(said []byte) (p *process, out *bytes.Buffer, killed bool, err error) {
	out = &bytes.Buffer{}
	mem := vfs.NewMem(vfs.MemConfig{Quota: vfs.NewQuota(vfs.QuotaConfig{MaxBytes: 1 << 20, MaxFiles: 100})})
	p = &process{
		cfg:    &Config{Policy: policy.AllowAll{}},
		limits: DefaultLimits,
		epoch:  func() uint64 { return 0 },
		conn:   newConn(wire{bytes.NewReader(said), io.Discard}),
		slay:   func() { killed = true },
		files:  newHostFiles([]vfs.MountPoint{{Path: "/", FS: mem, Mode: vfs.ReadWrite}}),
		asked:  make(chan struct{}, maxAsked), gone: make(chan struct{}),
		inspects: map[uint32]chan *decoder{2: make(chan *decoder, 1)}, calls: map[callKey]*toolCall{},
	}
	r := &serverRun{p: p, id: 1, ctx: context.Background(), in: strings.NewReader("input"), exited: make(chan struct{}),
		wake: make(chan struct{}, 1), over: make(chan struct{}), idle: make(chan struct{})}
	p.runs = map[uint32]*serverRun{1: r}
	go r.write(out, out)
	err = p.read()
	p.answers.Wait()
	close(r.over)
	<-r.idle
	return p, out, killed, err
}

// seeds are what a worker may rightly say.
func seeds() [][]byte {
	return [][]byte{
		frameOf(kindOutput, 1, func(e *encoder) { e.byte(1); e.b = append(e.b, "hello"...) }),
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
		"the end of nothing":       frameOf(kindExit, 9, func(e *encoder) { e.uint(0); e.error(nil) }),
		"two ends":                 bytes.Repeat(frameOf(kindExit, 1, func(e *encoder) { e.uint(0); e.error(nil) }), 2),
		"a status of 300":          frameOf(kindExit, 1, func(e *encoder) { e.uint(300); e.error(nil) }),
		"facts of nothing":         frameOf(kindInspected, 3, func(e *encoder) {}),
		"an action about commands": frameOf(kindDecide, 1, func(e *encoder) { e.uint(1); e.byte(9) }),
		"a count without members":  frameOf(kindDecide, 1, func(e *encoder) { e.uint(1); e.byte(actExec); e.string("x"); e.uint(1 << 40) }),
		"more after the message":   frameOf(kindInput, 1, func(e *encoder) { e.uint(1); e.uint(1); e.byte(0) }),
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
	now := time.Unix(1, 2)
	info := &fileInfo{name: "n", size: 3, mode: 0o644, mtime: now, stat: vfs.Stat{Dev: 1 + remoteDevs, Ino: 2, Nlink: 3, Ctime: now}}
	given := *info
	given.stat.Dev = 1
	round("info", func(e *encoder) { e.info(&given) }, func(d *decoder) any { i := d.info(); return []any{i.name, i.size, i.mode, i.mtime, i.stat} }, []any{info.name, info.size, info.mode, info.mtime, info.stat})
	for _, err := range []error{
		&sandbox.LimitError{What: "w", Flag: "f", Time: true}, &sandbox.ParseError{Line: 1, Col: 2, Msg: "m"}, &sandbox.Fault{Name: "n", Detail: "d"},
		context.Canceled, context.DeadlineExceeded, errors.New("other"), errors.Join(context.Canceled, sandbox.ErrAbandoned),
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
