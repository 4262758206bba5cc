package worker_test

import (
	"testing"
)

func TestRun(t *testing.T) {
	p := pool(t, config(t))
	ctx := as(t.Context(), "a")
	for _, f := range p.Findings() {
		t.Logf("%+v", f)
	}
	for _, line := range []string{"echo hi", "echo a | tr a b; cat", "echo x > f; cat f; ls -l; echo no >&2; exit 3", "escape", "hog", "cat f"} {
		r := do(ctx, p, line)
		t.Logf("%s: %d %v\n%s%s", line, r.status, r.fail, r.out, r.err)
	}
}
