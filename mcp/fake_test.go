package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// fake is a Runner with a handful of commands. It knows no shell.
type fake struct{}

func (fake) Inspect(_ context.Context, c policy.Command) (policy.Command, error) {
	if c.Text == "((" {
		return c, errors.New("line 1: syntax error")
	}
	if c.Cwd == "" {
		c.Cwd = "/workspace"
	}
	return c, nil
}

func (fake) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	verb, rest, _ := strings.Cut(c.Text, " ")
	switch verb {
	case "echo":
		fmt.Fprintln(out, rest)
	case "env":
		fmt.Fprintln(out, strings.Join(c.Environ, " "), c.Cwd)
	case "cat":
		io.Copy(out, in)
	case "exit":
		return strconv.Atoi(rest)
	case "hang": // writes, then runs until it is stopped
		io.WriteString(out, rest)
		<-ctx.Done()
		return 137, ctx.Err()
	case "bytes": // "bytes N": N times x
		n, _ := strconv.Atoi(rest)
		io.WriteString(out, strings.Repeat("x", n))
	case "raw": // "raw QUOTED": exactly these bytes
		s, err := strconv.Unquote(rest)
		if err != nil {
			return 2, nil
		}
		io.WriteString(out, s)
	case "slow": // "slow N": N lines, 10 ms apart
		n, _ := strconv.Atoi(rest)
		for i := range n {
			fmt.Fprintf(out, "line %d é€😀\n", i)
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return 137, ctx.Err()
			}
		}
	case "flood": // "flood N": N KiB as fast as they go
		n, _ := strconv.Atoi(rest)
		for range n {
			io.WriteString(out, strings.Repeat("0123456789abcde\n", 64))
		}
	case "ask": // "ask NAME": would start a program that needs approval
		a := policy.Action{Kind: policy.KindExec, Subject: policy.SubjectFrom(ctx), Exec: &policy.Exec{Name: rest}}
		if _, err := policy.Check(ctx, policy.Asking(policy.EngineFunc(rules), nil), a); err != nil {
			fmt.Fprintln(out, err)
			return 126, nil
		}
		fmt.Fprintln(out, "started", rest)
	case "limit":
		return 137, errors.New("limit: output 1 GiB (raise with --output)")
	case "fault":
		return 125, errors.New("open /host/secret: no")
	default:
		return 127, nil
	}
	return 0, nil
}

// rules denies rm and output of 1313 bytes, redacts hush-hush, and warns of
// echo careful.
func rules(_ context.Context, a policy.Action) (policy.Decision, error) {
	if a.Kind == policy.KindOutput {
		if a.Output.Bytes == 1313 {
			return policy.Decision{ID: "d3", Reasons: []policy.Reason{{Msg: "this stays inside", Rule: "stay"}}}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	}
	if a.Kind == policy.KindExec {
		return policy.Decision{ID: "d4", Effect: policy.Ask, Reasons: []policy.Reason{{Msg: "it is a program", Rule: "program"}}}, nil
	}
	switch c := a.Command.Text; {
	case strings.HasPrefix(c, "rm"):
		return policy.Decision{ID: "d1", Reasons: []policy.Reason{{Msg: "rm is refused", Rule: "no_rm", Hint: "move it to /workspace/trash", Location: "/host/rules.rego:7"}}}, nil
	case strings.HasPrefix(c, "echo danger"):
		return policy.Decision{ID: "d2", Effect: policy.Ask, Reasons: []policy.Reason{{Msg: "it is dangerous", Rule: "danger"}}}, nil
	case c == "echo careful":
		return policy.Decision{Effect: policy.Allow, Warnings: []policy.Reason{{Msg: "careful indeed"}}}, nil
	}
	return policy.Decision{Effect: policy.Allow, Redact: []policy.Redaction{{Name: "hush", Pattern: `hush-\w+`}, {Name: "key", Pattern: "<<<", Until: ">>>"}}}, nil
}

// fixtures are tools beside the five that fail in ways a terminal does not.
func fixtures() []mcp.Tool {
	object := json.RawMessage(`{"type":"object"}`)
	tool := func(name string, call func(context.Context, *mcp.Call) (*mcp.Result, error)) mcp.Tool {
		return mcp.Tool{Name: name, Description: "A fixture.", InputSchema: object, Call: call}
	}
	return []mcp.Tool{
		tool("panic", func(context.Context, *mcp.Call) (*mcp.Result, error) { panic("boom") }),
		tool("hang", func(ctx context.Context, _ *mcp.Call) (*mcp.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		tool("whoami", func(ctx context.Context, c *mcp.Call) (*mcp.Result, error) {
			s := policy.SubjectFrom(ctx)
			s.Session.ID = ""
			return &mcp.Result{Structured: s}, nil
		}),
		tool("fail", func(context.Context, *mcp.Call) (*mcp.Result, error) { return nil, errors.New("it failed <here>") }),
		tool("nothing", func(context.Context, *mcp.Call) (*mcp.Result, error) { return nil, nil }),
	}
}

func newServer(t testing.TB, c mcp.Config) *mcp.Server {
	t.Helper()
	if c.Host == nil {
		c.Host = termhost.New(termhost.Config{Runner: fake{}, Engine: policy.EngineFunc(rules)})
	}
	if c.Info.Version == "" {
		c.Info.Version = "0.0.0-test"
	}
	if c.Limits.Drain == 0 {
		c.Limits.Drain = 200 * time.Millisecond
	}
	s, err := mcp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client talks to a Serve over a pipe.
type client struct {
	t     testing.TB
	in    io.WriteCloser
	out   *bufio.Reader
	lines chan string // all that the server writes; closed at its end
	done  chan error
}

func serve(t testing.TB, ctx context.Context, s *mcp.Server) *client {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, in: inW, lines: make(chan string, 10_000), done: make(chan error, 1)}
	go func() {
		c.done <- s.Serve(ctx, inR, outW)
		outW.Close()
		inR.Close()
	}()
	go func() {
		defer close(c.lines)
		defer outR.Close()
		br := bufio.NewReader(outR)
		for {
			l, err := br.ReadString('\n')
			if err != nil {
				if l != "" {
					t.Errorf("half a line: %q", l)
				}
				return
			}
			if !json.Valid([]byte(l)) {
				t.Errorf("not JSON: %q", l)
			}
			c.lines <- strings.TrimSuffix(l, "\n")
		}
	}()
	t.Cleanup(func() { inW.Close() })
	return c
}

func (c *client) send(line string) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Errorf("send: %v", err)
	}
}

const patience = 20 * time.Second

// next returns the next line, or fails the test.
func (c *client) next() string {
	c.t.Helper()
	select {
	case l, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the server has ended")
		}
		return l
	case <-time.After(patience):
		c.t.Fatal("no answer")
	}
	return ""
}

// end closes the input and returns what still came, and Serve's error.
func (c *client) end() (rest []string, err error) {
	c.t.Helper()
	c.in.Close()
	for {
		select {
		case l, ok := <-c.lines:
			if !ok {
				return rest, <-c.done
			}
			rest = append(rest, l)
		case <-time.After(patience):
			c.t.Fatal("Serve does not end")
		}
	}
}
