package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
)

// TestExport sends a real log to a collector of ours.
func TestExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	rec, err := audit.Open(audit.Config{Path: path, Labels: map[string]string{"id": "srv"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := policy.WithOrigin(context.Background(), policy.Origin{Trace: policy.Trace{Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}})
	a := policy.Action{Kind: policy.KindExec, Subject: policy.Subject{Principal: policy.Principal{Sub: "alice"}}, Exec: &policy.Exec{Name: "rm"}}
	if _, err := policy.Check(ctx, rec.Engine(policy.Stack()), a); err == nil {
		t.Fatal("allowed")
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for l, err := range audit.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		log.Write(append(l.Raw, '\n'))
	}
	var got struct {
		ResourceLogs []struct {
			ScopeLogs []struct{ LogRecords []logRecord }
		}
	}
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/logs" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s", r.URL.Path, r.Header)
		}
		b, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(b, &got); err != nil {
			t.Errorf("%v %s", err, b)
		}
		w.WriteHeader(status)
	}))
	defer srv.Close()
	sent := log.String()
	if err := export(context.Background(), &log, srv.URL+"/v1/logs", time.Hour); err != nil {
		t.Fatal(err)
	}
	records := got.ResourceLogs[0].ScopeLogs[0].LogRecords
	if len(records) != 3 {
		t.Fatalf("%d records", len(records))
	}
	r := records[1]
	if r.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || r.SpanID != "00f067aa0ba902b7" || r.Text != "WARN" || r.Event != "donax.exec" || !strings.Contains(sent, r.Body.String+"\n") {
		t.Errorf("%+v", r)
	}
	attrs := map[string]string{}
	for _, a := range r.Attrs {
		attrs[a.Key] = a.Value.String
	}
	if attrs["enduser.id"] != "alice" || attrs["donax.effect"] != "deny" || attrs["donax.seq"] != "2" || attrs["donax.id"] != "srv" {
		t.Errorf("%v", attrs)
	}
	status = http.StatusTooManyRequests
	if err := export(context.Background(), strings.NewReader(sent), srv.URL+"/v1/logs", time.Hour); err == nil {
		t.Error("a refusal of the collector goes unseen")
	}
	if err := export(context.Background(), strings.NewReader("x\n"), srv.URL+"/v1/logs", time.Hour); err == nil {
		t.Error("what is no record is sent")
	}
}
