package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// message is what tests look at in a line of the server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress int64           `json:"progress"`
		Message  string          `json:"message"`
	} `json:"params"`
	Result struct {
		IsError    bool `json:"isError"`
		Structured struct {
			TerminalID   string          `json:"terminalId"`
			Output       string          `json:"output"`
			Offset       int64           `json:"offset"`
			NextOffset   int64           `json:"nextOffset"`
			BytesWritten int64           `json:"bytesWritten"`
			Truncated    bool            `json:"truncated"`
			Running      bool            `json:"running"`
			ExitStatus   json.RawMessage `json:"exitStatus"`
		} `json:"structuredContent"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func parse(t testing.TB, line string) message {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return m
}

// callLine is a modern tools/call; more is put into _meta.
func callLine(id int, tool, args, more string) string {
	return macros.Replace(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{$FIELDS%s}}}`, id, tool, args, more))
}

// call sends a call and returns its answer; it must be the next line.
func (c *client) call(id int, tool, args string) message {
	c.t.Helper()
	c.send(callLine(id, tool, args, ""))
	m := parse(c.t, c.next())
	if string(m.ID) != fmt.Sprint(id) {
		c.t.Fatalf("answer to %s, want %d", m.ID, id)
	}
	return m
}

// start creates a terminal and returns its id.
func (c *client) start(command string) string {
	c.t.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		c.t.Fatal(err)
	}
	m := c.call(900, "terminal_create", string(args))
	if m.Result.Structured.TerminalID == "" {
		c.t.Fatalf("no terminal: %+v", m)
	}
	return m.Result.Structured.TerminalID
}

func idArg(id string) string { return fmt.Sprintf(`{"terminalId":%q}`, id) }

// stepper writes what it is given, piece by piece, and ends with the channel.
type stepper struct {
	fake
	pieces chan string
}

func (s *stepper) Run(ctx context.Context, _ policy.Command, _ io.Reader, out, _ io.Writer) (int, error) {
	for {
		select {
		case p, ok := <-s.pieces:
			if !ok {
				return 0, nil
			}
			io.WriteString(out, p)
		case <-ctx.Done():
			return 137, ctx.Err()
		}
	}
}

func TestProgressIsTheOutput(t *testing.T) {
	run := &stepper{pieces: make(chan string)}
	c := serve(t, context.Background(), newServer(t, mcp.Config{Host: termhost.New(termhost.Config{Runner: run, Engine: policy.AllowAll{}})}))
	id := c.start("steps")
	c.send(callLine(1, "terminal_wait_for_exit", idArg(id), `,"progressToken":"p"`))
	want := strings.Repeat("aé€😀\n", 5)
	var text strings.Builder
	var last int64
	var times []time.Time
	see := func() (ended bool) {
		m := parse(t, c.next())
		if m.Method == "" {
			return true
		}
		times = append(times, time.Now())
		text.WriteString(m.Params.Message)
		if m.Params.Progress <= last || string(m.Params.Token) != `"p"` {
			t.Errorf("progress %d after %d, token %s", m.Params.Progress, last, m.Params.Token)
		}
		if last = m.Params.Progress; last != int64(text.Len()) {
			t.Errorf("progress %d, text of %d bytes", last, text.Len())
		}
		return false
	}
	for i, b := range []byte(want) { // byte by byte: characters come in pieces
		run.pieces <- string([]byte{b})
		for utf8.ValidString(want[:i+1]) && text.Len() <= i {
			see()
		}
	}
	close(run.pieces)
	for !see() {
	}
	if out := c.call(2, "terminal_output", idArg(id)).Result.Structured; text.String() != want || out.Output != want {
		t.Errorf("progress %q, output %q, want %q", text.String(), out.Output, want)
	}
	// However fast it is written: at most twenty in any second.
	for i := 20; i < len(times); i++ {
		if d := times[i].Sub(times[i-20]); d < 900*time.Millisecond {
			t.Errorf("twenty-one messages in %v", d)
		}
	}
}

