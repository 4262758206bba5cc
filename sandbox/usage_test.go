package sandbox_test

import (
	"context"
	"sync"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// TestUsageIsCounted looks at the counters that a policy is shown.
func TestUsageIsCounted(t *testing.T) {
	var mu sync.Mutex
	var seen []policy.Usage
	s := newSession(t, policy.EngineFunc(func(_ context.Context, a policy.Action) (policy.Decision, error) {
		mu.Lock()
		defer mu.Unlock()
		if a.Exec != nil {
			seen = append(seen, a.Usage)
		}
		return policy.Decision{Effect: policy.Allow}, nil
	}), nil)
	m := &policy.Meter{Open: func() int64 { return 3 }}
	m.Net(7)
	m.Tool()
	ctx := policy.WithMeter(context.Background(), m)
	c, err := s.Inspect(ctx, policy.Command{Text: "cat <<< abc; sleep 0.02; cat < /dev/null; cat < /dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	var out discard
	if _, err := s.Run(ctx, c, nil, &out, &out); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 4 {
		t.Fatalf("asked %d times", len(seen))
	}
	last := seen[3]
	if last.TerminalsOpen != 3 || last.NetBytes != 7 || last.ToolCalls != 1 || last.Execs != 4 || last.OutputBytes < 4 {
		t.Errorf("%+v", last)
	}
	if seen[2].CPUMS < 10 {
		t.Errorf("cpu_ms %d after a program that took 20 ms", seen[2].CPUMS)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
