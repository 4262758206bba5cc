package awk

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command) }

const setup = `printf 'alice 30 nyc\nbob 25 la\ncarol 35 nyc\n' > p; printf 'a,b\n1,2\n' > c; printf 'k=v\nx = y z\n' > kv; printf 'x\n' > x; printf 'caf\xc3\xa9\n' > u`

func TestAgainstGawk(t *testing.T) {
	s := difftest.Suite{Commands: []string{"gawk"}, Setup: setup}
	s.Run(t,
		`gawk '{print $1}' p`, `gawk 'BEGIN{printf "%c|%5c|%-3c|", "", "", ""}' | od -c`, `gawk 'BEGIN{do {i++; if (i == 2) continue; if (i == 4) break; print i} while (i < 9); while (j++ < 3) {if (j == 2) continue; print j}}'`, `gawk 'NR==2' p`, `gawk -F, '{print $2}' c`, `gawk -F'[ ,]' '{print $2}' c`, `gawk '{s+=$2} END {print s, s/NR}' p`, `gawk '$3=="nyc"{print $1,$2}' p`, `gawk 'BEGIN{print 1/3, 1e6, 100000000000000000}'`, `gawk 'BEGIN{printf "%5.2f|%-5s|%05d|%x|%c|%c\n", 3.14159, "ab", 42, 255, 65, "zed"}'`, `gawk '{print NR": "$0}' p x`, `gawk '{print FNR, FILENAME}' p x`, `gawk 'END{print NR}' p`, `gawk '{$2="X"; print}' p`, `gawk 'BEGIN{OFS="-"} {$1=$1; print}' p`, `gawk '{print $NF, NF}' p`, `gawk '/bob/,/carol/' p`, `gawk '!seen[$3]++' p`, `gawk -v n=2 'NR==n' p`, `gawk '{print v}' v=7 p`, `gawk -v 's=a\tb' 'BEGIN{print s}'`, `gawk '{c[$3]++} END{for(k in c) print k, c[k]}' p | sort`, `gawk 'BEGIN{n=split("a b c",a); print n, a[1], a[3]}'`, `gawk 'BEGIN{print length("héllo"), substr("héllo",2,2), index("abc","c"), toupper("é")}'`, `gawk 'BEGIN{s="aaa"; n=gsub(/a/,"b",s); print n, s; sub(/b/,"[&]",s); print s}'`, `gawk '{gsub(/[aeiou]/,"#"); print}' p`, `gawk 'BEGIN{print match("foobar", /o+/), RSTART, RLENGTH}'`, `gawk 'BEGIN{print substr("hello",0), substr("hello",-1,3), substr("hello",2)}'`, `gawk 'BEGIN{while((getline l < "x")>0) print "got", l}'`, `gawk 'BEGIN{x["a"]; if ("a" in x) print "in"; delete x["a"]; print length(x)}'`, `gawk 'function f(n){return n<=1?1:n*f(n-1)} BEGIN{print f(5)}'`, `gawk 'BEGIN{printf "%s %s %s\n", "a", "b", "c" > "/dev/stderr"}' 2>&1`, `gawk 'BEGIN{print "x" > "out"; close("out"); while ((getline l < "out") > 0) print l}'`, `gawk 'BEGIN { exit 3 } END { print "end" }'`, `gawk '{exit 1}' p`, `gawk 'BEGIN{print ENVIRON["HOME"]}'`, `gawk 'BEGIN{print ARGC, ARGV[1]}' a b`, `gawk -f <(echo '{print $2}') p`, `echo 'a b' | gawk '{print $2}' -`, `gawk 'BEGIN{RS=""} {print NR": "$1}' p`, `gawk 'BEGIN{RS=";"} {print}' <<< 'a;b;c'`, `gawk 'BEGIN{FS=""} {print $2}' x u`, `gawk -F'\t' '{print $1}' p`, `gawk -F'|' '{print $2}' <<< 'a|b'`, `gawk -F. '{print $2}' <<< 'a.b'`, `gawk 'NF' <<< ''`, `gawk 'BEGIN { print substr("hello", 2, 100); print -3 % 2; print 2^10, 2**3 }'`, `gawk 'BEGIN{print "a" "b" 1+2}'`, `gawk 'BEGIN{print 1==1.0, "a"<"b", "10"<"9", 10<9}'`, `gawk '{print ($2>26)?"old":"young"}' p`, `gawk 'BEGIN{do {i++} while(i<5); print i; for(;;){if(i++>8)break}; print i}'`, `gawk '{next} END{print NR}' p`, `gawk 'FNR==1{nextfile} {print}' p x`, `gawk 'BEGIN { printf "%d %i %o %e %g\n", 3.9, 4, 8, 12345.678, 0.0001 }'`, `gawk 'BEGIN { printf "%*d|%-*d|\n", 5, 42, 5, 42 }'`, `gawk 'BEGIN { print toupper(substr("abc", 1, 1)) substr("abc", 2) }'`, `gawk 'BEGIN { print sprintf("%03d", 7) }'`, `gawk 'BEGIN{print int(3.9), int(-3.9), sqrt(16), exp(0), log(1), sin(0), cos(0), atan2(0,1)}'`, `gawk 'BEGIN{getline; print "first:", $0; getline x; print x}' p`, `gawk '{ printf "%s=%d\n",
 $1,
 $2 }
$2 > 26 &&
$1 != "x" { print "both" }' p`, `gawk 'BEGIN{a["x",1]=5; for(k in a){split(k,q,SUBSEP); print q[1],q[2],a[k]}; print (("x",1) in a)}'`, `gawk 'BEGIN{printf("%s\n", "paren")}'`, `gawk '# comment
BEGIN { print "x" } # more'`, `gawk 'BEGIN { if (!("z" in a)) print "no" ; else print "yes" }'`, `gawk 'BEGIN{x = "A"; y = x++; print x, y}'`, `gawk 'BEGIN { "x" ~ /x/ && 1; print "abc" ~ "b.", "abc" !~ /z/ }'`, `gawk 'length > 10' p`, `gawk 'length($0) > 10' p`, `gawk '{print length}' x`, `gawk 'BEGIN{print length()}' < x`, `gawk '{a[NR]=$0} END{for(i=NR;i>0;i--) print a[i]}' p`, `gawk '$2 ~ /^3/' p`, `gawk '{sum[$3]+=$2} END{for (c in sum) printf "%s %d\n", c, sum[c]}' p | sort`, `gawk '{$3=""; print}' p`, `gawk '{print $(NF-1)}' p`, `gawk 'NR%2' p`, `gawk -F= '{gsub(/^ +| +$/,"",$2); print $2}' kv`, `gawk 'BEGIN{print index("foobar","bar"); print tolower("ABC")}'`, `gawk 'BEGIN{printf "%s"}' 2>/dev/null; echo`, `gawk 'BEGIN { a = 10; a /= 4; print a; b = 7; b %= 4; print b; c ^= 2 }'`, `gawk 'BEGIN{print substr("x",1,0) "|"}'`, `gawk 'BEGIN{OFMT="%.2f"; print 3.14159; CONVFMT="%.1f"; x = 3.14159 ""; print x}'`, `gawk 'BEGIN { print length(12345) }'`,
		`gawk 'BEGIN{system("echo hi"); print system("exit 3")}'`, `gawk 'BEGIN{print "before"; system("echo mid"); print "after"}'`, `gawk 'BEGIN{"echo a b" | getline; print $2; "echo x" | getline v; print v}'`, `gawk 'BEGIN{while (("seq 3" | getline n) > 0) s+=n; print s}'`, `gawk 'BEGIN{cmd="echo q"; cmd | getline r; close(cmd); print r; cmd | getline r2; print r2}'`, `gawk '{print $2 | "sort -n"}' p`, `gawk '{print $2 | "sort -n"} END{close("sort -n"); print "end"}' p`, `gawk '{cmd = "echo " $1; cmd | getline out; close(cmd); print out "!"}' p`, `gawk 'BEGIN{print "b\na" | "sort"; print "done" > "/dev/stderr"}' 2>/dev/null`, `gawk 'BEGIN { "date +%Y" | getline y; print (y > 2000) }'`, `gawk 'BEGIN { print "x" | "cat 1>&2" }' 2>&1`, `gawk '{ print > $3 ".txt" } END { close("nyc.txt"); while ((getline l < "nyc.txt") > 0) print l }' p`, `gawk '{print >> "log"}' p; cat log`,
		`gawk 'BEGIN{print gensub(/(a)(b)/,"\\2\\1","g","abab"), gensub(/a/,"X",2,"aaa")}'`, `gawk '{print gensub(/o/,"0","g")}' p`, `gawk 'BEGIN{print match("foo123", /([a-z]+)([0-9]+)/, m), m[1], m[2], m[2,"start"], m[2,"length"]}'`, `gawk 'match($0, /([a-z]+) ([0-9]+)/, m){print m[2]}' p`, `gawk 'BEGIN{print strftime("%Y-%m-%d", 0), mktime("1970 01 02 00 00 00"), and(12,10), or(12,10), xor(12,10), lshift(1,4), rshift(16,2), strtonum("0x1F")}'`, `gawk 'BEGIN{a[1]=3;a[2]=1;a[3]=2; n=asort(a); for(i=1;i<=n;i++) printf "%s ", a[i]; print n}'`, `gawk 'BEGIN{a["z"]=1;a["b"]=2; n=asorti(a,d); print n, d[1], d[2]}'`, `gawk 'BEGIN{PROCINFO["sorted_in"]="@ind_str_asc"; a["z"];a["b"];a["m"]; for(k in a) print k}'`, `gawk 'BEGIN{PROCINFO["sorted_in"]="@val_num_desc"; a["x"]=1;a["y"]=3;a["z"]=2; for(k in a) print k, a[k]}'`, `gawk '/\<bob\>/' p`, `gawk 'func f(x) {return x*2} BEGIN{print f(4)}'`, `gawk 'function g(a,  k){for(k in a) if (a[k]>1) n++; return n} {c[$3]++} END{print g(c)}' p`, `gawk 'function w(n,  a,k){ if (n==0) return 0; a[1];a[2]; for (k in a) t += w(n-1); return t+1 } BEGIN{print w(3)}'`, `gawk 'BEGIN{a["x"]=1; for (k in a) delete a[k]; print length(a)}'`, `gawk 'BEGIN{print substr("hello", 2, 3); print "a\/b"; print "tab\there"}' 2>/dev/null`,
	)
	s.Stderr = true
	s.Run(t, `gawk 'BEGIN{print log(-1), sqrt(-1), exp(1000), exp(-1000), log(0), sin(log(0)), log(0) % 2}'`, `gawk 'BEGIN{f(1)}'`, `gawk 'function f() {next} BEGIN{f()}'`, `gawk 'function f() {nextfile} {f()} END{f()}' p`)
	s.Stderr = false
	s.Run(t, `gawk '{$2 = "x"; OFS = ":"; print; $2 = "y"; print}' p`, `gawk 'BEGIN{printf "%#o|%#.1o|%#5o|%#o|%#o\n", 0, 0, 0, 8, .5; print PROCINFO["strftime"]}'`, `gawk 'BEGIN{print length(strftime()) > 20}'`, `echo 017 0x11 | gawk '{print strtonum($1), strtonum($2), "+inf-1" + 1, "-inf " + 1}'`, `gawk 'BEGIN{next}'`, `gawk '{print} END{nextfile}' p`, `gawk '{if (0) f(1); print}' p`, `gawk '{print FILENAME, FNR}' < p`, `gawk '{print FILENAME}' - < p`, `gawk -F: -vFS=a '{print $1}' p`, `gawk -vFS=a -F: '{print $1}' p`, `gawk -vFPAT='[a-z]' -Fa '{print $1}' p`, `gawk -Ft '{print $1}' x`, `gawk 'BEGIN{FIELDWIDTHS="2:3 *"}{print NF, $1, $2}' p`, `gawk 'BEGIN{FIELDWIDTHS="1 9:2"}{print NF, $1, $2}' p x`, `gawk 'BEGIN{n = split("aé", q, //); print n, q[2]; print gensub(/a/, "\\\\q\\\\&", 1, "a")}'`, `gawk '{print typeof($1), typeof($9); print gsub(/x/, "", $5), NF, $0}' p`, `gawk 'BEGIN{print strftime("%Z", 0, 1), strtonum("-0x10"), strtonum("0x1.8"), strtonum(" 0x11"), strtonum("-017")}'`, `gawk 'BEGIN{x = log(0); printf "%5d|%-8x|%08.3f|%+d|%X|%a|%.1a|%#.0a|%x|%u\n", x, log(-1), x, -x, x, 2.5, -1/3, 1, 2^70, -2^70}'`, `gawk 'BEGIN{PROCINFO["sorted_in"] = "@ind_num_asc"; a[3]; a["x"]; a[-1]; a["2y"]; for (k in a) print k; PROCINFO["sorted_in"] = "@val_num_desc"; b[1] = "x"; b[2] = "b"; b[3] = 0; for (k in b) print k}'`)
	s.Run(t,
		`gawk 'BEGIN{IGNORECASE=1} /BOB/{print; print "a" == "A"}' p`, `gawk 'BEGIN{FPAT="([^,]+)|(\"[^\"]+\")"} {print NF, $2}' c`, `gawk 'BEGIN{FIELDWIDTHS="2 3 2"} {print $1 "|" $2 "|" $3, NF}' p`, `gawk -vRS='[0-9]+' '{print $1, RT}' p`, `gawk 'BEGINFILE{print "begin", FILENAME} ENDFILE{print "end", FNR}' p x`, `gawk 'BEGIN{n=patsplit("a1b22", m, /[0-9]+/, s); print n, m[1], m[2], s[0], s[1]}'`, `gawk 'BEGIN{a[1]; print isarray(a), typeof(1), typeof("x"), typeof(u), typeof(a)} {print typeof($2)}' p`, `gawk '{switch ($1) {case "bob": print "B"; break; case /^a/: print "A"; default: print "D"}}' p`, `gawk 'function cmp(a, b, c, d) {return d - b} BEGIN{x["p"]=1; x["q"]=3; n=asort(x, y, "cmp"); print n, y[1], y[2]}'`, `gawk 'BEGIN{PROCINFO["sorted_in"]="by"; x["p"]=1; x["q"]=3; for (k in x) print k} function by(a, b, c, d) {return d - b}'`, `gawk 'function f(a) {a["x"]=1} BEGIN{f(z); print z["x"], length(z)}'`, `gawk 'BEGIN{for(i=0;i<20000;i++) s = s "x" i; print length(s); t = s; s = s "y"; print length(t), length(s)}'`, `gawk 'BEGIN{print 1e20, 2^53+1, 1e300*1e300, -0, 1e6, 0.1+0.2, 100000*100000}'`, `gawk 'function f(n) {if (n==3) exit 4; return f(n+1)} BEGIN{f(0)} END{print "end"}'`, `gawk 'function f() {next} {f(); print} END{print NR}' p`, `gawk '/a|bc/{print match($0, /a|al|ali/), RLENGTH}' p`, `echo 'a+b' | gawk '/+/ {print; gsub(/[\]+]/, "-"); print}'`, `gawk '{print > "/dev/stdout"}' p`, `gawk 'BEGIN{printf "%c%c%c|%5s|%-5s|%.1s|\n", 233, "é", 65, "é", "é", "éa"}'`, `yes | gawk 'NR==3{exit} {print}'`, `gawk -f /dev/stdin x <<< '{print}'`, `gawk 'BEGIN{while ("cat p" | getline l) n++; print n; print close("cat p"), close("nope")}'`, `printf 'a\n\n\nb\nc\n\n' | gawk -vRS= '{print NR, NF, $0, length(RT)}'`, `gawk 'BEGIN {if (x == 0 && x == "") print "both"}'`, `gawk '{$5="e"; print; print NF; NF=2; print}' p`, `gawk 'BEGIN{$0="a b c"; print NF; $2=""; print; print NF}'`,
	)
	s.Run(t, `gawk 'BEGIN{print 1' 2>/dev/null; test $? -ne 0 && echo bad`, `gawk '{print' nope 2>/dev/null; test $? -ne 0 && echo bad`, `gawk '{print}' nope 2>/dev/null; echo $?`, `gawk 2>/dev/null; test $? -ne 0 && echo bad`)
}

