package sandbox_test

import (
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// Who tries what is not there is told what there is, after what bash or the
// command that tried it says, with bash's status; and who asks first is told
// no by all.
func TestAbsent(t *testing.T) {
	s := newSession(t, policy.AllowAll{}, nil)
	hint := func(name string) string { return sandbox.Absent(name) + "\n" }
	for _, c := range []struct {
		line, out, errw string
		status          int
	}{
		{"python3 x.py", "", "bash: line 1: python3: command not found\n" + hint("python3"), 127},
		{"python3.12 -c 1; echo $?", "127\n", "bash: line 1: python3.12: command not found\n" + hint("python3.12"), 0},
		{"/usr/bin/python3", "", "bash: line 1: /usr/bin/python3: No such file or directory\n" + hint("/usr/bin/python3"), 127},
		{"./python3", "", "bash: line 1: ./python3: No such file or directory\n", 127},
		{"exec git", "", "bash: line 1: exec: git: not found\n", 127},
		{"xargs python3 <<< x", "", hint("python3") + "xargs: python3: command not found\n", 127},
		{"git status | cat", "", "bash: line 1: git: command not found\n" + hint("git"), 0},
		{"git() { echo mine; }; git", "mine\n", "", 0},
		{"command -v git; type -t git; hash git 2>/dev/null || echo none", "none\n", "", 0},
		{"type git", "", "bash: line 1: type: git: not found\n", 1},
		{"nosuch", "", "bash: line 1: nosuch: command not found\n", 127},
	} {
		out, errw, status, err := do(t, s, c.line, "")
		if out != c.out || errw != c.errw || status != c.status || err != nil {
			t.Errorf("%s:\n%q %q %d %v, want\n%q %q %d", c.line, out, errw, status, err, c.out, c.errw, c.status)
		}
	}
}

// What a hint tells to type after NAME stays one line.
func TestAbsentIsOneLine(t *testing.T) {
	for _, name := range strings.Fields("python3 pip node npm git make gcc apt-get sudo docker ssh vim nano perl ruby duckdb psql systemctl top htop man open pbcopy nc " +
		"telnet ping dig rsync ffmpeg convert crontab at screen tmux lsof strace mount chroot useradd passwd recode locale hexyl bat fd exa yarn go cargo rustc java mvn gh aws kubectl terraform quota pstree") {
		line := sandbox.Absent(name)
		if !strings.HasPrefix(line, "donax: "+name+": not in the sandbox: ") || strings.ContainsRune(line, '\n') || strings.Contains(line, "NAME") && !strings.Contains(line, "=FILE") || len(line) > 220 {
			t.Errorf("%q", line)
		}
	}
	for _, name := range []string{"", "grep", "nosuch", "12", "/opt/python3", "pythonic"} {
		if line := sandbox.Absent(name); line != "" {
			t.Errorf("%s: %q", name, line)
		}
	}
}
