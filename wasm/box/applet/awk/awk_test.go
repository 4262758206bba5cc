package awk

import (
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command, Gawk) }

func TestAgainstGawk(t *testing.T) {
	s := difftest.Suite{Commands: []string{"gawk"}, Setup: `printf 'a 1 x\nb 2 y\nc 3 z\n' > n; printf 'k,v\n1,2\n' > c; printf '{ print $2 }\n' > p.awk; printf 'é1\n' > u`}
	s.Run(t,
		`gawk '{print $2}' n`, `gawk -F, '{print $2}' c`, `gawk -F, -v OFS=- '{print $2,$1}' c`, `gawk -f p.awk n`, `gawk 'END{print NR}' n`, `gawk '{s+=$2} END{print s}' n`,
		`gawk -v x='a\tb' 'BEGIN{print x}'`, `gawk 'BEGIN{printf "%5.2f|%-5s|%05d|%c|%x\n", 3.14159, "ab", 42, 65, 255}'`, `gawk '$2>1 && /y/' n`, `gawk '/a/,/b/' n`,
		`gawk '{c[$1]++} END{for(k in c) print k, c[k]}' n | sort`, `gawk '{$2="Z"; print}' n`, `gawk 'NR==2{next} {print NR": "$0}' n`, `gawk '{print length($0), NF}' n`,
		`gawk '{print length($0)}' u`, `gawk 'BEGIN{print substr("hello",2,3), index("hello","l"), toupper("abc"), tolower("ABC")}'`, `gawk 'BEGIN{n=split("a:b:c",p,":"); print n,p[1],p[3]}'`,
		`gawk '{gsub(/[0-9]/,"<&>"); print}' n`, `gawk '{sub("a","b"); print}' n`, `gawk 'BEGIN{print match("foobar",/o+/), RSTART, RLENGTH}'`,
		`gawk 'BEGIN{print gensub(/(a)(b)/,"\\2\\1","g","abab")}'`, `echo abab | gawk '{print gensub(/a/,"x",2)}'`, `gawk 'BEGIN{print strftime("%Y-%m-%d",0,1)}'`, `gawk 'BEGIN{print and(12,10), or(12,10), xor(12,10), lshift(1,4), rshift(16,2)}'`, `gawk 'BEGIN{print strtonum("0x1F"), strtonum("017"), strtonum("12abc")}'`,
		`gawk 'BEGIN{system("echo from sh"); print "after"}'`, `gawk 'BEGIN{print "first"; system("echo second"); print "third"}'`, `gawk 'BEGIN{r=system("exit 3"); print r}'`,
		`gawk 'BEGIN{print "system(x) /gensub(/"}' # gensub(`, `gawk '/system\(/{print "no"} {print}' n`, `gawk 'BEGIN{x=4; print x/2/1}'`, `gawk 'function gensub2(a){return a} BEGIN{print gensub2(1)}'`,
		`gawk 'BEGIN{while((getline l < "n")>0) print "got", l}'`, `gawk '{print > "out.txt"} END{close("out.txt"); while((getline l < "out.txt")>0) print l}' n`, `gawk 'BEGIN{print "err" > "/dev/stderr"; print "out"}'`,
		`gawk 'BEGIN{exit 3}'`, `gawk '{exit} END{print "end"}' n`, `gawk 'BEGIN { printf "%s %s\n",
   "a",
   "b" }'`, `gawk '{print ENVIRON["HOME"] != ""}' n`, `gawk '{print FILENAME, FNR}' n c`, `gawk '{print x}' x=1 n x=2 c`, `gawk 'BEGIN{RS=";"} {print $1}' n`, `gawk 'BEGIN{OFS="-"} {$1=$1} 1' n`, `gawk 'function f(n){return n<2?1:n*f(n-1)} BEGIN{print f(10)}'`, `gawk 'BEGIN{a["x",1]=2; for(k in a){split(k,p,SUBSEP); print p[1],p[2]} if(("x",1) in a) print "in"; delete a; print length(a)}'`,
		`gawk 'BEGIN{printf "%d\n", 2^53}'`, `echo a/b | gawk '{print gensub(/a\/(b)/, "[\\1]", 1), gensub("b","c","g",$0)}'`, `gawk 'BEGIN{print 1e6, 0.1+0.2, 100000000000, 1/3}'`, `gawk 'BEGIN{print -3%2, 2**3, 7%3}'`, `gawk 'BEGIN{print substr("hello",0), substr("hello",-1,3), substr("hello",4,100)}'`,
	)
}

// The texts of errors differ; that they are errors, and their status, must not.
func TestErrors(t *testing.T) {
	s := difftest.Suite{Commands: []string{"gawk"}}
	s.Run(t, `gawk 'BEGIN{print' 2>/dev/null || echo failed`, `gawk '{print}' nofile 2>/dev/null; echo $?`, `gawk 2>/dev/null || echo failed`, `gawk -f nofile 2>/dev/null; echo $?`)
}

func BenchmarkSum(b *testing.B) {
	for b.Loop() {
		rewrite([]byte(`{ s += $2 } /x/ { system("true") } END { print s / 2 }`))
	}
}
