package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// How commands are found, and what bash says when they are not.
func TestFindingCommands(t *testing.T) {
	setup := "mkdir d; echo 'echo ran $0 $*' > s; cp s x; chmod +x x; cp /bin/cat c; printf '\\0asm' > w; printf 'a\\0b' > b; chmod +x w b;" +
		"printf '#!/usr/bin/env awk -f\\n' > a; printf '#!/usr/bin/awk -f\\n' > a2; printf '#!/usr/bin/python9\\n' > p; printf '#!/bin/sh -e\\necho sh; false; echo no' > h; printf '#!/usr/bin/env bash\\necho env $1' > e;" +
		"printf '#!donax-box nosuch\\n' > n; chmod +x a a2 p h e n; mkdir bin2; cp x bin2/x; cp s bin2/s\n"
	s := newSession(t, policy.AllowAll{}, nil)
	if _, errw, status, err := do(t, s, setup, ""); status != 0 || err != nil {
		t.Fatal(errw, status, err)
	}
	for _, c := range []struct {
		line, out, errw string
		status          int
	}{
		{"foo", "", "bash: line 1: foo: command not found\n", 127},
		{":\n:\nfoo 1 2", "", "bash: line 3: foo: command not found\n", 127},
		{"''", "", "bash: line 1: : command not found\n", 127},
		{"./nosuch", "", "bash: line 1: ./nosuch: No such file or directory\n", 127},
		{"/workspace/d/nosuch", "", "bash: line 1: /workspace/d/nosuch: No such file or directory\n", 127},
		{"./d", "", "bash: line 1: ./d: Is a directory\n", 126},
		{"d/", "", "bash: line 1: d/: Is a directory\n", 126},
		{"./s", "", "bash: line 1: ./s: Permission denied\n", 126},
		{"./x/y", "", "bash: line 1: ./x/y: Not a directory\n", 126},
		{"PATH=bin2; s", "", "bash: line 1: bin2/s: Permission denied\n", 126},
		{"./x 1 2", "ran ./x 1 2\n", "", 0},
		{"PATH=/workspace/bin2; x 3", "ran /workspace/bin2/x 3\n", "", 0},
		{"PATH=; ./x", "ran ./x\n", "", 0},
		{"PATH=/nowhere; cat", "", "bash: line 1: cat: command not found\n", 127},
		{"/bin/cat s", "echo ran $0 $*\n", "", 0},
		{"./c s", "echo ran $0 $*\n", "", 0},
		{"./w", "", "bash: line 1: ./w: WebAssembly modules in the session's files are not run: add the program to the sandbox\n", 126},
		{"./b", "", "bash: line 1: ./b: cannot execute binary file: Exec format error\n", 126},
		{"./n", "", "bash: line 1: ./n: this sandbox has no program nosuch\n", 126},
		{"./p", "", "bash: line 1: ./p: cannot execute: required file not found: /usr/bin/python9\n" + sandbox.Absent("/usr/bin/python9") + "\n", 127},
		{"./a 1", `["awk" "-f" "./a" "1"]` + "\n", "", 0},
		{"./a2 1 2", `["/usr/bin/awk" "-f" "./a2" "1" "2"]` + "\n", "", 0},
		{"PATH=$PATH:/workspace; a2", `["/usr/bin/awk" "-f" "/workspace/a2"]` + "\n", "", 0},
		{"./h", "sh\n", "", 1},
		{"./e 7", "env 7\n", "", 0},
		{"sh s 1", "ran s 1\n", "", 0},
		{"bash nosuch", "", "bash: nosuch: No such file or directory\n", 127},
		{"bash d", "", "d: d: Is a directory\n", 126},
		{"bash /bin/cat", "", "/bin/cat: /bin/cat: cannot execute binary file\n", 126},
		{"bash -c 'echo $0 $1' n 1", "n 1\n", "", 0},
		{"bash -c 'echo $0'", "bash\n", "", 0},
		{"sh -ec 'false; echo no'", "", "", 1},
		{"bash -euo pipefail -c 'false | true; echo no'", "", "", 1},
		{"bash -c", "", "bash: -c: option requires an argument\n", 2},
		{"bash -Z", "", "bash: -Z: invalid option\n", 2},
		{"bash --rcfile x", "", "", 0}, // read by interactive shells only
		{"bash --nosuch", "", "bash: --nosuch: invalid option\n", 2},
		{"bash -c 'if'", "", "bash: -c: line 2: syntax error: unexpected end of file\n", 2},
		{"bash -c 'nope'", "", "bash: line 1: nope: command not found\n", 127},
		{"echo 'echo $1' | bash -s a", "a\n", "", 0},
		{"xargs nosuch <<< x", "", "xargs: nosuch: command not found\n", 127},
		{"xargs ./s <<< x", "", "", 126},
		{"command -v cat sh nosuch; echo $?", "/bin/cat\n/bin/sh\n0\n", "", 0},
		{"type -t cat if cd; f() { :; }; type -t f; command -v f; unset -f f; command -v f", "file\nkeyword\nbuiltin\nfunction\nf\n", "", 1},
		{"type cat", "cat is /bin/cat\n", "", 0},
		{"printf() { echo mine; }; printf x", "mine\n", "", 0},
		{"panics; echo on", "", "donax: internal error in panics\n", 125},
	} {
		out, errw, status, err := do(t, s, c.line, "")
		var fe *sandbox.Fault
		if out != c.out || errw != c.errw || status != c.status || err != nil && !errors.As(err, &fe) {
			t.Errorf("%s\n got %q %q %d %v\nwant %q %q %d", c.line, out, errw, status, err, c.out, c.errw, c.status)
		}
	}
}

