package rego

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
)

// bundleServer serves one bundle with an ETag and counts what it sends.
type bundleServer struct {
	mu           sync.Mutex
	text         []byte
	tag          string
	sent, asked  int
	status       int
	redirectAway string
}

func (s *bundleServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	w.Header().Set("ETag", s.tag)
	switch {
	case s.redirectAway != "":
		http.Redirect(w, r, s.redirectAway, http.StatusFound)
	case s.status != 0:
		w.WriteHeader(s.status)
	case r.Header.Get("If-None-Match") == s.tag:
		w.WriteHeader(http.StatusNotModified)
	default:
		s.sent++
		w.Write(s.text)
	}
}

func (s *bundleServer) serve(t *testing.T, file, tag string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.tag, s.status = text, tag, 0
}

// Threats: PO-12.
func TestBundleFromServer(t *testing.T) {
	key := &BundleKey{ID: "k1", Key: bundleSecret, Algorithm: "HS256"}
	allows := func(name string) map[string]string {
		return map[string]string{"p.rego": head + "allow if input.exec.name == \"" + name + "\"\n"}
	}
	var s bundleServer
	s.serve(t, writeBundle(t, "k1", allows("ls"), map[string]any{}), `"1"`)
	srv := httptest.NewTLSServer(&s)
	defer srv.Close()
	ctx := context.Background()
	url := srv.URL + "/policy.tar.gz"
	load := func(url string, key *BundleKey) (*Engine, error) {
		return Load(ctx, Config{Paths: []string{url}, Key: key, Client: srv.Client()})
	}
	e, err := load(url, key)
	if err != nil {
		t.Fatal(err)
	}
	if d := decide(t, e, execAction("ls")); d.Effect != policy.Allow {
		t.Error("ls is allowed")
	}
	if u := e.Reload(ctx); u.Err != nil || u.New != u.Old || s.sent != 1 || s.asked != 2 {
		t.Errorf("%+v, sent %d of %d", u, s.sent, s.asked)
	}
	s.serve(t, writeBundle(t, "k1", allows("cat"), map[string]any{}), `"2"`)
	if u := e.Reload(ctx); u.Err != nil || u.New == u.Old {
		t.Errorf("%+v", u)
	}
	// What is not signed, or cannot be had, leaves the old policy in force.
	for name, spoil := range map[string]func(){
		"unsigned": func() { s.serve(t, writeBundle(t, "", allows("rm"), map[string]any{}), `"3"`) },
		"down":     func() { s.mu.Lock(); s.status = http.StatusBadGateway; s.mu.Unlock() },
	} {
		spoil()
		if u := e.Reload(ctx); u.Err == nil || u.New != u.Old {
			t.Errorf("%s: %+v", name, u)
		}
		if d := decide(t, e, execAction("cat")); d.Effect != policy.Allow {
			t.Errorf("%s: the old policy is gone", name)
		}
	}
	s.serve(t, writeBundle(t, "k1", allows("ls"), map[string]any{}), `"4"`)
	if _, err := load(url, nil); err == nil || !strings.Contains(err.Error(), "only loaded with a key") {
		t.Error(err)
	}
	for _, bad := range []string{"http://example.com/policy.tar.gz", "https:///policy.tar.gz"} {
		if _, err := load(bad, key); err == nil || !strings.Contains(err.Error(), "over https") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	s.redirectAway = "http://example.com/policy.tar.gz"
	if _, err := load(url, key); err == nil || !strings.Contains(err.Error(), "away from https") {
		t.Error(err)
	}
}

// TestWatchAsksTheServer waits for a bundle to change without a file changing.
func TestWatchAsksTheServer(t *testing.T) {
	key := &BundleKey{ID: "k1", Key: bundleSecret, Algorithm: "HS256"}
	var s bundleServer
	s.serve(t, writeBundle(t, "k1", map[string]string{"p.rego": head + "allow if input.exec.name == \"ls\"\n"}, map[string]any{}), `"1"`)
	srv := httptest.NewServer(&s) // on this machine, where http will do
	defer srv.Close()
	e, err := Load(context.Background(), Config{Paths: []string{srv.URL + "/b"}, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	updates := make(chan Update, 1)
	go e.Watch(ctx, time.Millisecond, func(u Update) { updates <- u })
	s.serve(t, writeBundle(t, "k1", map[string]string{"p.rego": head + "allow if input.exec.name == \"cat\"\n"}, map[string]any{}), `"2"`)
	if u := <-updates; u.Err != nil || u.New == u.Old {
		t.Errorf("%+v", u)
	}
}
