package shell

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestProbe(t *testing.T) {
	p := os.Getenv("DONAX_PROBE")
	if p == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(p)
	h := newTestHost(t)
	f, _ := h.fs.Open("/"+"probe.sh", os.O_CREATE|os.O_WRONLY, 0o755)
	f.Write(b)
	f.Close()
	ctx, c := context.WithTimeout(context.Background(), 15*time.Second)
	defer c()
	st, err := RunFile(ctx, Config{Host: h, Dir: "/work", Env: []string{"PATH=/usr/bin:/bin", "HOME=" + os.Getenv("HOME"), "USER=" + os.Getenv("USER"), "LC_ALL=C.UTF-8", "TMPDIR=/tmp"}, Stdout: os.Stdout, Stderr: os.Stderr}, "/probe.sh", []string{"../" + p[len("/tmp/probe/"):]})
	fmt.Printf("status %d\n", st)
	if err != nil {
		fmt.Println(err)
		if f, ok := err.(*Fault); ok {
			fmt.Println(f.Cause, f.Detail)
		}
	}
	os.Exit(0)
}
