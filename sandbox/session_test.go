package sandbox_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

func TestFirst(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, l := range []string{"echo hi | cat", "x=$(echo a b); echo $x; f(){ echo f $1; }; f 3; foo; (exit 3); echo $?; sleep_ & wait; cat <<E\nh $x\nE\necho ~root $$; echo out >f; cat f; time :", "sh -c 'echo in $0 $1' a b; echo 'echo s $1' > s; chmod +x s; ./s 1; bash s 2; echo echo st|sh"} {
		out, errw, st, err := do(t, s, l, "")
		t.Logf("%s\n=> %q %q %d %v", l, out, errw, st, err)
	}
}

func do(t *testing.T, s *sandbox.Session, line, stdin string) (string, string, int, error) {
	t.Helper()
	c, err := s.Inspect(t.Context(), policy.Command{Text: line})
	if err != nil {
		t.Fatal(err)
	}
	var out, errw bytes.Buffer
	st, err := s.Run(context.Background(), c, strings.NewReader(stdin), &out, &errw)
	return out.String(), errw.String(), st, err
}
