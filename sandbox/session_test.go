package sandbox_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// do inspects and runs a line.
func do(t *testing.T, s *sandbox.Session, line, stdin string) (out, errw string, status int, err error) {
	t.Helper()
	c, err := s.Inspect(t.Context(), policy.Command{Text: line})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var o, e bytes.Buffer
	status, err = s.Run(context.Background(), c, strings.NewReader(stdin), &o, &e)
	return o.String(), e.String(), status, err
}
