package sandbox_test
import ("testing";"time";"strings";"io";"github.com/donax-sh/donax/policy")
func TestTmp(t *testing.T){
	s := newSession(t, policy.AllowAll{}, nil)
	for _, text := range []string{
		strings.Repeat("(", 100_000), strings.Repeat("{ ", 50_000), strings.Repeat("$(", 20_000) + strings.Repeat(")", 20_000), strings.Repeat(`"${a:-`, 20_000),
		"$((" + strings.Repeat("(", 50_000), strings.Repeat("if ", 50_000), strings.Repeat("a=( $(", 20_000), strings.Repeat("${a[", 20_000), strings.Repeat("time ", 50_000),
		strings.Repeat("a&&", 20_000) + "a", strings.Repeat("a|", 20_000) + "a", strings.Repeat("f() ", 50_000), strings.Repeat("case x in a) ", 20_000),
		strings.Repeat("echo\n", 1<<20), strings.Repeat("echo\n", 20000),
	} {
		t0:=time.Now(); _, err := s.Inspect(t.Context(), policy.Command{Text: text}); t1:=time.Now()
		_, err2 := s.Run(t.Context(), policy.Command{Text: text}, nil, io.Discard, io.Discard)
		t.Logf("%.12q inspect %v %v run %v %v", text, t1.Sub(t0), err, time.Since(t1), err2)
	}
}
