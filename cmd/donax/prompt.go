package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
	"golang.org/x/term"
)

// prompter returns an Approver that asks at the terminal of the process, one
// question at a time; nil when neither stdin nor stderr is one: then another
// program has the terminal, and a question would disturb it and wait for ever.
func prompter(stderr io.Writer) policy.Approver {
	if !isTerminal(os.Stdin) && !isTerminal(stderr) {
		return nil
	}
	var one sync.Mutex
	return func(ctx context.Context, a policy.Action, d policy.Decision) (policy.Approval, error) {
		one.Lock()
		defer one.Unlock()
		// Not stdin, which belongs to the line: what it is fed must not answer.
		in, out := "/dev/tty", "/dev/tty"
		if runtime.GOOS == "windows" {
			in, out = "CONIN$", "CONOUT$"
		}
		r, err := os.Open(in)
		if err != nil {
			return policy.Refused, policy.ErrNobody
		}
		defer r.Close()
		w, err := os.OpenFile(out, os.O_WRONLY, 0)
		if err != nil {
			return policy.Refused, policy.ErrNobody
		}
		defer w.Close()
		stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
		defer stop()
		return question(ctx, r, w, policy.Question(a, d))
	}
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// question puts a question until it has an answer.
func question(ctx context.Context, r io.Reader, w io.Writer, text string) (policy.Approval, error) {
	lines := bufio.NewReader(r)
	fmt.Fprintf(w, "\ndonax: %s\n\n", text)
	for range 5 {
		fmt.Fprint(w, "y: yes, and again in this run   always: in every run   n: no\n[y/n/always] ")
		line, err := lines.ReadString('\n')
		if ctx.Err() != nil {
			return policy.Refused, ctx.Err()
		}
		if err != nil {
			return policy.Refused, policy.ErrNobody
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return policy.ApprovedForSession, nil
		case "a", "always":
			return policy.ApprovedAlways, nil
		case "n", "no":
			return policy.Refused, nil
		}
	}
	return policy.Refused, nil
}
