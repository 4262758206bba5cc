package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestShellSystemCalls watches donax by strace while a script tries each way
// in which a shell reaches its host. No system call may name what the script
// names, make a FIFO or start a program. Where processes cannot be watched,
// the canaries of the sandbox's TestNoLeaks stand alone.
//
// Threats: SH-3.
func TestShellSystemCalls(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	strace := []string{"strace", "-f", "-qq", "-s", "4096", "-e", "trace=file,process,kill,tgkill", "-o", trace}
	if err := exec.Command(strace[0], append(strace[1:], "true")...).Run(); err != nil {
		t.Skipf("strace: %v", err)
	}
	host := filepath.Join(t.TempDir(), "host-canary")
	if err := os.MkdirAll(host, 0o755); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(`
echo x > $H/new; read l < $H/f; . $H/f; cat < $H/f; x=$(<$H/f)
TMPDIR=$H; echo x > $H/sh-interp-x; read l < $H/sh-interp-x; . $H/sh-interp-x
cat <(echo a) <(echo b) > /dev/null; echo a > >(cat > /dev/null); coproc cat; eval 'exec '${COPROC[1]}'>&-'; wait
echo ~root ~nobody ~daemon/x | cat > /dev/null; cd ~root; x=~root
PATH=$H; type prog; command -v prog; hash prog; prog; exec 2>&1; PATH=/bin
type $H/prog; command -v $H/prog; $H/prog; [ -x $H/prog ]; cd $H; pwd -P; cd /workspace; PWD=$H; pwd -P; PWD=/workspace
[ -O $H/f ]; [ -G $H/f ]; [ $H/f -ef $H/f ]; [ $H/f -nt $H/g ]; [ -t 0 ]; [[ -O $H/f ]]
for f in $H/* $H/**/*; do :; done
read -s -t 0.01 l < /dev/null; cat <<< here > /dev/null; for i in 1 2 3 4 5 6 7 8 9; do exec {fd}<<< x; done
time :; echo $RANDOM $SRANDOM $SECONDS $UID $EUID $GROUPS $PPID $$ $BASHPID $HOSTNAME > /dev/null
umask 077; ulimit -n 64; kill -0 1; trap : USR1; kill -USR1 0; times > /dev/null; sh -c '. $H/f'; bash $H/f
nosuchprogram; /usr/bin/id; /bin/sh -c :; { sleep 0.01 & } ; wait
echo DONE`, "$H", host)
	cmd := exec.Command(strace[0], append(strace[1:], donaxBinary(t), "-c", script)...)
	cmd.Env = append(os.Environ(), "DONAX_CACHE="+testCache(t), "DONAX_STATE="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "DONE\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	calls, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	bad := regexp.MustCompile(`host-canary|sh-interp|/etc/(passwd|group|nsswitch)|mknod|nosuchprogram|"/usr/bin/id"|"/bin/sh"`)
	foreign := regexp.MustCompile(` kill\((0|1|-\d+),`)
	for line := range strings.Lines(string(calls)) {
		if strings.Contains(line, " execve(") {
			programs++
			continue // its arguments are the script
		}
		if bad.MatchString(line) || foreign.MatchString(line) {
			t.Errorf("the shell reached its host: %s", line)
		}
	}
	if programs != 1 {
		t.Errorf("%d programs were started, want donax alone", programs)
	}
}
