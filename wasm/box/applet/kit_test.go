package applet_test

import (
	"bufio"
	"io"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

func TestQuotes(t *testing.T) {
	for _, tc := range []struct{ in, quote, name, curly string }{
		{"plain", "'plain'", "plain", "‘plain’"},
		{"", "''", "''", "‘’"},
		{"a b", "'a b'", "'a b'", "‘a b’"},
		{"it's", `"it's"`, `"it's"`, "‘it's’"},
		{`it's $x`, `'it'\''s $x'`, `'it'\''s $x'`, "‘it's $x’"},
		{"a\nb", `'a'$'\n''b'`, `'a'$'\n''b'`, `‘a\nb’`},
		{"\n", `''$'\n'`, `''$'\n'`, `‘\n’`},
		{"\x01\x00" + "7", `''$'\001\000''7'`, `''$'\001\000''7'`, `‘\001\0007’`},
		{"\xff", `''$'\377'`, `''$'\377'`, `‘\377’`},
		{"é", "'é'", "é", "‘é’"},
		{`a\b`, `'a\b'`, `'a\b'`, `‘a\\b’`},
		{"a’", "'a’'", "a’", `‘a\’’`},
		{"#a", "'#a'", "'#a'", "‘#a’"},
		{"a#", "'a#'", "a#", "‘a#’"},
	} {
		if got := applet.Quote(tc.in); got != tc.quote {
			t.Errorf("Quote(%q) = %s, want %s", tc.in, got, tc.quote)
		}
		if got := applet.Name(tc.in); got != tc.name {
			t.Errorf("Name(%q) = %s, want %s", tc.in, got, tc.name)
		}
		if got := applet.Curly(tc.in); got != tc.curly {
			t.Errorf("Curly(%q) = %s, want %s", tc.in, got, tc.curly)
		}
	}
}

func TestHuman(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 1: "1", 1023: "1023", 1024: "1.0K", 1025: "1.1K", 10239: "10K", 10240: "10K", 10241: "11K",
		1048575: "1.0M", 1048576: "1.0M", 1073741824: "1.0G", math.MaxInt64: "8.0E", 1 << 60: "1.0E"} {
		if got := applet.Human(n, 1024); got != want {
			t.Errorf("Human(%d) = %s, want %s", n, got, want)
		}
	}
	if got := applet.Human(1500, 1000); got != "1.5k" {
		t.Errorf("Human(1500, 1000) = %s", got)
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 3*applet.BufSize)
	text := "a\n\n" + long + "\nb"
	for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
		l := applet.NewLines(r, '\n')
		var got []string
		for {
			line, ok := l.Next()
			if !ok {
				break
			}
			got = append(got, string(line))
			if full := len(got) < 4; l.Full() != full {
				t.Errorf("line %d: Full is %v", len(got), l.Full())
			}
		}
		if len(got) != 4 || got[0] != "a" || got[1] != "" || got[2] != long || got[3] != "b" || l.Err() != nil {
			t.Errorf("got %d lines, error %v", len(got), l.Err())
		}
	}
	l := applet.NewLines(iotest.ErrReader(syscall.EIO), '\n')
	if _, ok := l.Next(); ok || l.Err() != syscall.EIO {
		t.Errorf("error %v", l.Err())
	}
}

func TestReason(t *testing.T) {
	for err, want := range map[error]string{
		syscall.ENOENT: "No such file or directory",
		&fs.PathError{Op: "open", Path: "x", Err: syscall.EISDIR}: "Is a directory",
		syscall.EXDEV:                "Invalid cross-device link",
		io.ErrUnexpectedEOF:          "Unexpected EOF",
		syscall.ENAMETOOLONG:         "File name too long",
		syscall.Errno(syscall.ELOOP): "Too many levels of symbolic links",
	} {
		if got := applet.Reason(err); got != want {
			t.Errorf("Reason(%v) = %q, want %q", err, got, want)
		}
	}
}

// failing fails every write.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestRunTellsOfFailedWrites(t *testing.T) {
	cmd := &applet.Command{Name: "w", Run: func(c *applet.Ctx) int { io.WriteString(c.Stdout, "text"); return 0 }}
	for err, want := range map[error]struct {
		status int
		text   string
	}{syscall.EPIPE: {141, ""}, syscall.ENOSPC: {1, "w: write error: No space left on device\n"}} {
		var errs strings.Builder
		c := &applet.Ctx{Cmd: cmd, Stdout: bufio.NewWriter(failing{err}), Stderr: &errs}
		if status := applet.Run(c); status != want.status || errs.String() != want.text {
			t.Errorf("%v: status %d, %q", err, status, errs.String())
		}
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{"1": time.Second, "0.5": 500 * time.Millisecond, "2m": 2 * time.Minute, "1h": time.Hour,
		"1d": 24 * time.Hour, "inf": math.MaxInt64, "1e30": math.MaxInt64} {
		if got, ok := applet.ParseDuration(s); !ok || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "x", "-1", "1x", "1_000", "nan", "s"} {
		if got, ok := applet.ParseDuration(s); ok {
			t.Errorf("ParseDuration(%q) = %v", s, got)
		}
	}
}
