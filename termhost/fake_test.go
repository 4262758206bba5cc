package termhost_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
)

// fake is a Runner with a handful of commands.
type fake struct {
	inspected chan struct{} // when set, Inspect waits for it
	ran       chan string   // when set, gets each line that runs
}

type crash struct{ sig string }

func (c crash) Error() string  { return "process died at /host/path" }
func (c crash) Signal() string { return c.sig }

func (f *fake) Inspect(ctx context.Context, c policy.Command) (policy.Command, error) {
	if f.inspected != nil {
		select {
		case <-f.inspected:
		case <-ctx.Done():
			return c, ctx.Err()
		}
	}
	switch {
	case c.Text == "((":
		return c, errors.New("line 1: syntax error")
	case c.Text == "panic-inspect":
		panic("inspect")
	}
	if c.Cwd == "" {
		c.Cwd = "/workspace"
	}
	c.Static = true
	return c, nil
}

func (f *fake) Run(ctx context.Context, c policy.Command, in io.Reader, out, errw io.Writer) (int, error) {
	if f.ran != nil {
		f.ran <- c.Text
	}
	verb, rest, _ := strings.Cut(c.Text, " ")
	switch verb {
	case "echo":
		fmt.Fprintln(out, rest)
		return 0, nil
	case "exit":
		n, _ := strconv.Atoi(rest)
		return n, nil
	case "hang": // writes, then waits to be stopped
		io.WriteString(out, rest)
		<-ctx.Done()
		return 137, ctx.Err()
	case "stubborn": // ends by itself whatever happens
		<-ctx.Done()
		io.WriteString(out, "too late")
		return 0, nil
	case "deaf":
		time.Sleep(time.Minute)
		return 0, nil
	case "bytes": // "bytes N": N bytes in pieces, then END
		n, _ := strconv.Atoi(rest)
		for i := 0; i < n; i += 100 {
			io.WriteString(out, strings.Repeat("x", min(100, n-i)))
		}
		io.WriteString(errw, "END")
		return 0, nil
	case "limit":
		return 137, errors.New("limit: output 1 GiB (raise with --output)")
	case "denied":
		return 126, &policy.DeniedError{Decision: policy.Decision{Reasons: []policy.Reason{{Msg: "no"}}}}
	case "fault":
		return 125, errors.New("open /host/secret: no")
	case "crash":
		return 0, crash{"SIGSEGV"}
	case "panic-run":
		panic("run")
	case "impossible":
		return 300, nil
	}
	return 127, nil
}
