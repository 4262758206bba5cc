package difftest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An upstream runs cases of a tool's own test suite, which the source package
// of that tool holds.
type upstream struct {
	t           *testing.T
	bin         string
	pass, total int
}

// openUpstream finds the files of a suite: DONAX_UPSTREAM is the folder where
// the source packages of gawk, grep, jq and sed are unpacked.
func openUpstream(t *testing.T, tool, pattern string) (*upstream, []string) {
	dir := os.Getenv("DONAX_UPSTREAM")
	if dir == "" {
		t.Skip("DONAX_UPSTREAM names no folder")
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s (%v)", pattern, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	u := &upstream{t: t, bin: filepath.Join(t.TempDir(), tool)}
	if err := os.Symlink(self, u.bin); err != nil {
		t.Fatal(err)
	}
	return u, files
}

// run runs a command of a suite in a folder.
func (u *upstream) run(bin, dir, stdin string, args ...string) (string, int) {
	ctx, cancel := context.WithTimeout(u.t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(stdin), &out, &out
	cmd.Env = []string{"LC_ALL=C.UTF-8", "TZ=GMT0", "PATH=" + os.Getenv("PATH"), "AWKPATH=" + dir}
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		u.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// check counts a case.
func (u *upstream) check(name, got, want string) {
	u.total++
	if got == want {
		u.pass++
	} else if testing.Verbose() {
		u.t.Logf("%s\ngot:  %.300q\nwant: %.300q", name, got, want)
	}
}

// end prints the rate and fails below the least that was reached.
func (u *upstream) end(least int) {
	u.t.Logf("%s: %d of %d cases pass", filepath.Base(u.bin), u.pass, u.total)
	if u.pass < least {
		u.t.Errorf("%d were reached before", least)
	}
}

func text(t *testing.T, file string) (string, bool) {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data), err == nil
}

// TestUpstreamGawk runs the programs that need no more than an input, which
// are those that the installed gawk answers as it should.
func TestUpstreamGawk(t *testing.T) {
	u, files := openUpstream(t, "gawk", "gawk-*/test/*.awk")
	for _, file := range files {
		base := strings.TrimSuffix(file, ".awk")
		want, ok := text(t, base+".ok")
		if !ok {
			continue
		}
		in, _ := text(t, base+".in")
		results := [2]string{}
		for i, bin := range []string{"gawk", u.bin} {
			out, status := u.run(bin, filepath.Dir(file), in, "-f", filepath.Base(file))
			if status != 0 {
				out += fmt.Sprintf("EXIT CODE: %d\n", status)
			}
			results[i] = out
		}
		if results[0] == want {
			u.check(filepath.Base(base), results[1], want)
		}
	}
	u.end(280)
}

// TestUpstreamSed runs the scripts that have an input, each in several modes, as
// the installed sed does.
func TestUpstreamSed(t *testing.T) {
	u, files := openUpstream(t, "sed", "sed-*/testsuite/*.sed")
	for _, file := range files {
		base := strings.TrimSuffix(file, ".sed")
		in, ok := text(t, base+".inp")
		if !ok {
			continue
		}
		for _, flag := range []string{"-f", "-nf", "-Ef", "-znf"} {
			want, status := u.run("sed", filepath.Dir(file), in, flag, file)
			got, ours := u.run(u.bin, filepath.Dir(file), in, flag, file)
			u.check(filepath.Base(base)+" "+flag, fmt.Sprint(got, ours), fmt.Sprint(want, status))
		}
	}
	u.end(12)
}

// TestUpstreamGrep runs the lists of expressions, each a line of status,
// expression and text.
func TestUpstreamGrep(t *testing.T) {
	u, files := openUpstream(t, "grep", "grep-*/tests/*.tests")
	for _, file := range files {
		flag := "-E"
		if filepath.Base(file) == "bre.tests" {
			flag = "-G"
		}
		list, _ := text(t, file)
		for line := range strings.Lines(list) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "@")
			if len(f) < 3 || line[0] == '#' || len(f) > 3 { // the fourth says that the tool differs
				continue
			}
			_, status := u.run(u.bin, filepath.Dir(file), f[2]+"\n", flag, "-e", f[1])
			u.check(strings.Join(f, "@"), fmt.Sprint(status), f[0])
		}
	}
	u.end(328)
}

// TestUpstreamJq runs jq.test: programs, each with its input and what it
// prints, and programs that are wrong.
func TestUpstreamJq(t *testing.T) {
	u, files := openUpstream(t, "jq", "jq-*/tests/*.test")
	for _, file := range files {
		all, _ := text(t, file)
		for _, block := range strings.Split(all, "\n\n") {
			var lines []string
			for l := range strings.Lines(block + "\n") {
				if l = strings.TrimSuffix(l, "\n"); l != "" && l[0] != '#' {
					lines = append(lines, l)
				}
			}
			if len(lines) < 2 {
				continue
			}
			if strings.HasPrefix(lines[0], "%%FAIL") {
				_, status := u.run(u.bin, filepath.Dir(file), "", "-n", lines[1])
				u.check(lines[1], fmt.Sprint(status == 3 || status == 2), "true")
				continue
			}
			got, _ := u.run(u.bin, filepath.Dir(file), lines[1], "-cS", lines[0])
			want, _ := u.run(u.bin, filepath.Dir(file), strings.Join(lines[2:], "\n"), "-cS", ".")
			u.check(lines[0], got, want)
		}
	}
	u.end(340)
}
