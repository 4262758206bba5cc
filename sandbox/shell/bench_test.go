package shell

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

// The scripts of the promises about speed. Each also runs in bash, when there
// is one, so that one run gives the ratio.
func benchScripts() map[string]string {
	return map[string]string{
		"while":     `i=0; while ((i<10000)); do ((i++)); done`,
		"whileTest": `i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done`,
		"for":       `for ((i=0;i<10000;i++)); do :; done`,
		"forWords":  `for i in {1..100000}; do :; done`,
		"calls":     `f(){ local x=$1; return 0; }; for i in {1..1000}; do f $i; done`,
		"subst":     `for i in {1..500}; do x=$(echo x); done`,
		"read":      `while read -r a b; do :; done < lines`,
		"strings":   `for i in {1..2000}; do x="file$i.tar.gz"; y=${x%.gz}; z=${y##*.}; w=${x/tar/zip}; done`,
		"arrays":    `for i in {1..5000}; do a[i]=$i; done; s=0; for x in "${a[@]}"; do ((s+=x)); done`,
		"assoc":     `declare -A m; for i in {1..5000}; do m[k$i]=$i; done; for k in "${!m[@]}"; do x=${m[$k]}; done`,
		"case":      `for i in {1..5000}; do case $i in *7) :;; 1*|2*) :;; *) :;; esac; done`,
		"pipes":     `for i in {1..200}; do echo a | while read x; do :; done; done`,
	}
}

const benchLines = `for i in {1..10000}; do echo "line $i of the file"; done > lines; `

func BenchmarkScripts(b *testing.B) {
	for _, name := range sortedKeys(benchScripts()) {
		src := benchScripts()[name]
		b.Run(name+"/donax", func(b *testing.B) {
			h := newTestHost(b)
			runScript(b, h, benchLines)
			for b.Loop() {
				if _, err := Run(context.Background(), Config{Host: h, Dir: "/job", Env: []string{"PATH=/bin"}, Stdout: io.Discard, Stderr: io.Discard}, src); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/bash", func(b *testing.B) {
			if _, err := exec.LookPath("bash"); err != nil {
				b.Skip("no bash")
			}
			dir := b.TempDir()
			prep := exec.Command("bash", "-c", benchLines)
			prep.Dir = dir
			if err := prep.Run(); err != nil {
				b.Fatal(err)
			}
			var cpu float64
			for b.Loop() {
				c := exec.Command("bash", "-c", src)
				c.Dir = dir
				if out, err := c.CombinedOutput(); err != nil {
					b.Fatal(fmt.Sprint(err, string(out)))
				}
				cpu += float64(c.ProcessState.UserTime() + c.ProcessState.SystemTime())
			}
			b.ReportMetric(cpu/float64(b.N), "cpu-ns/op")
		})
	}
}
