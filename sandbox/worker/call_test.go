package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// TestServerPrograms: programs of the server run there, with the streams of the
// line, the policy of whoever asks, and the session's files.
func TestServerPrograms(t *testing.T) {
	t.Parallel()
	ended := make(chan string, 10)
	shout := native{"shout", func(ctx context.Context, p *sandbox.Proc) error {
		in, err := io.ReadAll(p.Stdin)
		if err != nil {
			return err
		}
		_, err = p.Admit(ctx, policy.Action{Kind: policy.KindTool, Tool: &policy.Tool{Server: "s", Name: p.Args[1]}})
		if errors.Is(err, policy.ErrDenied) {
			fmt.Fprintln(p.Stderr, err)
			return sandbox.ExitCode(126)
		}
		f, err := p.FS.Open("/left", os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		f.Close()
		fmt.Fprintf(p.Stdout, "%s %s %v %s\n", strings.ToUpper(string(in)), p.Args[1], p.Shown, p.Dir)
		return sandbox.ExitCode(7)
	}}
	wait := native{"wait-here", func(ctx context.Context, p *sandbox.Proc) error {
		fmt.Fprintln(p.Stdout, "begun")
		<-ctx.Done()
		ended <- "ended"
		return ctx.Err()
	}}
	big := native{"big", func(_ context.Context, p *sandbox.Proc) error {
		if _, err := p.Stdout.Write(make([]byte, 1<<20)); err != nil {
			return sandbox.ExitCode(1) // any other error would end the script, if it came before wc
		}
		return nil
	}}
	engine := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Tool != nil && (a.Tool.Name == "no" || a.Principal.Sub != "a") {
			return policy.Decision{Reasons: []policy.Reason{{Msg: "not this one"}}}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	})
	c := config(t)
	c.Policy = engine
	c.Lookup = func(name string) sandbox.Program {
		for _, p := range []native{shout, wait, big} {
			if p.name == name {
				return p
			}
		}
		return nil
	}
	var err error
	c.Session, err = sandbox.New(sandbox.Config{FS: c.Mounts[1].FS, Policy: engine, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	p := pool(t, c)
	ctx := as(t.Context(), "a")
	for line, want := range map[string]string{
		"echo -n hi | shout yes; echo $?":               "HI yes true /workspace\n7\n",
		"echo -n hi | shout yes | cat":                  "HI yes false /workspace\n",
		"shout no 2>&1 </dev/null; echo $?":             "denied by policy: not this one\n126\n",
		"big | wc -c":                                   "1048576\n",
		"big | head -c 3 | wc -c":                       "3\n",
		"timeout 0.2 wait-here; echo $?":                "begun\n124\n",
		"nothing-here 2>/dev/null; echo $?; type shout": "127\nshout is /bin/shout\n",
	} {
		if r := do(ctx, p, line); r.out != want {
			t.Errorf("%s: %q %q %v, want %q", line, r.out, r.err, r.fail, want)
		}
	}
	<-ended // what timeout has stopped
	killed, cancel := context.WithCancel(ctx)
	w, over := begin(killed, t, p, "wait-here")
	<-w.has
	cancel()
	within(t, over)
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		t.Error("a program of the server outlives its line")
	}
}
