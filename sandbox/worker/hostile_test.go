package worker_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/donax-sh/donax/sandbox"
)

// A native is a program that is Go in the worker itself: what an attacker who
// has taken over a worker could do.
type native struct {
	name string
	run  func(ctx context.Context, p *sandbox.Proc) error
}

func (n native) Run(ctx context.Context, p *sandbox.Proc) error { return n.run(ctx, p) }
func (n native) Usage() sandbox.Usage                           { return sandbox.Usage{Name: n.name, Kind: "box"} }

func hostile() []sandbox.Program {
	return []sandbox.Program{
		fetcher,
		native{"hog", func(context.Context, *sandbox.Proc) error {
			var keep [][]byte
			for {
				b := make([]byte, 64<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				keep = append(keep, b)
				_ = len(keep)
			}
		}},
		native{"recurse", func(context.Context, *sandbox.Proc) error { return deep(0) }},
		native{"crash", func(context.Context, *sandbox.Proc) error {
			go func() { panic("boom") }()
			select {}
		}},
		native{"stuck", func(_ context.Context, p *sandbox.Proc) error {
			fmt.Fprintln(p.Stdout, "stuck") // so that who kills it knows that it runs
			select {}
		}},
		native{"pid", func(_ context.Context, p *sandbox.Proc) error {
			_, err := fmt.Fprintln(p.Stdout, os.Getpid())
			return err
		}},
		native{"width", func(_ context.Context, p *sandbox.Proc) error {
			_, err := fmt.Fprintln(p.Stdout, runtime.GOMAXPROCS(0))
			return err
		}},
		native{"escape", escape},
		native{"ask", func(ctx context.Context, p *sandbox.Proc) error {
			return timed(p, func() error {
				return p.Spawn(ctx, sandbox.Child{Args: []string{"nop"}})
			})
		}},
		native{"trip", func(_ context.Context, p *sandbox.Proc) error {
			return timed(p, func() error {
				_, err := p.FS.Lstat("/workspace")
				return err
			})
		}},
		native{"nop", func(context.Context, *sandbox.Proc) error { return nil }},
	}
}

// timed does something as often as Args[1] says, and prints the nanoseconds.
func timed(p *sandbox.Proc, do func() error) error {
	n, err := strconv.Atoi(p.Args[1])
	if err != nil {
		return err
	}
	start := time.Now()
	for range n {
		if err := do(); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(p.Stdout, time.Since(start).Nanoseconds())
	return err
}

func deep(n int) error {
	var pad [1 << 10]byte
	if err := deep(n + 1); err != nil {
		return fmt.Errorf("%d %v", pad[n&1023], err)
	}
	return nil
}
