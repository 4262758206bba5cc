//go:build unix

package upstream_test

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/mcp/client"
	"github.com/donax-sh/donax/mcp/upstream"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// sink counts nothing.
type sink struct{}

func (sink) Write(p []byte) (int, error) { return len(p), nil }

// cpu reports the CPU time of this process, without the server's.
func cpu(b *testing.B) func() {
	spent := func() int64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Utime.Nano() + u.Stime.Nano()
	}
	start := spent()
	return func() { b.ReportMetric(float64(spent()-start)/1000/float64(b.N), "cpu-us/op") }
}

// BenchmarkCall compares a call as a command with the same call of the client
// alone: what a command adds is the difference.
func BenchmarkCall(b *testing.B) {
	b.Run("client", func(b *testing.B) {
		c, err := client.Start(context.Background(), client.Config{Command: []string{os.Args[0], "fake-server"}})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		defer cpu(b)()
		for b.Loop() {
			if _, err := c.Call(context.Background(), "echo", map[string]any{"text": "x"}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	m := upstream.New(upstream.Config{Servers: []upstream.Server{{
		Name: "fake", Command: []string{os.Args[0], "fake-server"}, Default: upstream.Trust, StartTimeout: 1e11, CallTimeout: 1e11, Idle: 1e11,
	}}})
	defer m.Close()
	m.Connect(context.Background())
	b.Run("command", func(b *testing.B) {
		p := &sandbox.Proc{
			Args: []string{"fake.echo", "--text", "x"}, Stdout: sink{}, Stderr: os.Stderr, FS: vfs.NewMem(vfs.MemConfig{}),
			Admit: func(context.Context, policy.Action) (policy.Decision, error) {
				return policy.Decision{Effect: policy.Allow}, nil
			},
		}
		defer cpu(b)()
		for b.Loop() {
			if err := m.Lookup("fake.echo").Run(context.Background(), p); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStart is what a start and the first use of one server cost, with
// ten servers whose tools are known.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	var servers []upstream.Server
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		servers = append(servers, upstream.Server{Name: name, Command: []string{os.Args[0], "fake-server"}, StartTimeout: 1e11, CallTimeout: 1e11, Idle: 1e11})
	}
	first := upstream.New(upstream.Config{Servers: servers, CacheDir: dir})
	first.Connect(context.Background())
	if err := first.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m := upstream.New(upstream.Config{Servers: servers, CacheDir: dir})
		if m.Lookup("a.echo") == nil {
			b.Fatal("the tools are not known")
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
