package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// memoryBombs are scripts that hold as much as they can.
func memoryBombs() map[string]string {
	const zeros = `x=$(printf '%0700000d' 0); x=$x$x$x; `
	return map[string]string{
		"double":     `a=aaaaaaaaaa; while :; do a=$a$a; done`,
		"append":     `a=aaaaaaaaaa; while :; do a+=$a; done`,
		"braces":     `for i in {1..4000000}; do :; done`,
		"words":      zeros + `for i in ${x//0/ a }; do :; done`,
		"replace":    zeros + `y=${x//?/$x}; echo ${#y}`,
		"quote":      zeros + `y=${x@Q}; z=${y@Q}; y=${x^^}; echo ${z@A}`,
		"hereDoc":    zeros + "cat <<E >/dev/null\n" + strings.Repeat("$x", 2000) + "\nE\n",
		"zero":       `x=$(</dev/zero)`,
		"output":     `x=$(cat /dev/zero)`,
		"line":       `read x </dev/zero`,
		"lines":      `mapfile x </dev/zero`,
		"yes":        `mapfile x < <(yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)`,
		"pinned":     `for ((i=0;;i++)); do printf -v "a[i]" '\0%04000000d' 1; done`,
		"elements":   `for ((;;)); do a+=(x); done`,
		"sparse":     `for ((i=0;;i+=7)); do a[i]=x; done`,
		"keys":       `declare -A a; for ((i=0;;i++)); do a[$i]=x; done`,
		"lists":      `a=(x); while :; do a=("${a[@]}" "${a[@]}"); done`,
		"names":      `for ((i=0;;i++)); do printf -v "v$i" x; done`,
		"history":    zeros + `while :; do history -s $x; done`,
		"complete":   zeros + `while :; do complete -W $x n$((i++)); done`,
		"trap":       zeros + `while :; do trap ": $x" USR1; done`,
		"functions":  `x=$(printf %05000d 0); while :; do eval "g$((i++))() { : $x; }"; done`,
		"recursion":  `f() { local a=$1$1; f $a; }; f aaaaaaaaaa`,
		"evals":      `e='eval "$e"'; eval "$e"`,
		"background": `while :; do sleep 1 & done`,
		"pipes":      `for i in {1..3000}; do : <(:); done`,
		"parens":     strings.Repeat("(", 1_000_000),
		"regex":      zeros + `[[ $x =~ (0*)(0*)(0*)1 ]]`,
	}
}

// TestBombMemory looks at what a process holds at most while a bomb goes off
// in it: the limits count what is live, and this what that costs, with the
// bound on garbage that the processes have that run lines. It runs in a child,
// with limits of an eighth; DONAX_BOMBS=full has them whole.
//
// Threats: SH-5.
func TestBombMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("peak memory is read from /proc")
	}
	scale := 8
	if os.Getenv("DONAX_BOMBS") == "full" {
		scale = 1
	}
	if os.Getenv("DONAX_BOMB_CHILD") != "" {
		for _, name := range sortedKeys(memoryBombs()) {
			kb, late := explode(t, memoryBombs()[name], scale)
			fmt.Println("peak", name, kb, late.Milliseconds())
		}
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestBombMemory$", "-test.timeout=10m")
	c.Env = append(os.Environ(), "DONAX_BOMB_CHILD=1", "GOMEMLIMIT=", "GOGC=")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := 0
	for _, line := range strings.Split(string(out), "\n") {
		f := strings.Fields(line)
		if len(f) != 4 || f[0] != "peak" {
			continue
		}
		seen++
		kb, _ := strconv.Atoi(f[2])
		late, _ := strconv.Atoi(f[3])
		t.Logf("%-10s %4d MiB, over %3d ms after its limit", f[1], kb>>10, late)
		if most := 64 + 192/scale; kb>>10 > most && !underRace || kb == 0 {
			t.Errorf("%s: held %d MiB, want at most %d", f[1], kb>>10, most)
		}
		if late > 100 && scale == 1 && !underRace { // on a machine that does nothing else
			t.Errorf("%s: ended %d ms after its limit, want 100 at most", f[1], late)
		}
	}
	if seen != len(memoryBombs()) {
		t.Errorf("%d of %d bombs went off:\n%s", seen, len(memoryBombs()), out)
	}
}

// explode runs a bomb for a while and returns the peak of the process, in KiB,
// and how long after it had passed the limit on memory it was over.
func explode(t *testing.T, src string, scale int) (kb int, late time.Duration) {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // forgets the peak
		t.Fatal(err)
	}
	h := newTestHost(t)
	d := DefaultLimits
	h.limit = int64(160<<20) / int64(scale)
	debug.SetMemoryLimit(h.limit + 32<<20) // as sandbox.Limits.Heap
	lim := Limits{Expansion: d.Expansion / int64(scale), Words: d.Words / scale}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second/time.Duration(scale*scale))
	defer cancel()
	_, err := Run(ctx, Config{Host: h, Dir: "/job", Env: []string{"PATH=/bin"}, Stdout: io.Discard, Stderr: io.Discard, KillJobs: true, Limits: lim}, src)
	if at := h.passed.Load(); at != 0 {
		late = time.Since(time.Unix(0, at))
	}
	var f *Fault
	if errors.As(err, &f) {
		t.Fatalf("%s\n%s", f.Cause, f.Detail)
	}
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, _ = strconv.Atoi(strings.Fields(rest)[0])
	return kb, late
}
