package mcp

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// An answer with another status, after a sign of life has sent the header,
// becomes an event: its body would break the stream.
func TestAnErrorAfterASignOfLife(t *testing.T) {
	rec := httptest.NewRecorder()
	b := &beat{w: rec, rc: http.NewResponseController(rec), header: http.Header{}, limit: time.Second}
	b.comment(time.Now(), time.Second)
	b.Header().Set("Content-Type", "application/json")
	b.WriteHeader(http.StatusBadRequest)
	if n, err := b.Write([]byte("{\"id\":1}\n")); n != 9 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got, want := rec.Body.String(), ": keep-alive\n\nevent: message\ndata: {\"id\":1}\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := rec.Header().Get("Content-Type"); rec.Code != http.StatusOK || got != "text/event-stream" {
		t.Errorf("%d %s", rec.Code, got)
	}
}
