// Command otel sends the records of a donax audit log to an OpenTelemetry
// collector, as log records in OTLP/JSON over HTTP. A record keeps the trace
// and span that the client named, so that a trace of the agent shows what was
// asked, allowed and refused for it.
//
//	donax events -f --json audit.jsonl | go run ./examples/otel http://127.0.0.1:4318
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy/audit"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: donax events -f --json FILE | otel http://COLLECTOR:4318")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := export(ctx, os.Stdin, strings.TrimSuffix(os.Args[1], "/")+"/v1/logs", time.Second); err != nil {
		fmt.Fprintln(os.Stderr, "otel:", err)
		os.Exit(1)
	}
}

const maxBatch = 500

// export sends what it reads, in batches that are full or older than lag.
func export(ctx context.Context, in io.Reader, url string, lag time.Duration) error {
	records, failed := make(chan logRecord), make(chan error, 1)
	go func() {
		defer close(records)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			r, err := convert(lines.Bytes())
			if err != nil {
				failed <- err
				return
			}
			select {
			case records <- r:
			case <-ctx.Done():
				return
			}
		}
		failed <- lines.Err()
	}()
	tick := time.NewTicker(lag)
	defer tick.Stop()
	var batch []logRecord
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := send(ctx, url, batch)
		batch = nil
		return err
	}
	for {
		var err error
		select {
		case r, ok := <-records:
			if !ok {
				return errors.Join(flush(), <-failed)
			}
			if batch = append(batch, r); len(batch) >= maxBatch {
				err = flush()
			}
		case <-tick.C:
			err = flush()
		case <-ctx.Done():
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// The part of OTLP/JSON that is used: opentelemetry-proto, logs/v1. Numbers of
// 64 bits are strings, trace ids are hex.
type (
	logRecord struct {
		Time     string      `json:"timeUnixNano"`
		Severity int         `json:"severityNumber"`
		Text     string      `json:"severityText"`
		Event    string      `json:"eventName"`
		Body     value       `json:"body"`
		Attrs    []attribute `json:"attributes"`
		TraceID  string      `json:"traceId,omitempty"`
		SpanID   string      `json:"spanId,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String string `json:"stringValue"`
	}
)

// Severities of OpenTelemetry.
const (
	info = 9
	warn = 13
)

// convert turns a record into a log record. The record itself is the body, so
// that a collector has what the chain of hashes was made over.
func convert(line []byte) (logRecord, error) {
	var r audit.Record
	if err := json.Unmarshal(line, &r); err != nil {
		return logRecord{}, fmt.Errorf("not a record: %w", err)
	}
	out := logRecord{
		Time: strconv.FormatInt(r.Timestamp.UnixNano(), 10), Severity: info, Text: "INFO", Event: "donax." + r.Type,
		Body: value{string(line)}, TraceID: r.TraceID, SpanID: r.SpanID,
	}
	attrs := map[string]string{
		"donax.seq": strconv.FormatInt(r.Seq, 10), "donax.hash": r.Hash, "donax.decision_id": r.DecisionID, "donax.policy": r.Revision,
		"enduser.id": r.RequestedBy,
	}
	if r.Result != nil {
		attrs["donax.effect"] = r.Result.Effect
		if r.Result.Effect != "allow" {
			out.Severity, out.Text = warn, "WARN"
		}
	}
	for name, v := range r.Labels {
		attrs["donax."+name] = v
	}
	for name, v := range attrs {
		if v != "" {
			out.Attrs = append(out.Attrs, attribute{name, value{v}})
		}
	}
	slices.SortFunc(out.Attrs, func(a, b attribute) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

func send(ctx context.Context, url string, batch []logRecord) error {
	body, err := json.Marshal(map[string]any{"resourceLogs": []any{map[string]any{
		"resource":  map[string]any{"attributes": []attribute{{"service.name", value{"donax"}}}},
		"scopeLogs": []any{map[string]any{"scope": map[string]any{"name": "donax/audit"}, "logRecords": batch}},
	}}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500)) // the status says enough without
		return fmt.Errorf("the collector answers %s: %s", resp.Status, text)
	}
	return nil
}