// TestCSV: gawk has it from 5.3 on only.
func TestCSV(t *testing.T) {
	var b bytes.Buffer
	out := bufio.NewWriter(&b)
	in := "a,\"b \"\"c\"\"\",\r\n\"x\ny\",\"\",z\n"
	s := Command.Run(&applet.Ctx{Cmd: Command, Args: []string{"--csv", `{print NF; for (i = 1; i <= NF; i++) print i "<" $i ">"}`}, Stdin: bytes.NewReader([]byte(in)), Stdout: out, Stderr: io.Discard})
	out.Flush()
	if want := "3\n1<a>\n2<b \"c\">\n3<>\n3\n1<x\ny>\n2<>\n3<z>\n"; s != 0 || b.String() != want {
		t.Errorf("status %d, %q, want %q", s, b.String(), want)
	}
}

func TestRefused(t *testing.T) {
	for src, want := range map[string]int{`BEGIN{"x" |& getline}`: 1, `@include "x"`: 1, `BEGIN{a[1][2] = 3}`: 1, `BEGIN{PROCINFO["sorted_in"]="mycmp"; a[1]; for (k in a) print k}`: 2} {
		var errs bytes.Buffer
		out := bufio.NewWriter(io.Discard)
		if s := Command.Run(&applet.Ctx{Cmd: Command, Args: []string{src}, Stdin: bytes.NewReader([]byte("x\n")), Stdout: out, Stderr: &errs}); s != want || errs.Len() == 0 {
			t.Errorf("%s: status %d, %q", src, s, errs.String())
		}
	}
}

func BenchmarkAwk(b *testing.B) {
	var data bytes.Buffer
	for i := range 100000 {
		fmt.Fprintf(&data, "%d user%d g%d\n", i, i, i%10)
	}
	for _, src := range []string{`{s+=$1} END{print s}`, `{c[$3]++} END{for(k in c) print k, c[k]}`, `/9 /{n++} END{print n}`} {
		b.Run(src, func(b *testing.B) {
			for range b.N {
				out := bufio.NewWriter(io.Discard)
				Command.Run(&applet.Ctx{Cmd: Command, Args: []string{src}, Stdin: bytes.NewReader(data.Bytes()), Stdout: out, Stderr: io.Discard})
			}
		})
	}
}
