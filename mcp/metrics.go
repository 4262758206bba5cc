package mcp

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// metrics counts what an operator watches. It names no principal and no
// command.
type metrics struct {
	authFailures atomic.Int64
	rateLimited  atomic.Int64
	refused      atomic.Int64
	inCall       atomic.Int64

	mu        sync.Mutex
	calls     map[[2]string]int64 // by tool and outcome
	responses map[int]int64       // by HTTP status
}

// Outcomes of a call.
const (
	outcomeOK    = "ok"
	outcomeError = "error" // a result that the model reads as an error
	outcomeFault = "fault" // an error of the protocol, or a cancelled call
	outcomeBusy  = "busy"
)

func (m *metrics) call(tool, outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = map[[2]string]int64{}
	}
	m.calls[[2]string{tool, outcome}]++
}

func (m *metrics) response(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.responses == nil {
		m.responses = map[int]int64{}
	}
	m.responses[status]++
}

// serveMetrics writes the text format of Prometheus.
func (h *httpHandler) serveMetrics(w http.ResponseWriter, r *http.Request) {
	who, ok := h.authenticate(w, r)
	if !ok {
		return
	}
	if !slices.Contains(who.Principal.Roles, OperatorRole) {
		writeFault(w, http.StatusForbidden, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the role "+OperatorRole+" is required"))
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	h.s.writeMetrics(w)
	gauge(w, "donax_http_sessions", "Sessions of the era of initialize.", int64(h.sessions.count()))
}

func counter(w io.Writer, name, help string, v int64) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s counter\n%s %d\n", name, help, name, name, v)
}

func gauge(w io.Writer, name, help string, v int64) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s %d\n", name, help, name, name, v)
}

func (s *Server) writeMetrics(w io.Writer) {
	m := &s.metrics
	m.mu.Lock()
	calls, responses := maps.Clone(m.calls), maps.Clone(m.responses)
	m.mu.Unlock()
	fmt.Fprint(w, "# HELP donax_tool_calls_total Tool calls that have ended.\n# TYPE donax_tool_calls_total counter\n")
	for _, k := range slices.SortedFunc(maps.Keys(calls), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(w, "donax_tool_calls_total{tool=%q,outcome=%q} %d\n", k[0], k[1], calls[k])
	}
	fmt.Fprint(w, "# HELP donax_http_responses_total HTTP responses.\n# TYPE donax_http_responses_total counter\n")
	for _, code := range slices.Sorted(maps.Keys(responses)) {
		fmt.Fprintf(w, "donax_http_responses_total{code=\"%d\"} %d\n", code, responses[code])
	}
	counter(w, "donax_auth_failures_total", "Requests without a valid token.", m.authFailures.Load())
	counter(w, "donax_rate_limited_total", "Requests over their principal's rate.", m.rateLimited.Load())
	counter(w, "donax_calls_refused_total", "Tool calls that a grant, a brake or the record refused.", m.refused.Load())
	gauge(w, "donax_tool_calls_in_progress", "Tool calls in progress.", m.inCall.Load())

	st := s.host.Stats()
	gauge(w, "donax_terminals_running", "Terminals whose command runs.", int64(st.Running))
	gauge(w, "donax_terminals", "Terminals that are not released.", int64(st.Terminals))
	counter(w, "donax_terminals_created_total", "Terminals created.", st.Created)
	counter(w, "donax_commands_denied_total", "Commands that the policy did not allow.", st.Denied)
	counter(w, "donax_output_bytes_total", "Bytes that ended commands have written.", st.OutputBytes)

	for _, more := range s.more {
		more(w)
	}

	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	gauge(w, "go_goroutines", "Goroutines.", int64(runtime.NumGoroutine()))
	gauge(w, "go_memstats_heap_inuse_bytes", "Heap in use.", int64(mem.HeapInuse))
	gauge(w, "go_memstats_sys_bytes", "Memory taken from the system.", int64(mem.Sys))
}

// countingWriter counts responses by status.
type countingWriter struct {
	http.ResponseWriter
	m    *metrics
	once sync.Once
}

// Unwrap is for http.ResponseController.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader counts the status and sends it.
func (w *countingWriter) WriteHeader(code int) {
	w.once.Do(func() { w.m.response(code) })
	w.ResponseWriter.WriteHeader(code)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { w.m.response(http.StatusOK) })
	return w.ResponseWriter.Write(p)
}
