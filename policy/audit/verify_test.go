package audit_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/audit"
)

// written makes a log of n commands in several files, and returns its path.
func written(t *testing.T, n int, maxSize int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	r, err := audit.Open(audit.Config{Path: path, MaxSize: maxSize})
	if err != nil {
		t.Fatal(err)
	}
	e := r.Engine(allow)
	for range n {
		if _, err := policy.Check(context.Background(), e, command("ls")); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Verify(path, audit.VerifyOptions{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// Case S104: whatever is done to a log shows, and where.
// Threats: AU-2.
func TestTamperingShows(t *testing.T) {
	lines := func(f func(l [][]byte) [][]byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			l := bytes.SplitAfter(raw, []byte("\n"))
			if err := os.WriteFile(path, bytes.Join(f(l[:len(l)-1]), nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	other := written(t, 20, 0)
	for name, c := range map[string]struct {
		change func(t *testing.T, path string)
		want   string
		line   int
	}{
		"edit": {lines(func(l [][]byte) [][]byte { l[4] = bytes.Replace(l[4], []byte("alice"), []byte("mallo"), 1); return l }), "record 5 was changed", 5},
		"edit last": {lines(func(l [][]byte) [][]byte {
			l[21] = bytes.Replace(l[21], []byte("log.closed"), []byte("log.opened"), 1)
			return l
		}), "record 22 was changed", 22},
		"space":        {lines(func(l [][]byte) [][]byte { l[4] = append([]byte(" "), l[4]...); return l }), "not a record", 5},
		"garbage":      {lines(func(l [][]byte) [][]byte { l[4] = []byte("{}\n"); return l }), "not a record", 5},
		"empty line":   {lines(func(l [][]byte) [][]byte { l[4] = append([]byte("\n"), l[4]...); return l }), "not a record", 5},
		"delete":       {lines(func(l [][]byte) [][]byte { return append(l[:7:7], l[8:]...) }), "record 9 follows record 7", 8},
		"delete first": {lines(func(l [][]byte) [][]byte { return l[1:] }), "begins with record 2", 1},
		"swap":         {lines(func(l [][]byte) [][]byte { l[4], l[5] = l[5], l[4]; return l }), "record 6 follows record 4", 5},
		"repeat":       {lines(func(l [][]byte) [][]byte { return append(l[:6:6], l[5:]...) }), "record 6 is there twice", 7},
		"insert": {lines(func(l [][]byte) [][]byte {
			foreign, _ := os.ReadFile(other)
			return append(append(l[:5:5], bytes.SplitAfter(foreign, []byte("\n"))[5]), l[6:]...)
		}), "record 6 does not follow", 6},
		"cut":          {lines(func(l [][]byte) [][]byte { return l[:20] }), "ends at record 20, but record 22", 0},
		"cut all":      {lines(func(l [][]byte) [][]byte { return nil }), "ends at record 0, but record 22", 0},
		"half":         {lines(func(l [][]byte) [][]byte { l[21] = l[21][:30]; return l }), "ends at record 21, but record 22", 0},
		"another log":  {func(t *testing.T, path string) { b, _ := os.ReadFile(other); os.WriteFile(path, b, 0o600) }, "record 22 is not the one that was anchored", 22},
		"no head":      {func(t *testing.T, path string) { os.Remove(path + ".head") }, "head cannot be read", 0},
		"empty head":   {func(t *testing.T, path string) { os.WriteFile(path+".head", nil, 0o600) }, "head is empty", 0},
		"garbage head": {func(t *testing.T, path string) { os.WriteFile(path+".head", []byte("x"), 0o600) }, "head cannot be read", 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, 20, 0)
			c.change(t, path)
			_, err := audit.Verify(path, audit.VerifyOptions{})
			var b *audit.BrokenError
			if !errors.As(err, &b) || !strings.Contains(b.Why, c.want) || b.Line != c.line || !strings.HasPrefix(b.File, path) {
				t.Errorf("%v (%+v), want %q at %d", err, b, c.want, c.line)
			}
			// Nobody goes on writing behind a hole.
			switch name {
			case "cut", "cut all", "half", "another log", "no head", "empty head", "garbage head", "edit last":
				if r, err := audit.Open(audit.Config{Path: path}); err == nil {
					r.Close()
					t.Error("the log is written on")
				}
			}
		})
	}
}

// Threats: AU-2.
func TestFilesThatAreMissingShow(t *testing.T) {
	for i, want := range []string{"begins with record", "follows record", "is missing at the end of"} {
		path := written(t, 60, 6000)
		files, err := audit.Files(path)
		if err != nil || len(files) < 4 {
			t.Fatalf("%v %v", files, err)
		}
		if err := os.Remove(files[min(i, 1)]); err != nil {
			t.Fatal(err)
		}
		if _, err := audit.Verify(path, audit.VerifyOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		v, err := audit.Verify(path, audit.VerifyOptions{Partial: true})
		if (err == nil) != (i == 0) || i == 0 && v.First == 1 {
			t.Errorf("partial: %+v %v", v, err)
		}
	}
}

// Who can write log and head can make a new history, but not the anchor.
// Threats: AU-2.
func TestAnchorsShowARewrite(t *testing.T) {
	path, other := written(t, 20, 0), written(t, 30, 0)
	a, err := audit.Head(path)
	if err != nil || a.Seq != 22 {
		t.Fatalf("%v %v", a, err)
	}
	same, err := audit.ParseAnchor(a.String())
	if err != nil || same != a {
		t.Errorf("%v %v", same, err)
	}
	for _, bad := range []string{"", "1", "x:y", "0:" + a.Hash, "1:" + a.Hash[1:], a.String() + "0"} {
		if _, err := audit.ParseAnchor(bad); err == nil {
			t.Errorf("%q is an anchor", bad)
		}
	}
	if _, err := audit.Verify(path, audit.VerifyOptions{Anchors: []audit.Anchor{a}}); err != nil {
		t.Error(err)
	}
	if _, err := audit.Verify(other, audit.VerifyOptions{Anchors: []audit.Anchor{a}}); err == nil || !strings.Contains(err.Error(), "rewritten") {
		t.Error(err)
	}
	a.Seq = 99
	if _, err := audit.Verify(other, audit.VerifyOptions{Anchors: []audit.Anchor{a}}); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Error(err)
	}
}

// Case S114: what a crash leaves is mended and told.
// Threats: AU-4.
func TestACrashIsMendedAndTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	r := open(t, audit.Config{Path: path})
	if _, err := policy.Check(context.Background(), r.Engine(allow), command("ls")); err != nil {
		t.Fatal(err)
	}
	crashed := filepath.Join(t.TempDir(), "log")
	for _, suffix := range []string{"", ".head"} { // as it is on disk while the writer lives
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix == "" {
			b = append(b, []byte(`{"seq":3,"prev":"12`)...)
		}
		if err := os.WriteFile(crashed+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v, err := audit.Verify(crashed, audit.VerifyOptions{})
	if err != nil || v.Torn != crashed+":3" || v.Records != 2 {
		t.Errorf("%+v %v", v, err)
	}
	again := open(t, audit.Config{Path: crashed})
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	v, err = audit.Verify(crashed, audit.VerifyOptions{})
	if err != nil || v.Torn != "" || v.Records != 5 || v.Unclean != 1 {
		t.Errorf("%+v %v", v, err)
	}
	if l := read(t, crashed)[2]; l.Type != audit.TypeRecovered || l.Custom["torn_bytes"] != 19.0 || l.Custom["torn_sha256"] == "" {
		t.Errorf("%s", l.Raw)
	}
}

func TestOneWriterAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	open(t, audit.Config{Path: path})
	if _, err := audit.Open(audit.Config{Path: path}); !errors.Is(err, audit.ErrBusy) {
		t.Errorf("a second writer: %v", err)
	}
	for name, prepare := range map[string]func(p string) error{
		"writable by others": func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Chmod(p, 0o666)) },
		"a folder":           func(p string) error { return os.Mkdir(p, 0o700) },
		"not a log":          func(p string) error { return os.WriteFile(p, []byte("hello\n"), 0o600) },
	} {
		p := filepath.Join(t.TempDir(), "log")
		if err := prepare(p); err != nil {
			t.Fatal(err)
		}
		if r, err := audit.Open(audit.Config{Path: p}); err == nil {
			r.Close()
			t.Errorf("%s: opened", name)
		}
	}
}

// Case S105 and S116: what cannot be recorded does not happen, and when the
// disk is well again the log has neither gap nor repetition.
// Threats: AU-3.
func TestAFailingDiskStopsAdmission(t *testing.T) {
	for _, op := range []string{"write", "sync"} {
		path := filepath.Join(t.TempDir(), "log")
		var reports []error
		r := open(t, audit.Config{Path: path, Report: func(err error) { reports = append(reports, err) }})
		var full atomic.Bool
		r.Faulty(func(what string) error {
			if full.Load() && what == op {
				return syscall.ENOSPC
			}
			return nil
		})
		e, ctx := r.Engine(allow), context.Background()
		check := func(want bool) {
			t.Helper()
			d, err := policy.Check(ctx, e, command("ls"))
			var f *policy.Failure
			if (err == nil) != want || err != nil && (!errors.As(err, &f) || f.Class != policy.FailAudit || d.Effect != policy.Deny || !errors.Is(err, syscall.ENOSPC)) {
				t.Errorf("%s: allowed %v: %v", op, err == nil, err)
			}
		}
		check(true)
		full.Store(true)
		for range 10 {
			check(false)
			if _, err := r.Gate(nil).Enter(ctx, policy.ToolCall{Tool: "x"}); !errors.Is(err, policy.ErrRefused) {
				t.Errorf("%s: a call passes: %v", op, err)
			}
		}
		if !r.Failing() {
			t.Error("nobody would know")
		}
		full.Store(false)
		time.Sleep(150 * time.Millisecond) // how often it is tried anew
		check(true)
		if len(reports) != 2 || reports[0] == nil || reports[1] != nil || r.Failing() {
			t.Errorf("reports %v", reports)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if v, err := audit.Verify(path, audit.VerifyOptions{}); err != nil || v.Torn != "" || v.Unclean != 0 {
			t.Errorf("%s: %+v %v", op, v, err)
		}
	}
}

func TestAllowOnErrorIsAChoice(t *testing.T) {
	r := open(t, audit.Config{AllowOnError: true})
	r.Faulty(func(string) error { return syscall.EIO })
	if _, err := policy.Check(context.Background(), r.Engine(allow), command("ls")); err != nil {
		t.Error(err)
	}
	if _, err := policy.Check(context.Background(), r.Engine(policy.Stack()), command("ls")); err == nil {
		t.Error("a denial became an allow")
	}
	if leave, err := r.Gate(nil).Enter(context.Background(), policy.ToolCall{Tool: "x"}); err != nil {
		t.Error(err)
	} else {
		leave(policy.OutcomeOK)
	}
}
