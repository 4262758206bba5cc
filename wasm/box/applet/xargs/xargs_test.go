package xargs

import (
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command) }

func TestAgainstXargs(t *testing.T) {
	s := difftest.Suite{Commands: []string{"xargs"}, Setup: `printf 'a b\nc  d\n\n"e f" g\\ h\n' > in; printf 'x\0y z\0' > nul; printf 'one\ntwo\nthree\n' > l`, Stderr: true}
	s.Run(t,
		`xargs < in`, `xargs echo < in`, `xargs -n 1 < in`, `xargs -n2 echo - < in`, `xargs -L 1 < in`, `xargs -L2 < in`, `xargs -l < in`, `xargs -0 -n1 < nul`, `xargs -0 < l`, `xargs -d '\n' -n1 < in`, `xargs -d, < <(printf 'a,b,c')`, `printf 'a:b:' | xargs -d: -n1 echo =`,
		`xargs -I{} echo '<{}>' < l`, `xargs -I X echo X-X aX < in`, `xargs -i echo {} < l`, `xargs -I{} echo < l`, `xargs -0 -I{} echo '[{}]' < nul`, `printf '  lead trail  \n' | xargs -I{} echo '[{}]'`, `xargs -I% sh -c 'echo %' < l`,
		`xargs -r echo < /dev/null`, `xargs echo < /dev/null`, `xargs -r < /dev/null; echo $?`, `printf '\n\n' | xargs echo x`, `printf '' | xargs -I{} echo {}`, `printf "''" | xargs echo x`,
		`xargs -t echo < l`, `xargs -t -n1 echo 'a b' < l`, `xargs -E two < l`, `xargs -e < l`, `xargs -etwo < l`, `xargs -a l echo`, `echo stdin | xargs -a l cat`, `xargs -a nope`,
		`xargs false < l`, `xargs sh -c 'exit 3' < l`, `xargs -n1 sh -c 'exit 255' < l`, `xargs nosuchcmd < l`, `xargs -n1 sh -c 'kill -9 $$' < l`, `xargs -n1 sh -c 'test $0 = two' < l`,
		`echo "a'b" | xargs`, `echo 'a"b' | xargs`, `printf 'a\\' | xargs`, `printf 'a\\\nb\n' | xargs`, `printf "'a b' \"c d\" e\\ f\n" | xargs -n1`, `printf 'a "" b\n' | xargs -n1 echo x`,
		`seq 10 | xargs -n3`, `seq 10 | xargs -P4 -n1 | sort -n`, `seq 10 | xargs -P0 -n5 | sort -n | wc -l`, `seq 100000 | xargs | wc -l`, `seq 2000 | xargs -s 100 | wc -L`, `seq 20 | xargs -s 20`, `seq 20 | xargs -s 10 -x`, `echo aaaaaaaaaaaaaaaaaaaaaa | xargs -s 10`, `seq 30000 | xargs -n 100000 echo | wc -l`,
		`printf 'a \nb\nc\n' | xargs -L1`, `printf 'a b\n c\n' | xargs -L1`, `seq 4 | xargs -n1 -I{} echo x{}`, `seq 4 | xargs -I{} -n2 echo x`, `seq 4 | xargs -L2 -n1`, `seq 4 | xargs -n1 -L2`,
		`xargs -n0 < l`, `xargs -n x < l`, `xargs -L 0 < l`, `xargs -P x < l`, `xargs --nope < l`, `xargs -n`, `xargs --max-args=1 --no-run-if-empty echo < l`, `xargs --null < nul`, `xargs --replace echo {} < l`, `xargs --delimiter='\n' < l`, `xargs -- echo < l`, `xargs echo -n < l`,
	)
}
