package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// shout is a program of the embedder: ordinary Go behind a small interface.
type shout struct{}

func (shout) Usage() sandbox.Usage {
	return sandbox.Usage{Name: "shout", Summary: "print stdin in capitals", Kind: "tool"}
}

func (shout) Run(_ context.Context, p *sandbox.Proc) error {
	text, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.Stdout, strings.ToUpper(string(text)))
	return err
}

// A session with one program, an empty file system and a policy of one rule.
func Example() {
	noEval := policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		if a.Exec != nil && a.Exec.Name == "eval" {
			return policy.Decision{Reasons: []policy.Reason{{Msg: "write the command out", Rule: "no_eval"}}}, nil
		}
		return policy.Decision{Effect: policy.Allow}, nil
	})
	s, err := sandbox.New(sandbox.Config{
		FS:       vfs.NewMem(vfs.MemConfig{}),
		Programs: []sandbox.Program{shout{}},
		Policy:   noEval,
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	line := `echo "hello from $0" > note; shout < note; eval shout; echo "status $?"`
	c, err := s.Inspect(ctx, policy.Command{Text: line, Name: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("commands:", len(c.Calls), "features:", c.Features)
	// The caller decides about the whole line; Run asks about each step.
	if _, err := policy.Check(ctx, noEval, policy.Action{Kind: policy.KindCommand, Command: &c}); err != nil {
		log.Fatal(err)
	}
	status, err := s.Run(ctx, c, nil, os.Stdout, os.Stdout)
	fmt.Println(status, err)
	// Output:
	// commands: 5 features: [eval redirect]
	// HELLO FROM DEMO
	// eval: denied by policy: write the command out [rule no_eval]
	// status 126
	// 0 <nil>
}
