package sed

import (
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command) }

const setup = `
printf 'one\ntwo\nthree\nfour\nfive\n' > n
printf 'x1\nx2\n' > x
printf 'a\n' > a; printf 'b' > b; : > empty; mkdir d
printf 'cost 5\nnext\nend\n' > s
printf 'key = value\n# comment\nname=foo bar\n\n[sect]\n' > conf
printf 'hello world\nHello World\ncaf\xc3\xa9 na\xc3\xafve\n' > t
`

func TestAgainstSed(t *testing.T) {
	s := difftest.Suite{Commands: []string{"sed"}, Setup: setup, Stderr: true}
	s.Run(t,
		`sed 'tb;s/[a-z]/+/;:b' n`, `sed '$!N;1,2s/^/X/' n`, `sed 'H;$!d;x;2,$c end' n`, `sed '$,$c end' n`, `sed -s '1,$c end' a n`, `sed -n '/five/,$p' n`, `sed '0r x' n`, `sed -s '0r x' b a`, `sed '0!r x' n`, `sed '1!{0r x
}' n`, `sed 'N;0r x' n`, `sed 'a foo\nbar\cAx' x`, `sed 'a\nfoo' x`, `sed 'a\
\nfoo\q' x`, `sed 'R b' x`, `sed 'R b' x x`, `sed 'r empty' b`, `sed 'r nope' b`, `sed -z 'R x' b`, `sed -zn 'W /dev/stdout' b n x`, `sed 'n;2w /dev/stdout' b n`, `sed -e '{' -e p`, `sed -e p -e '{'`, `sed -e p -e '//d' -e p x`, `sed '{p;1}' x`,
		`sed p x`, `printf 'a\nb' | sed 'H;$!d;x'`, `printf a | sed 'h;G'`, `printf 'a\nb' | sed 'x;G'`, `printf 'a\nb' | sed G`, `printf a | sed P`, `printf a | sed 'P;d'`, `sed -s 'H;$!d;x' n x`, `sed -i 'H;$!d;x' n x`, `sed -s G n x`, `sed 'H;$!d;x' b n`, `sed -n p x`, `sed -n 2p n`, `sed 2d n`, `sed '$d' n`, `sed -n '$=' n`, `sed -n '2,4p' n`, `sed '2,4d' n`, `sed '2!d' n`, `sed '/t/d' n`, `sed -n '/two/,/four/p' n`, `sed -n '/two/,$p' n`, `sed -n '2,+1p' n`, `sed -n '2,~2p' n`, `sed -n '1~2p' n`, `sed -n '0~2p' n`, `sed -n '2~0p' n`, `sed -n '0,/o/p' n`, `sed -n '1,/o/p' n`, `sed -n '3,1p' n`, `sed -n '/o/,1p' n`, `sed -n '2,/o/p' n`, `sed -n '/two/I,/FOUR/Ip' n`, `sed -n '/o/,+1p;2,+0p;1,~0p' n`, `sed -n '\,two,p' n`, `sed -n '\xtwoxp' n`, `sed -n '/e$/!p' n`, `sed '1!G;h;$!d' n`, `sed -n '2{p;q}' n`, `sed '3q' n`, `sed '3Q' n`, `sed '3q5' n`, `sed 'q7' n`, `sed -n '$!{$!p}' n`, `sed '2,3!d' n`, `sed '/t/,/f/{/r/d}' n`,
		`sed 's/o/0/' n`, `sed 's/o/0/g' n`, `sed 's/o/0/2' t`, `sed 's/o/0/2g' t`, `sed -n 's/o/0/p' n`, `sed 's/O/0/I' n`, `sed 's/O/0/gi' t`, `sed 's/\(.\)\(.\)/\2\1/' n`, `sed -E 's/(.)(.)/\2\1/' n`, `sed -r 's/(.)(.)/[\0]/' n`, `sed 's/.*/"&"/' n`, `sed 's/.*/\&/' n`, `sed 's|o|/|' n`, `sed 's,o,\,,' n`, `sed 's/a*/x/g' n`, `echo baaac | sed 's/a*/x/g;s/x*/-/2'`, `echo abc | sed 's/b*/X/2'`, `sed 's/$/!/;s/^/>/' n`, `sed 's/[aeiou]//g' n`, `sed 's/o\|e/X/g' n`, `sed -E 's/o|e/X/g' n`, `sed 's/o\+/X/' n`, `sed 's/e\?/X/' n`, `sed 's/e\{2\}/X/' n`, `sed -E 's/e{2}/X/' n`, `sed 's/x/\n/' x`, `sed 's/x/a\
b/' x`, `sed 's/\n//;N;s/\n/+/' n`, `sed 'N;N;s/\n/,/g' n`, `sed ':a;N;$!ba;s/\n/ /g' n`, `sed -n 'H;${x;s/\n/,/g;s/^,//;p}' n`, `sed '$!N;$!D' n`, `sed 'N;P;D' n`, `sed '$!N;s/\n/ /;P;D' n`, `sed -e :a -e '$q;N;3,$D;ba' n`,
		`sed 's/\bw/W/' t`, `sed 's/\w\+/[&]/g' t`, `sed -E 's/\w+/\u&/g' t`, `sed 's/.*/\U&/' t`, `sed 's/.*/\L\u&/' t`, `sed -E 's/(\w+) (\w+)/\U\1\E \2/' t`, `sed -E 's/(\w+) (\w+)/\u\1 \l\2x/' t`, `sed -E 's/(h)(.*)/\u\L\1\2/' t`, `sed 's/\(h\)\(e\)/\U\1x\E\2y/' t`, `sed 's/x/\x26/' x`, `sed 's/x/\cA/' x | od -c`, `sed 's/x/\d065\o101\x41/' x`, `sed 's/\x78/Z/' x`, `echo 'a.b' | sed 's/\x2e/X/g'`, `echo 'a^b' | sed 's/a\x5eb/x/'`, `echo 'a+b' | sed -E 's/a\x2bb/x/'`, `echo 'a	b' | sed 's/\t/T/'`, `echo 'a/b' | sed 's/[/]/x/'`, `echo 'a/b' | sed 's/[^]/]/x/'`, `echo 'a\b' | sed 's/[\n]/x/'`, `echo 'a]b' | sed 's/[\]]/x/'`, `echo 'a\b' | sed 's/[\\]/x/'`, `echo 'a-b' | sed 's/[a\-]/x/g'`, `echo 'a[b' | sed 's/[[]/x/'`, `echo 'a|b' | sed 's|a\|b|x|'`, `sed 's/caf./X/' t`, `sed 's/é/E/' t`, `sed 's/[é]/E/' t`,
		`sed 'a foo' x`, `sed 'a\foo' x`, `sed 'a\  foo' x`, `sed 'a\
foo' x`, `sed 'a\
  foo\
  bar' x`, `sed 'a a\tb' x`, `sed 'a\ta' x`, `sed 'a a\qb' x`, `sed '1i foo' x`, `sed '1i\   foo' x`, `sed -e '1i\' -e 'top' x`, `sed -e 'i\' -e '  foo' -e p x`, `sed '1c foo' x`, `sed '1,2c foo' x`, `sed '$!c foo' n`, `sed '2,3c\
foo\
bar' n`, `sed '/two/,/four/c X' n`, `sed '2!c X' n`, `sed '$a end' x`, `sed '$ a\end' b`, `sed 'a x' b`, `sed 'i x' b`, `sed p b`, `sed -n p b a`, `sed '' b a`, `sed = b`, `sed '1{i foo
}' x`, `sed '1a foo\' x`, `sed 'a\' x`, `sed 'c\' x`, `sed '2r a' x`, `sed 'r b' x`, `sed 'r nope' x`, `sed 'R n' x`, `sed '1w out' x; cat out`, `sed -n '/1/w o1
/2/w o2' x; cat o1 o2`, `sed 's/x/y/w out' x; cat out`, `sed 'w /dev/stdout' x`, `sed -n 'w /dev/stderr' x`, `sed 'W out' x; cat out`, `sed -n '1r /dev/stdin' x < a`, `sed 'y/abc/xyz/' a`, `sed 'y/ontw/ONTW/' n`, `sed 'y/é/e/' t`, `sed 'y/x\n/y\t/' x`, `sed 'y,x\,,yz,' x`, `sed 'y/\//x/' x`, `sed 'y/abc/\n\\x/' a`,
		`sed -n l t`, `sed -n 'l 10' t`, `sed -n 'l 1' t`, `sed -n 'l 0' t`, `sed -l 8 -n l n`, `printf 'a\tb\\\001\377\n' | sed -n l`, `sed = n`, `sed -n '/t/=' n`, `sed F x`, `sed F < x`, `sed z x`, `sed -s 'F' x a`, `sed 'n;d' n`, `sed '$!n;s/./X/' n`, `sed 'N' x a`, `sed '$!N;s/\n/-/' n`, `sed --posix N a`, `sed 'x;p;x' x`, `sed 'G' x`, `sed -n 'x;p' x`, `sed 'h;G;G' a`, `sed 't;s/x/y/;t;s/y/z/' x`, `sed 's/x/y/;t end;s/1/2/;:end' x`, `sed 's/q/y/;T;s/1/2/' x`, `sed 'b end;d;:end' x`, `sed '/1/{b end};s/x/y/;: end' x`, `sed ':a;s/^\(x*\)[0-9]/\1x/;ta' x`, `sed ':a b;s/q/r/' x`, `sed 'D' x`,
		`sed -s -n '$p' n x`, `sed -n '$p' n x`, `sed -n '1p' n x`, `sed -s -n '1p' n x`, `sed -n '$p' n empty`, `sed -n '$p' n nope`, `sed p nope x`, `sed p d x`, `sed -n '$=' empty`, `sed 5q x a`, `cat x | sed p - a`, `sed -n '$p' x - < a`,
		`sed -i s/x/y/ x; cat x`, `sed -i.bak s/x/y/ x; cat x x.bak`, `sed -i'bak_*' s/x/y/ x; cat bak_x`, `sed -i -e '$a k=3' x; cat x`, `sed -n -i 1p x n; cat x n`, `sed -i 2q n; cat n`, `sed -i p d`, `sed -i p nope x; cat x`, `sed -i '1d' x a; cat x a`, `sed -i 's/x/y/w hits' x; cat hits x`, `sed --in-place=.o 1d x; cat x x.o`, `sed -i '' x && cat x`, `sed -i -E 's/(.)/<\1>/' x; cat x`, `sed -i = n; cat n`, `sed -i 's/b/c/' b; od -c b`, `sed -i '/nope/Q' n; cat n`, `chmod 600 x; sed -i p x; stat -c %a x`, `ln -s x l; sed -i s/x/y/ l; cat x l; ls -l l | cut -c1`, `ln -s x l; sed -i --follow-symlinks s/x/y/ l; cat x`, `sed -i '2i\inserted' x; cat x`, `sed -i -s '$d' x n; cat x n`,
		`sed '# only a comment' x`, `sed '#n' x`, `sed '#no
p' x`, `sed -n '#n' x`, `sed 'p;# hi' x`, `sed -e p -e '#n' x`, `sed 's/x/y/;;p;' x`, `sed ' p ; p ' x`, `sed '{p}' x`, `sed '{p;}' x`, `sed '1 { p ; p }' x`, `sed '1{s/x/y/};p' x`, `sed -n '/x/ { s//z/ ; p }' x`, `sed '/x1/s//y/' x`, `sed 's/x/y/ ;p' x`, `sed 's/x/y/ p' x`, `sed --expression=p --quiet x`, `echo p > f.sed; sed -n -f f.sed x`, `printf 's/x/y/\n# c\n1p\n' > f; sed -f f x`, `printf 'a\\\nfoo\n' > f; sed -f f x`, `sed -n -f /dev/stdin x <<< p`, `printf '1{\np\n}\n' > f; sed -f f -e p x`, `printf 'p\nk\n' > f; sed -f f x`,
		`sed -z 's/\n/,/g' n`, `printf 'a\0b\0' | sed -z 's/^/>/' | od -c`, `printf 'a\0b' | sed -z p | od -c`, `sed -z 's/^t/T/Mg' n`, `sed -z 's/e$/E/mg' n`, `sed 'N;N;s/^t/T/M;s/e$/E/M' n`, `sed 'N;s/\`+"`"+`one/X/M;s/two\'"'"'/Y/M' n`, `sed 'N;s/o.t/X/' n`, `sed 'N;s/o.t/X/M' n`, `sed 'N;s/e[^a]t/X/' n`,
		`sed -n '/a\|b/p' a b`, `sed -E '/^(one|two)$/d' n`, `sed '/^$/d;/^#/d' conf`, `sed -n '/^\[/p' conf`, `sed 's/ *= */=/' conf`, `sed -E 's/^([^=]+)=(.*)$/\2=\1/' conf`, `sed -n 's/^name=//p' conf`, `sed 's/[^[:alnum:]]//g' conf`, `sed 's/[[:space:]]*$//;s/^[ \t]*//' conf`, `sed '/comment/s/#/\/\//' conf`, `sed 's/\(foo\) \(bar\)/\2 \1/;s/\./,/' conf`, `sed -u p x`, `seq 20 | sed -n '5,/^1/p;/8/,+2p'`, `seq 10 | sed '2,5{3!d}'`, `seq 5 | sed -n '2{n;p}'`, `seq 5 | sed '2{N;N;s/\n/-/g}'`, `seq 12 | sed -n '/1/,/1/p'`, `seq 10 | sed '0~3d'`, `seq 6 | sed 'N;l;D'`, `yes | sed 3q`, `seq 100000 | sed -n '$p'`, `seq 3 | sed 's/2/a\/b/'`,
		`sed '1e echo hi' x`, `echo 'echo hi' | sed e`, `echo 'echo hi' | sed 's/hi/ho/e'`, `sed --sandbox 'e ls' x`, `sed --sandbox 'w f' x`, `sed --sandbox p x`,
		`printf a | sed g`, `printf a | sed x`, `printf a | sed q`, `printf a | sed 'h;G'`, `printf a | sed 'H;x'`, `printf 'a\0b\0' | sed -z 'i x' | od -c`, `printf 'a\0b\0' | sed -z 'c x' | od -c`, `printf 'a\nb' | sed -z '=;l 4;F' | od -c`, `printf a | sed -z q | od -c`,
		`seq 9 | sed -n 'N;N;2,4p'`, `seq 9 | sed -n 'N;N;1,2p'`, `seq 9 | sed -n 'N;N;2,+1p'`, `seq 9 | sed -n 'N;N;1,/6/p'`, `seq 9 | sed -n 'N;N;2,~4p'`, `seq 9 | sed -n 'N;N;5,2p'`, `seq 9 | sed -n '2,4{N;N};1,3p'`, `seq 9 | sed -n '3!N;2,3='`, `seq 9 | sed -n '3,+0p;/2/,1p;2,1p'`,
		`sed 1a x`, `sed b. x`, `sed '{p' x`, `sed 'p}' x`, `sed '}' x`, `sed '1,p' x`, `sed '+1p' x`, `sed 0p x`, `sed 0,1p x`, `sed '1!!p' x`, `sed k x`, `sed pp x`, `sed s/a x`, `sed s/a/b x`, `sed s/a/b/k x`, `sed s/a/b/pp x`, `sed s/a/b/gg x`, `sed 's/a/b/2 3' x`, `sed s/a/b/0 x`, `sed y/a/bc/ x`, `sed y/a x`, `sed /a x`, `sed 1 x`, `sed 's/\(/x/' x`, `sed 's/a\)/x/' x`, `sed -E 's/a)/x/' x`, `sed 's/a/\1/' x`, `sed s//x/ x`, `sed r x`, `sed w x`, `sed 1,2q x`, `sed ':' x`, `sed 'v 9.0' x`, `sed 'v 4.2' x`, `sed 's/[/x/' x`, `sed 's/a\{1/x/' x`, `sed 's/*a/x/' x`, `sed -E 's/*a/x/' x`, `sed -E 's/a{1/x/' x`, `sed -E 's/a{2,1}/x/' x`, `sed 's/[[:foo:]]/x/' x`, `sed 's/a/b/w' x`, `sed 'l x' x`, `sed '/x/,/y/' x`, `sed 1,2,3p x`, `sed -e p -e k x`, `sed -e 's/a/b' -e p x`, `sed '1:a' x`, `sed '1}' x`, `sed '1#c' x`, `sed -f nope x`, `sed 's/a/b/e;k' x`, `sed '//d' x`, `sed 's/\n*/-/g' x`, `sed 's/.\{3\}/&,/g' n`,
	)
}

func TestUsage(t *testing.T) {
	s := difftest.Suite{Commands: []string{"sed"}, Setup: setup}
	s.Run(t, `sed --nope p x 2>/dev/null`, `sed -n 2>/dev/null`, `sed -X 2>/dev/null`, `sed 'w /nope/f' x 2>/dev/null`)
}
