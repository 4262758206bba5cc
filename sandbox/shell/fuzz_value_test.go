package shell

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// FuzzArith looks for faults in arithmetic, and compares expressions that
// hold nothing but numbers, names and operators with bash.
func FuzzArith(f *testing.F) {
	for _, s := range []string{"1+2*3", "i++ + ++n", "arr[1]=5, arr[i]", "1/0", "08", "2#101", "-7 % 3", "1 ? 2 : 3", "1 << 65", "2 ** -1", "(1", "1 2", "x = y = 3", "64#z", "!0 && ~5 || 1/0", "9223372036854775807 + 1", "-9223372036854775808 / -1", "i+=", "3 - -- i", "arr[arr[0]-4]", "0x", "1.5"} {
		f.Add(s)
	}
	const script = `i=1 n=3; arr=(4 5 6); echo $(($1)); echo "$? $i $n ${arr[*]}"`
	f.Fuzz(func(t *testing.T, expr string) {
		safe := onlyBytes(expr, "0123456789abcdefghijklmnopqrstuvwxyz +-*/%<>=!&|^~?:,()#[]")
		compareWithBash(t, script, expr, safe)
	})
}

// FuzzExpand looks for faults in ${x...}, and compares those that can run
// nothing with bash.
func FuzzExpand(f *testing.F) {
	for _, s := range [][2]string{{"a b", ""}, {"foo.tar.gz", "%%.*"}, {"foo.tar.gz", "#*."}, {"a:b::c", "//:/-"}, {"", ":-d e"}, {"abc", ":1:-1"}, {"Hello", "^^[a-l]"}, {"*", "@Q"}, {"x/y", "/#x/z"}, {"abcabc", "/%bc*/[&]"}, {"q", ":+a  b"}, {"ab", "//?/&&"}, {"[z]", "#[[]"}, {"aXb", ",,"}, {" lead ", "#[[:space:]]"}, {"a-b", "%[!a-c]*"}, {"i", ":i"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, value, op string) {
		// What stands in ${x...} can run a command only by $, ` or a prompt.
		safe := onlyBytes(op, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOQRSTUVWXYZ0123456789:-+?#%/^,@*[]!. &|()_") &&
			onlyBytes(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-+?#%/^,@*[]!. &|()_\t\n'\"=;<>{}")
		if strings.ContainsAny(op, "}\\'\"\n") {
			return // not one expansion
		}
		compareWithBash(t, "set -f; i=1 x=$1; printf '<%s>' ${x"+op+`} "${x`+op+`}" "$x"`, value, safe)
	})
}

func onlyBytes(s, set string) bool {
	return len(s) < 200 && strings.Trim(s, set) == "" && !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(set, r) })
}

// compareWithBash runs src with one parameter here, and in bash where it is
// installed and the text is safe. Output and success must agree.
func compareWithBash(t *testing.T, src, param string, safe bool) {
	if strings.IndexByte(src+param, 0) >= 0 {
		return
	}
	h := newTestHost(t)
	h.limit = 64 << 20
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	st, err := Run(ctx, Config{Host: h, Dir: "/job", Env: []string{"PATH=/bin"}, Params: []string{param}, Stdout: &out, Stderr: &errs}, src)
	var fault *Fault
	if errors.As(err, &fault) {
		t.Fatalf("%q: %s\n%s", param, fault.Cause, fault.Detail)
	}
	if _, missing := exec.LookPath("bash"); missing != nil || !safe || err != nil {
		return
	}
	c := exec.CommandContext(ctx, "bash", "-c", src, "bash", param)
	c.Dir = t.TempDir()
	c.Env = []string{"PATH=/nonexistent", "LC_ALL=C.UTF-8", "HOME=" + os.DevNull}
	want, err := c.Output()
	if ctx.Err() != nil || err != nil && c.ProcessState == nil {
		return
	}
	if got := out.String(); got != string(want) || (st == 0) != c.ProcessState.Success() {
		t.Errorf("%s\nwith %q\ngot %d %q %s\nwant %d %q", src, param, st, got, errs.String(), c.ProcessState.ExitCode(), want)
	}
}