// Threats: PR-3.
func TestProgressOfAFlood(t *testing.T) {
	c := serve(t, context.Background(), newServer(t, mcp.Config{}))
	id := c.start("flood 3000")
	c.send(callLine(1, "terminal_wait_for_exit", idArg(id), `,"progressToken":1`))
	messages, shown, end := 0, "", int64(0)
	for {
		m := parse(t, c.next())
		if m.Method == "" {
			break
		}
		messages++
		if len(m.Params.Message) > 8<<10 {
			t.Errorf("a message of %d bytes", len(m.Params.Message))
		}
		shown, end = m.Params.Message, m.Params.Progress
	}
	if end != 3000<<10 || !strings.HasSuffix(shown, "0123456789abcde\n") {
		t.Errorf("the last message ends at %d: %q", end, shown[max(0, len(shown)-20):])
	}
	if messages > 40 {
		t.Errorf("%d messages", messages)
	}
}

func TestAnswersInAnyOrder(t *testing.T) {
	c := serve(t, context.Background(), newServer(t, mcp.Config{}))
	id := c.start("hang")
	c.send(callLine(1, "terminal_wait_for_exit", idArg(id), ""))
	other := c.start("echo other") // served while the wait is in progress
	c.call(3, "terminal_output", idArg(other))
	c.send(callLine(4, "terminal_kill", idArg(id), ""))
	got := map[string]bool{}
	for range 2 {
		got[string(parse(t, c.next()).ID)] = true
	}
	if !got["1"] || !got["4"] {
		t.Errorf("answers %v", got)
	}
}

func TestOutputIsCompleteAfterWait(t *testing.T) {
	c := serve(t, context.Background(), newServer(t, mcp.Config{}))
	for range 200 {
		id := c.start("bytes 5000")
		c.call(1, "terminal_wait_for_exit", idArg(id))
		if out := c.call(2, "terminal_output", idArg(id)).Result.Structured; out.BytesWritten != 5000 || len(out.Output) != 5000 {
			t.Fatalf("%d bytes after the wait", out.BytesWritten)
		}
		c.call(3, "terminal_release", idArg(id))
	}
}

func TestResultsAreBoundedAndAllCanBeRead(t *testing.T) {
	c := serve(t, context.Background(), newServer(t, mcp.Config{}))
	id := c.start("flood 300")
	c.call(1, "terminal_wait_for_exit", idArg(id))
	tail := c.call(2, "terminal_output", idArg(id)).Result.Structured
	if len(tail.Output) != 64<<10 || !tail.Truncated || tail.Offset != 236<<10 || tail.NextOffset != 300<<10 {
		t.Errorf("tail: %d bytes at %d, truncated %v", len(tail.Output), tail.Offset, tail.Truncated)
	}
	var all strings.Builder
	for off := int64(0); ; {
		m := c.call(3, "terminal_output", fmt.Sprintf(`{"terminalId":%q,"offset":%d}`, id, off)).Result.Structured
		all.WriteString(m.Output)
		if m.Offset != off || m.Truncated {
			t.Fatalf("asked for %d, got %d", off, m.Offset)
		}
		if off = m.NextOffset; off == m.BytesWritten {
			break
		}
	}
	if want := strings.Repeat(strings.Repeat("0123456789abcde\n", 64), 300); all.String() != want {
		t.Errorf("read %d bytes, want %d", all.Len(), len(want))
	}

	// A creator that wants more gets more, but never a message that breaks a client.
	m := c.call(4, "terminal_create", `{"command":"raw \"\\x00\"","outputByteLimit":8388608}`)
	c.call(5, "terminal_wait_for_exit", idArg(m.Result.Structured.TerminalID))
	big := c.call(6, "terminal_create", `{"command":"bytes 3000000","outputByteLimit":3000000}`).Result.Structured.TerminalID
	c.call(7, "terminal_wait_for_exit", idArg(big))
	c.send(callLine(8, "terminal_output", idArg(big), ""))
	if l := c.next(); len(l) > 3<<20 || len(parse(t, l).Result.Structured.Output) != 1<<20 {
		t.Errorf("a line of %d bytes", len(l))
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}})
	s := newServer(t, mcp.Config{Host: host, Tools: fixtures()})
	ctx, cancel := context.WithCancel(context.Background())
	c := serve(t, ctx, s)
	id := c.start("hang")
	c.send(callLine(1, "terminal_wait_for_exit", idArg(id), ""))
	c.send(callLine(2, "hang", `{}`, ""))
	c.call(3, "nothing", `{}`)
	cancel()
	select {
	case err := <-c.done:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Serve does not end")
	}
	if n := len(host.List(policy.Principal{Sub: "local", Auth: "process"})); n != 0 {
		t.Errorf("%d terminals live on", n)
	}
}

