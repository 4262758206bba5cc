package sandbox_test

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
)

// A canary host: nothing of it may be seen or changed by any script.
type canaries struct {
	dir  string // a folder of the host
	file string // with a secret in it
	prog string // an executable in dir
	tmp  string // what TMPDIR of the process says
}

const secret = "CANARY-5e1f"

func newCanaries(t *testing.T) canaries {
	t.Helper()
	c := canaries{dir: t.TempDir(), tmp: t.TempDir(), prog: "canaryprog"}
	c.file = filepath.Join(c.dir, "secret.sh")
	for name, mode := range map[string]os.FileMode{c.file: 0o755, filepath.Join(c.dir, c.prog): 0o755} {
		if err := os.WriteFile(name, []byte("echo "+secret+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	// mvdan/sh opens TMPDIR/sh-interp-* itself, through symlinks too.
	if err := os.Symlink(c.file, filepath.Join(c.tmp, "sh-interp-link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", c.tmp)
	t.Setenv("CANARY_ENV", secret)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	return c
}

// check fails when the host was changed.
func (c canaries) check(t *testing.T) {
	t.Helper()
	for dir, want := range map[string]int{c.dir: 2, c.tmp: 1} {
		list, err := os.ReadDir(dir)
		if err != nil || len(list) != want {
			t.Errorf("%s of the host now holds %v (%v)", dir, list, err)
		}
	}
	if b, err := os.ReadFile(c.file); err != nil || string(b) != "echo "+secret+"\n" {
		t.Errorf("the host's file was changed: %q, %v", b, err)
	}
}

// leaks are lines that print YES or the secret, or change the host, when the
// shell reaches past its host. $F, $D,
// $P and $T stand for the canary's file, folder, program and temp folder.
var leaks = []string{
	// open
	"read l < $F && echo YES", "echo pwn > $D/new", "echo pwn >> $F", "echo $(<$F)", ". $F", "source $F", "cat < $F", "bash $F",
	"echo pwn > $T/sh-interp-pwn", "read l < $T/sh-interp-link && echo $l YES", ". $T/sh-interp-link", "echo $(<$T/sh-interp-link)", "TMPDIR=$T; echo pwn > $T/sh-interp-pwn",
	"export TMPDIR=$T; (echo pwn > $T/sh-interp-pwn)", "export TMPDIR=$T; bash -c 'echo pwn > $T/sh-interp-pwn'",
	// stat
	"[ -e $F ] && echo YES", "[[ -f $F ]] && echo YES", "test -s $F && echo YES", "[ -d $D ] && echo YES", "cd $D && echo YES", "[ $F -nt /nope ] && echo YES",
	"pushd $D && echo YES", "[ -O $F ] && echo YES", "[[ -G $F ]] && echo YES", "[ -L $T/sh-interp-link ] && echo YES", "[ $F -ef $F ] && echo YES",
	// access
	"[ -r $F ] && echo YES", "[ -w $F ] && echo YES", "[ -x $D/$P ] && echo YES", "[[ -x $D/$P ]] && echo YES", "[[ -w $D ]] && echo YES",
	// readdir
	"for f in $D/*; do [ $f = $D/'*' ] || echo YES; done", "shopt -s globstar nullglob; for f in $D/**; do echo YES; done",
	// exec and PATH
	"$D/$P", "PATH=$D; $P", "PATH=$D $P", "command $D/$P", "exec $D/$P", "cd $D; ./$P", "PATH=$D command -v $P && echo YES", "PATH=$D; command -v $P && echo YES",
	"PATH=$D; type $P && echo YES", "type $D/$P && echo YES", "PATH=$D; type -p $P && echo YES", "PATH=$D; type -P $P && echo YES", "PATH=$D; type -a $P && echo YES",
	"PATH=$D; builtin command -v $P && echo YES", "PATH=$D; hash $P; . $P && echo YES", "PATH=$D; source $P", "command -V $D/$P && echo YES", "env $D/$P",
	"f(){ command -v $D/$P; }; f && echo YES", "eval 'type $D/$P' && echo YES", "trap 'type $D/$P && echo YES' EXIT",
	// environment
	"export -p", "declare -p", "set", "env", "echo $CANARY_ENV$AWS_SECRET_ACCESS_KEY", "echo ${!CANARY*}; for v in ${!C*}; do [ -n \"$v\" ] && echo YES; done",
	"printf '%s' \"${CANARY_ENV}\"", "bash -c 'echo $CANARY_ENV'", "env env",
	// pwd
	"cd $D; pwd", "PWD=$D; pwd -P",
	// a fifo of the host
	"cat <(echo a)", "echo >(cat)", "eval 'cat <(echo a)'", "trap 'cat <(echo a)' EXIT", "echo 'cat <(echo a)' > s; . ./s", "bash -c 'cat <(echo a)'",
	"shopt -s expand_aliases; alias q='cat <(echo a)'\neval q", "a=(1); unset 'a[$(cat <(echo 0))]'", "f(){ read x < <(echo a); }; f", "eval 'eval \"cat <(echo a)\"'",
}

// Threats: SH-3.
func TestNoLeaks(t *testing.T) {
	c := newCanaries(t)
	fill := strings.NewReplacer("$F", c.file, "$D", c.dir, "$P", c.prog, "$T", c.tmp)
	for _, line := range leaks {
		for _, wrap := range []string{"%s", "{ %s\n} | cat", "{ %s\n} & wait", "(%s\n)", "f_(){ %s\n}; f_"} {
			line := fmt.Sprintf(wrap, fill.Replace(line))
			s := newSession(t, policy.AllowAll{}, nil)
			out, errw, _, _ := do(t, s, line, "")
			if strings.Contains(out+errw, secret) || strings.Contains(out, "YES") {
				t.Errorf("%s\nprinted %q %q", line, out, errw)
			}
		}
	}
	c.check(t)
}

// What a script can learn about its host is what the sandbox makes up.
//
// Threats: SH-3.
func TestVirtualIdentity(t *testing.T) {
	c := newCanaries(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, policy.AllowAll{}, nil)
	for _, line := range []string{
		"echo ~root", "echo ~root | cat", "echo ~root & wait", "(echo ~root)", "x=~root; echo $x", "echo ~root/x", "eval 'echo ~root'", "echo {~root,a}", "for i in ~root; do echo $i; done",
		"echo 'echo ~root' > s; . ./s", "trap 'echo ~root' EXIT", "bash -c 'echo ~root'", "cd ~root", "case ~root in /*) echo /root;; esac", "[[ ~root == /* ]] && echo /root", "echo ~" + me.Username,
		"f(){ echo ~root; }; f | cat", "echo a > ~root", "declare y=~root; echo $y", "shopt -s expand_aliases; alias q='echo ~root'\neval q",
	} {
		out, errw, _, err := do(t, s, line, "")
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if strings.Contains(out, "/root") || strings.Contains(out+errw, me.HomeDir+"\n") || strings.Contains(out+errw, c.dir) {
			t.Errorf("%s\nprinted %q %q", line, out, errw)
		}
	}
	for _, line := range []string{"echo $$ $PPID ${$}", "echo $(($$ + 0)) $((PPID))", "eval 'echo $$ $PPID'", "(echo $$; echo $PPID) | cat", "echo $UID $EUID $GID", "bash -c 'echo $$ $PPID'"} {
		out, _, _, _ := do(t, s, line, "")
		for _, f := range strings.Fields(out) {
			for _, id := range []int{os.Getpid(), os.Getppid()} {
				if f == strconv.Itoa(id) {
					t.Errorf("%s: printed a process id of the host: %s", line, out)
				}
			}
			if f == "0" && os.Getuid() == 0 {
				t.Errorf("%s: printed an id of the host's user: %s", line, out)
			}
		}
	}
}
