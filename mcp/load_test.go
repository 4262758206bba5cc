package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/termhost"
)

// BenchmarkHTTPThousandTerminals measures terminal_output while a thousand
// terminals run, most of them asleep, each with a wait in progress.
func BenchmarkHTTPThousandTerminals(b *testing.B) {
	const n = 1000
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}, Limits: termhost.Limits{Running: 2 * n, Kept: 2 * n}})
	s, err := mcp.New(mcp.Config{Host: host, Limits: mcp.Limits{Calls: 2 * n}})
	if err != nil {
		b.Fatal(err)
	}
	base, cancel := context.WithCancel(context.Background())
	srv := httptest.NewServer(s.Handler(base, mcp.HTTPConfig{Auth: tokenAuth{}, Rate: -1}))
	b.Cleanup(func() {
		cancel()
		srv.CloseClientConnections()
		srv.Close()
		s.Close()
	})
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 100
	ids := make([]string, n)
	for i := range ids {
		ids[i] = startHTTP(b, srv.URL, "hang asleep")
	}
	var waits sync.WaitGroup
	for _, id := range ids {
		waits.Go(func() {
			req := request(b, srv.URL, "POST", callLine(1, "terminal_wait_for_exit", idArg(id), ""), "")
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	for !strings.Contains(metricsOf(b, srv.URL), fmt.Sprintf("\ndonax_tool_calls_in_progress %d\n", n)) {
		time.Sleep(10 * time.Millisecond)
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		from := time.Now()
		post(b, srv.URL, aliceToken, 2, "terminal_output", idArg(ids[i%n]), "")
		took = append(took, time.Since(from))
	}
	slices.Sort(took)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(mem.Sys)/(1<<20), "MiB")
	for _, id := range ids {
		post(b, srv.URL, aliceToken, 3, "terminal_kill", idArg(id), "")
	}
	waits.Wait()
}

func metricsOf(t testing.TB, url string) string {
	t.Helper()
	resp, err := http.DefaultClient.Do(request(t, url, "GET/metrics", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A command that writes without end costs a client that does not read its
// own buffer and no more.
func TestAFloodCostsItsBuffer(t *testing.T) {
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.AllowAll{}})
	s := newServer(t, mcp.Config{Host: host})
	inR, inW := io.Pipe()
	w := &stalled{open: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background(), inR, w) }()
	c := serve(t, context.Background(), s)
	before := heap()
	id := c.start("flood 300000")
	for i := range 8 { // eight calls of the client that does not read
		io.WriteString(inW, callLine(i, "terminal_wait_for_exit", idArg(id), fmt.Sprintf(`,"progressToken":%d`, i))+"\n")
	}
	if m := c.call(100, "terminal_wait_for_exit", idArg(id)); m.Result.Structured.BytesWritten != 300000<<10 {
		t.Errorf("%+v", m.Result.Structured)
	}
	if grown := heap() - before; grown > 32<<20 {
		t.Errorf("%d MiB for a client that does not read", grown>>20)
	}
	close(w.open)
	inW.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Large answers that a client does not read are not made ahead.
func TestLargeAnswersWaitForTheirReader(t *testing.T) {
	s := newServer(t, mcp.Config{Limits: mcp.Limits{Drain: patience}})
	c := serve(t, context.Background(), s)
	id := c.call(1, "terminal_create", `{"command":"flood 1024","outputByteLimit":1048576}`).Result.Structured.TerminalID
	c.call(2, "terminal_wait_for_exit", idArg(id))
	inR, inW := io.Pipe()
	w := &stalled{open: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background(), inR, w) }()
	const answers = 40
	before := heap()
	go func() {
		for i := range answers {
			io.WriteString(inW, callLine(i, "terminal_output", idArg(id), "")+"\n")
		}
		inW.Close()
	}()
	time.Sleep(300 * time.Millisecond) // long enough for all to be made
	// Answers in the making hold more for a moment; what was made ahead would
	// stay until it is read.
	grown := heap() - before
	for range 60 {
		if grown <= 60<<20 {
			break
		}
		time.Sleep(50 * time.Millisecond)
		grown = heap() - before
	}
	if grown > 60<<20 {
		t.Errorf("%d MiB wait for a client that does not read", grown>>20)
	}
	close(w.open)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := w.lines.Load(); n != answers {
		t.Errorf("%d answers", n)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Terminals that come and go leave nothing behind.
func TestNothingGrows(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	c := serve(t, context.Background(), newServer(t, mcp.Config{}))
	round := func() {
		id := c.start("bytes 1000")
		c.call(1, "terminal_wait_for_exit", idArg(id))
		c.call(2, "terminal_output", idArg(id))
		c.call(3, "terminal_release", idArg(id))
	}
	for range 100 {
		round()
	}
	before, goroutines := heap(), runtime.NumGoroutine()
	for range n {
		round()
	}
	if grown := heap() - before; grown > 2<<20 {
		t.Errorf("%d KiB more after %d terminals", grown>>10, n)
	}
	if now := runtime.NumGoroutine(); now > goroutines+5 {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
}

func FuzzHTTPBody(f *testing.F) {
	for _, s := range []string{
		"{", "[]", macros.Replace("$INIT"), callLine(1, "nothing", `{}`, ""), `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		f.Add([]byte(s), "2026-07-28", "tools/call", "nothing")
		f.Add([]byte(s), "", "", "")
	}
	host := termhost.New(termhost.Config{Runner: fake{}, Engine: policy.EngineFunc(rules)})
	s, err := mcp.New(mcp.Config{Host: host, Tools: slices.DeleteFunc(fixtures(), func(t mcp.Tool) bool { return t.Name == "hang" })})
	if err != nil {
		f.Fatal(err)
	}
	h := s.Handler(context.Background(), mcp.HTTPConfig{Auth: tokenAuth{}, Rate: -1, Sessions: 1 << 30})
	f.Fuzz(func(t *testing.T, body []byte, version, method, name string) {
		r := httptest.NewRequest("POST", "http://localhost/mcp", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+aliceToken)
		r.Header.Set("Content-Type", "application/json")
		for k, v := range map[string]string{"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
			if v != "" {
				r.Header.Set(k, v)
			}
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code >= 500 {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		if out := rec.Body.String(); strings.Contains(out, "unmarshal") || strings.Contains(out, "goroutine ") {
			t.Errorf("internals show: %s", out)
		}
	})
}