// Start checks what it is told, and says what is wrong with it.
func TestCommandChecks(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	for _, c := range []struct {
		cmd    policy.Command
		errw   string
		status int
	}{
		{policy.Command{Text: "pwd", Cwd: "/tmp"}, "", 0},
		{policy.Command{Text: "pwd", Cwd: "/nowhere"}, "donax: cannot start in /nowhere: no such file or directory\n", 125},
		{policy.Command{Text: "pwd", Cwd: "tmp"}, "donax: cannot start in \"tmp\": the folder must be absolute\n", 125},
		{policy.Command{Text: "pwd", Cwd: "/bin/cat"}, "donax: cannot start in /bin/cat: not a directory\n", 125},
		{policy.Command{Text: "pwd", Environ: []string{"A"}}, "donax: sandbox: \"A\" is no variable: want NAME=VALUE\n", 125},
		{policy.Command{Text: "if"}, "bash: -c: line 2: syntax error: unexpected end of file\n", 2},
		{policy.Command{Text: "echo a\x00b"}, "bash: line 1: a NUL byte in the text\n", 2},
		{policy.Command{Args: []string{"cat", "/none such"}}, "cat: /none such: no such file or directory\n", 1},
		{policy.Command{Args: []string{}}, "", 0},
	} {
		var errw bytes.Buffer
		status, err := s.Run(t.Context(), c.cmd, nil, io.Discard, &errw)
		if errw.String() != c.errw || status != c.status || (err != nil) != (c.status == 2 && c.cmd.Text != "if" || c.status == 125) {
			t.Errorf("%+v: %q %d %v", c.cmd, errw.String(), status, err)
		}
	}
	var out bytes.Buffer
	c := policy.Command{Text: `echo $0 $1 "$2" $A $B $#`, Name: "me", Params: []string{"-x", "b c"}, Environ: []string{"A=1 2", "B=3"}}
	if _, err := s.Run(t.Context(), c, nil, &out, io.Discard); err != nil || out.String() != "me -x b c 1 2 3 2\n" {
		t.Errorf("%q, %v", &out, err)
	}
}

// A program learns from Spawn why nothing started.
func TestSpawnErrors(t *testing.T) {
	var got []error
	p := fake{"starter", func(ctx context.Context, p *sandbox.Proc) error {
		for i, name := range []string{"nosuch", "/bin", "rm", "./x", "false_", ""} {
			started := 0
			got = append(got, p.Spawn(ctx, sandbox.Child{Args: []string{name}, Started: func() { started++ }}))
			if want := i == 4; (started == 1) != want || started > 1 {
				t.Errorf("%q: started %d times", name, started)
			}
		}
		return nil
	}}
	f := fake{"false_", func(context.Context, *sandbox.Proc) error { return sandbox.ExitCode(7) }}
	s := newSession(t, denyProgram("rm"), func(c *sandbox.Config) { c.Programs = append(c.Programs, p, f) })
	_, errw, _, err := do(t, s, "cp /bin/rm x; starter", "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		errno error
		code  sandbox.ExitCode
	}{{syscall.ENOENT, 127}, {syscall.EISDIR, 126}, {syscall.EACCES, 126}, {syscall.EACCES, 126}, {nil, 7}, {syscall.ENOENT, 127}} {
		var code sandbox.ExitCode
		if !errors.As(got[i], &code) || code != want.code || want.errno != nil && !errors.Is(got[i], want.errno) {
			t.Errorf("%d: %v (%d)", i, got[i], code)
		}
	}
	if strings.Count(errw, "denied by policy") != 2 || !strings.Contains(errw, "./x (rm): denied") {
		t.Errorf("stderr %q", errw)
	}
}
