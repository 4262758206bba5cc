package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a server process and its raw streams.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err *bufio.Reader
}

func start(t testing.TB, flags ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(donaxBinary(t), append([]string{"serve"}, flags...)...)}
	p.cmd.Env = append(os.Environ(), "DONAX_CACHE="+testCache(t))
	var errs [3]error
	var out, errw io.Reader
	p.in, errs[0] = p.cmd.StdinPipe()
	out, errs[1] = p.cmd.StdoutPipe()
	errw, errs[2] = p.cmd.StderrPipe()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // which has ended by then, if the test went well
	p.out, p.err = bufio.NewReader(out), bufio.NewReader(errw)
	return p
}

// modern is the _meta that a request of 2026-07-28 carries.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func (p *process) call(id int, tool, args string) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`+"\n", id, tool, args, modern); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) line() string {
	p.t.Helper()
	l, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// rest reads what is still written and waits for the end, which must come
// within limit.
func (p *process) rest(limit time.Duration) (out string, took time.Duration, err error) {
	p.t.Helper()
	began := time.Now()
	overdue := time.AfterFunc(limit, func() { _ = p.cmd.Process.Kill() })
	defer overdue.Stop()
	go io.Copy(io.Discard, p.err)
	b, _ := io.ReadAll(p.out)
	err = p.cmd.Wait()
	return string(b), time.Since(began), err
}

var terminalID = regexp.MustCompile(`t_[0-9a-f]{32}`)

// Whatever ends the server ends it cleanly and soon: status 0, a wait in
// progress answered where somebody may still read, nothing left behind.
func TestServeEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	for _, c := range []struct {
		name string
		end  func(p *process) error
		says string
	}{
		{"eof", func(p *process) error { return p.in.Close() }, `"running":true`},
		{"term", func(p *process) error { return p.cmd.Process.Signal(syscall.SIGTERM) }, ""},
		{"hup", func(p *process) error { return p.cmd.Process.Signal(syscall.SIGHUP) }, ""},
		{"int", func(p *process) error { return p.cmd.Process.Signal(os.Interrupt) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, "-q")
			for i, line := range []string{"while :; do :; done", "sleep 1000"} {
				p.call(i, "terminal_create", fmt.Sprintf(`{"command":%q}`, line))
				id := terminalID.FindString(p.line())
				p.call(10+i, "terminal_wait_for_exit", fmt.Sprintf(`{"terminalId":%q}`, id))
			}
			p.call(20, "terminal_release", `{"terminalId":"t_0"}`) // its answer says that the calls before it are in progress
			p.line()
			if err := c.end(p); err != nil {
				t.Fatal(err)
			}
			out, took, err := p.rest(20 * time.Second) // generous: it takes less than one
			if err != nil || !strings.Contains(out, c.says) {
				t.Errorf("%v, said %q", err, out)
			}
			t.Log("ended in", took)
		})
	}
}

// A script that is piped in gets all of its answers.
func TestServePiped(t *testing.T) {
	p := start(t, "-q")
	p.call(1, "terminal_create", `{"command":"echo hi"}`)
	if _, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{%s}}`+"\nnot json\n", modern); err != nil {
		t.Fatal(err)
	}
	p.in.Close()
	out, _, err := p.rest(20 * time.Second)
	if err != nil || strings.Count(out, "\n") != 3 || !strings.Contains(out, `"id":null,"error":{"code":-32700`) || !strings.Contains(out, "terminal_release") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Over HTTP a signal drains: a wait is answered, then the server ends.
func TestServeHTTPDrains(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	r := serveHTTP(t)
	id := terminalID.FindString(r.call("terminal_create", `{"command":"sleep 1000"}`))
	waited := make(chan string, 1)
	go func() { waited <- r.call("terminal_wait_for_exit", fmt.Sprintf(`{"terminalId":%q}`, id)) }()
	for r.metric("donax_tool_calls_in_progress") != 1 {
		time.Sleep(10 * time.Millisecond)
	}
	if err := r.p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := <-waited; !strings.Contains(got, `"running":true`) {
		t.Errorf("the wait: %q", got)
	}
	if _, took, err := r.p.rest(30 * time.Second); err != nil {
		t.Error(err)
	} else {
		t.Log("ended in", took)
	}
}