func TestTheEndOfTheInputEndsTheTerminals(t *testing.T) {
	before := runtime.NumGoroutine()
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}, Limits: termhost.Limits{Idle: -1}})
	s := newServer(t, mcp.Config{Host: host})
	other := serve(t, context.Background(), s)
	kept := other.start("hang")
	c := serve(t, context.Background(), s)
	c.start("hang")
	if rest, err := c.end(); len(rest) != 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	// Another connection of the same principal keeps its own.
	list := host.List(policy.Principal{Sub: "local", Auth: "process"})
	if len(list) != 1 || list[0].ID() != kept {
		t.Errorf("%d terminals left", len(list))
	}
	other.end()
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 200 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("no more") }

func TestServeReportsBrokenStreams(t *testing.T) {
	s := newServer(t, mcp.Config{})
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if err := s.Serve(context.Background(), r, brokenWriter{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("writer: %v", err)
	}
	if err := s.Serve(context.Background(), brokenReader{}, io.Discard); err == nil || err.Error() != "no more" {
		t.Errorf("reader: %v", err)
	}
}

// stalled is a client that does not read.
type stalled struct {
	open  chan struct{}
	wrote atomic.Int64
	lines atomic.Int64
	last  []byte // the last line
}

func (s *stalled) Write(p []byte) (int, error) {
	<-s.open
	s.wrote.Add(int64(len(p)))
	s.lines.Add(1) // the server writes whole lines
	s.last = append(s.last[:0], p[:min(len(p), 4096)]...)
	return len(p), nil
}

func TestAClientThatDoesNotRead(t *testing.T) {
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}})
	s := newServer(t, mcp.Config{Host: host})
	// Two clients of one principal: the second sees the command end while the first reads nothing.
	c := serve(t, context.Background(), s)
	id := c.start("flood 20000")
	inR, inW := io.Pipe()
	w := &stalled{open: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background(), inR, w) }()
	io.WriteString(inW, callLine(1, "terminal_wait_for_exit", idArg(id), `,"progressToken":"p"`)+"\n")
	if m := c.call(2, "terminal_wait_for_exit", idArg(id)); m.Result.Structured.Running || m.Result.Structured.BytesWritten != 20000<<10 {
		t.Errorf("the command did not end: %+v", m.Result.Structured)
	}
	close(w.open)
	inW.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if last := parse(t, string(w.last)); string(last.ID) != "1" {
		t.Errorf("no answer at last: %s", w.last)
	}
	if w.wrote.Load() > 1<<20 {
		t.Errorf("%d bytes were held for a client that does not read", w.wrote.Load())
	}
}

