package sandbox_test

import (
	"github.com/donax-sh/donax/policy"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	b, _ := os.ReadFile(os.Getenv("ZZ"))
	s := newSession(t, policy.AllowAll{}, nil)
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		out, errw, st, err := do(t, s, l, "")
		c := exec.Command("bash", "-c", l)
		c.Env = []string{"PATH=/bin", "LC_ALL=C.UTF-8", "TZ=UTC"}
		var eb strings.Builder
		c.Stderr = &eb
		g, _ := c.Output()
		if string(g) != out || c.ProcessState.ExitCode() != st || eb.String() != errw || err != nil {
			t.Logf("%s\n got %q %q %d %v\nwant %q %q %d", l, out, errw, st, err, g, eb.String(), c.ProcessState.ExitCode())
		}
	}
}
