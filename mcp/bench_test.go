package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// wire is the client's side of a pipe, without a client's work.
type wire struct {
	b   *testing.B
	in  io.Writer
	out *bufio.Reader
}

func newWire(b *testing.B, serve func(r io.Reader, w io.Writer)) *wire {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		serve(inR, outW)
		close(done)
	}()
	b.Cleanup(func() { inW.Close(); <-done })
	return &wire{b, inW, bufio.NewReaderSize(outR, 4<<20)}
}

func (w *wire) ask(line string) string {
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.b.Fatal(err)
	}
	l, err := w.out.ReadString('\n')
	if err != nil {
		w.b.Fatal(err)
	}
	return l
}

func benchServer(b *testing.B) *mcp.Server {
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}})
	s, err := mcp.New(mcp.Config{Host: host, Tools: fixtures()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

func donaxWire(b *testing.B) *wire {
	s := benchServer(b)
	return newWire(b, func(r io.Reader, w io.Writer) {
		if err := s.Serve(context.Background(), r, w); err != nil {
			b.Error(err)
		}
	})
}

// cpu measures the CPU time of this process, client's side included.
func cpu(b *testing.B) (report func()) {
	used := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "cpu-us/op") }
}

// BenchmarkCall is one trivial call, beside the SDK without our layers.
func BenchmarkCall(b *testing.B) {
	b.Run("donax", func(b *testing.B) {
		w := donaxWire(b)
		line := callLine(1, "nothing", `{}`, "")
		b.ReportAllocs()
		defer cpu(b)()
		for b.Loop() {
			w.ask(line)
		}
	})
	b.Run("sdk", func(b *testing.B) {
		w := sdkWire(b, "")
		line := callLine(1, "nothing", `{}`, "")
		b.ReportAllocs()
		defer cpu(b)()
		for b.Loop() {
			w.ask(line)
		}
	})
}

// sdkWire serves one tool on the SDK alone.
func sdkWire(b *testing.B, text string) *wire {
	s := sdk.NewServer(&sdk.Implementation{Name: "plain", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "nothing", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: map[string]string{"output": text}}, nil
	})
	return newWire(b, func(r io.Reader, w io.Writer) {
		_ = s.Run(context.Background(), &sdk.IOTransport{Reader: io.NopCloser(r), Writer: nopCloser{w}}) // EOF is its end
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// BenchmarkResult1MiB reads a result of 1 MiB, beside the SDK alone.
func BenchmarkResult1MiB(b *testing.B) {
	text := strings.Repeat("0123456789abcde\n", 1<<16)
	b.Run("donax", func(b *testing.B) {
		w := donaxWire(b)
		var m message
		if err := json.Unmarshal([]byte(w.ask(callLine(1, "terminal_create", `{"command":"flood 1024","outputByteLimit":1048576}`, ""))), &m); err != nil {
			b.Fatal(err)
		}
		id := m.Result.Structured.TerminalID
		w.ask(callLine(2, "terminal_wait_for_exit", idArg(id), ""))
		b.SetBytes(1 << 20)
		defer cpu(b)()
		for b.Loop() {
			if l := w.ask(callLine(3, "terminal_output", idArg(id), "")); len(l) < 2<<20 {
				b.Fatalf("%d bytes", len(l))
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		w := sdkWire(b, text)
		b.SetBytes(1 << 20)
		defer cpu(b)()
		for b.Loop() {
			w.ask(callLine(1, "nothing", `{}`, ""))
		}
	})
}

// BenchmarkCreateToExit starts a command, waits for it, reads its output and
// releases it: four calls.
func BenchmarkCreateToExit(b *testing.B) {
	w := donaxWire(b)
	defer cpu(b)()
	for b.Loop() {
		l := w.ask(callLine(1, "terminal_create", `{"command":"echo hi"}`, ""))
		_, l, _ = strings.Cut(l, `"structuredContent":{"terminalId":"`)
		id, _, _ := strings.Cut(l, `"`)
		for i, tool := range []string{"terminal_wait_for_exit", "terminal_output", "terminal_release"} {
			w.ask(callLine(2+i, tool, idArg(id), ""))
		}
	}
}
