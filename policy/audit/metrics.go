package audit

import (
	"fmt"
	"io"
	"sync/atomic"
)

// counts is what an operator watches.
type counts struct {
	records, denied, failed atomic.Int64
}

func (c *counts) add(r *record, err error) {
	switch {
	case err != nil:
		c.failed.Add(1)
	case r.Result != nil && r.Result.Effect == "deny":
		c.denied.Add(1)
		fallthrough
	default:
		c.records.Add(1)
	}
}

// WriteMetrics writes what the log counts, in the text format of Prometheus.
func (r *Recorder) WriteMetrics(w io.Writer) {
	counter := func(name, help string, v int64) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s counter\n%s %d\n", name, help, name, name, v)
	}
	counter("donax_audit_records_total", "Records written to the audit log.", r.counts.records.Load())
	counter("donax_audit_denials_total", "Records of denials and refusals.", r.counts.denied.Load())
	counter("donax_audit_errors_total", "Records that could not be written.", r.counts.failed.Load())
	failing := 0
	if r.Failing() {
		failing = 1
	}
	fmt.Fprintf(w, "# HELP donax_audit_failing Whether the last record could not be written.\n# TYPE donax_audit_failing gauge\ndonax_audit_failing %d\n", failing)
	fmt.Fprintf(w, "# HELP donax_audit_head_seq Last record that is on disk.\n# TYPE donax_audit_head_seq gauge\ndonax_audit_head_seq %d\n", r.Head().Seq)
}