func TestCallsAreBounded(t *testing.T) {
	c := serve(t, context.Background(), newServer(t, mcp.Config{Tools: fixtures(), Limits: mcp.Limits{Calls: 2, Requests: 3}}))
	c.send(callLine(1, "hang", `{}`, ""))
	c.send(callLine(2, "hang", `{}`, ""))
	// The two are counted only once the SDK has started them.
	for {
		c.send(callLine(3, "nothing", `{}`, ""))
		m := parse(t, c.next())
		if m.Result.IsError {
			if want := "busy: 2 calls are in progress, which is the limit; retry in a moment"; m.Result.Content[0].Text != want {
				t.Errorf("got %q", m.Result.Content[0].Text)
			}
			break
		}
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	for {
		if m := c.call(4, "nothing", `{}`); !m.Result.IsError {
			break
		}
	}
}

// Every request gets exactly one answer unless it was cancelled, whatever is
// mixed in between.
func TestStress(t *testing.T) {
	for round := range 3 {
		rng := rand.New(rand.NewPCG(uint64(round), 1))
		c := serve(t, context.Background(), newServer(t, mcp.Config{Tools: fixtures(), Limits: mcp.Limits{Calls: 4000, Requests: 4000, Drain: 10 * time.Second}}))
		c.send(macros.Replace("$INIT"))
		parse(t, c.next())
		junk := []string{"x", "{", "[]", "{}", `{"jsonrpc":"2.0"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "\x00\xff", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","method":"ping","method":"ping"}`}
		want, cancelled, faults := map[string]bool{}, map[string]bool{}, 0
		for i := 1; i <= 1500; i++ {
			key := fmt.Sprint(i)
			switch rng.IntN(6) {
			case 0:
				c.send(callLine(i, "nothing", `{}`, ""))
				want[key] = true
			case 1:
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fail"}}`, i))
				want[key] = true
			case 2:
				c.send(junk[rng.IntN(len(junk))])
				faults++
			case 3:
				c.send(callLine(i, "hang", `{}`, ""))
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
				cancelled[key] = true
			case 4:
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
				want[key] = true
			case 5:
				c.send(callLine(i, "terminal_create", `{"command":"exit 0"}`, ""))
				want[key] = true
			}
		}
		lines, err := c.end()
		if err != nil {
			t.Error(err)
		}
		got := map[string]int{}
		for _, l := range lines {
			got[string(parse(t, l).ID)]++
		}
		if got["null"] != faults { // all of them without an id that could be read
			t.Errorf("%d faults for %d bad lines", got["null"], faults)
		}
		for id := range want {
			if got[id] != 1 {
				t.Errorf("id %s answered %d times", id, got[id])
			}
		}
		for id := range cancelled {
			if got[id] != 0 {
				t.Errorf("cancelled id %s answered", id)
			}
		}
	}
}

// Threats: PR-1.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		"{", `[]`, `"`, `{"jsonrpc":"2.0","id":"x","method":"tools/list"}`, macros.Replace("$INIT"),
		callLine(1, "nothing", `{}`, ""), callLine(1, "terminal_create", `{"command":"exit 0"}`, `,"progressToken":0`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[],"_meta":5}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1e3}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"\u006aso":"\ud83d\ude00","a":[1.5e3,-0,true,null]}`,
	} {
		f.Add([]byte(s))
	}
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.EngineFunc(rules)})
	s, err := mcp.New(mcp.Config{Host: host, Tools: slices.DeleteFunc(fixtures(), func(t mcp.Tool) bool { return t.Name == "hang" }), Limits: mcp.Limits{Drain: patience}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in := io.MultiReader(bytes.NewReader(b), strings.NewReader("\n"+`{"jsonrpc":"2.0","id":"the last one","method":"ping"}`+"\n"))
		var out bytes.Buffer
		if err := s.Serve(context.Background(), in, &out); err != nil {
			t.Fatal(err)
		}
		answered := false
		sc := bufio.NewScanner(&out)
		sc.Buffer(nil, 16<<20)
		for sc.Scan() {
			if !json.Valid(sc.Bytes()) {
				t.Fatalf("wrote %q", sc.Bytes())
			}
			answered = answered || bytes.Contains(sc.Bytes(), []byte(`"the last one"`))
		}
		if !answered {
			t.Fatalf("nothing is answered after %q", b)
		}
	})
}
