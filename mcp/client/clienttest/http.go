package clienttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Handler is the same server over streamable HTTP, for any number of clients
// one after another. It wants the bearer token Token when that is set.
type Handler struct {
	Faults []string // sse, hangget, redirect, and those of Server
	Token  string
	Evil   string // where the fault redirect leads

	mu     sync.Mutex
	server *Server
	Seen   []http.Header // headers of all requests; read it when no request is in flight
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Seen = append(h.Seen, r.Header.Clone())
	is := (&Server{Faults: h.Faults}).is
	if h.Token != "" && r.Header.Get("Authorization") != "Bearer "+h.Token {
		http.Error(w, "who are you, "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return
	}
	switch {
	case r.Method == http.MethodGet && is("hangget"):
		h.mu.Unlock()
		<-r.Context().Done()
		h.mu.Lock()
		return
	case r.Method != http.MethodPost:
		http.Error(w, "no", http.StatusMethodNotAllowed)
		return
	case is("redirect"):
		http.Redirect(w, r, h.Evil, http.StatusTemporaryRedirect)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var out bytes.Buffer
	if bytes.Contains(body, []byte(`"initialize"`)) || h.server == nil {
		h.server = &Server{Faults: h.Faults, Err: io.Discard}
	}
	h.server.Out = &out
	var m message
	if json.Unmarshal(body, &m) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	h.server.handle(m)
	switch {
	case out.Len() == 0 && m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case is("sse"):
		w.Header().Set("Content-Type", "text/event-stream")
		for _, line := range strings.SplitAfter(out.String(), "\n") {
			if line != "" {
				_, _ = io.WriteString(w, "event: message\ndata: "+line+"\n")
			}
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(out.Bytes())
	}
}
