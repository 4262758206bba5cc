package grep

import (
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command, Egrep, Fgrep, Zgrep, Zegrep, Zfgrep) }

const setup = `
printf 'foo\nbar\nfoobar baz\n\nFOO\n' > a
printf 'one\ntwo foo\nthree' > b
printf 'foo\0bar\nx foo\n' > bin
printf 'a\nb\nc\nd\ne\nf\ng\na\n' > abc
printf 'caf\xc3\xa9\nnaive\nbad \xff byte\n' > utf
printf 'red\nblue\n' > p; : > empty
mkdir -p d/e d/node_modules; echo foo > d/e/f.go; echo foo > d/x.txt; echo hay > d/y.txt; echo foo > d/node_modules/z.go
ln -s ../a d/link
`

// What zgrep cannot read is complained about in the name of gzip there.
func TestAgainstZgrep(t *testing.T) {
	s := difftest.Suite{Commands: []string{"zgrep", "zegrep", "zfgrep"}, Setup: setup + "gzip -c a > a.gz; (gzip -c a; gzip -c b) > ab.gz; head -c 20 a.gz > cut.gz\n"}
	s.Run(t,
		`zgrep foo a.gz`, `zgrep foo a.gz b`, `zgrep -c o a.gz ab.gz b`, `zgrep nope a.gz`, `zgrep foo < a.gz`, `cat ab.gz | zgrep -n o`, `zgrep foo missing.gz`, `zgrep -l foo a.gz b abc`, `zgrep foo a.gz missing b`,
		`zgrep -h foo a.gz b`, `zgrep -e foo -e two ab.gz`, `zegrep 'fo+|two' ab.gz`, `zfgrep 'o*' a.gz`, `zgrep -q foo ab.gz`, `zgrep -v foo a.gz`, `zgrep -o 'b.*' a.gz b`, `zgrep -A1 bar a.gz`, `zgrep foo empty`,
	)
}

func TestAgainstGrep(t *testing.T) {
	s := difftest.Suite{Commands: []string{"grep"}, Setup: setup, Stderr: true}
	s.Run(t,
		`grep -oz o bin | od -c`, `printf 'x1\0x2\0' | grep -zoP 'x\d' | od -c`, `grep -nT foo a`, `grep -vnT foo a`, `cat a | grep -nT foo`, `seq 400 > l; grep -bnHT 39 l`, `grep -E 'fo\b?' a`, `grep -E '\b?foo' a`, `grep -E '(fo)\1?\B+' a`,
		`printf 'a\nb\na\nc\n' | grep -A0 a`, `printf 'a\nb\na\na\nc\n' | grep -oC0 a`, `printf 'a\n\xff\nc\nd\n' | grep -C1 'a\|d'`, `printf 'a\n\xffa\na\n' | grep -I a`, `printf 'ß\n' | grep '\>\(a*\)\1$'`, `echo ABC | grep '\(é*\)*A\1'`, `printf 'x\n\\(\nb\\\n' > q; grep -f q -e 'z\(' a`, `grep -m0 '\(' a`, `printf 'a b\tc\nab\n' | grep -oP '\h\N'`, `printf 'aab\n' | grep -oP '(a)\g1|\x{62}'`, `printf 'aab\n' | grep -oP '(a)\g{-1}\V'`, `printf 'aab\n' | grep -oP '\o{141}\X'`, `printf 'ab.c\n' | grep -oP '[\hb]\Q.c\E'`, `echo a | grep -P '\L'`, `echo a | grep -P 'a\'`, `echo 'éa' | grep -oP 'a*?(?=a)|(?!x)a'`,
		`grep foo a`, `grep foo a b`, `grep -n foo a b`, `grep -c foo a b`, `grep -l foo a b abc`, `grep -L foo a b abc`,
		`grep -i foo a`, `grep -y foo a`, `grep -w foo a`, `grep -x foo a`, `grep -v foo a`, `grep -vn foo a b`, `grep -vc foo a b`,
		`grep -H foo a`, `grep -h foo a b`, `grep -o 'o*' a`, `grep -on 'o' a`, `grep -ob o a b`, `grep -q foo a`, `grep -q nope a`,
		`grep nope a`, `grep foo missing`, `grep foo missing a`, `grep -s foo missing`, `grep -q foo missing a`, `grep -q foo a missing`,
		`grep foo d`, `grep -d skip foo d a`, `grep -E 'fo+(bar)?' a`, `grep 'fo\+\(bar\)\?' a`, `grep -F 'o.b' a`, `grep -G foo a`,
		`grep -e foo -e bar a`, `grep $'foo\nbar' a`, `grep -f p a; printf 'a red hat\nblue sky\ngreen\n' | grep -f p`,
		`grep -c -f empty a`, `grep -vc -f empty a`, `grep '' a`, `grep -c '' a b empty`, `grep -n '^$' a`, `grep -e '' -c a`,
		`printf green | grep -f - abc; printf a | grep -f - abc`, `grep foo a - b < a`, `cat a | grep foo - a`, `cat a | grep --label=in -H foo`,
		`grep -A1 c abc`, `grep -B1 c abc`, `grep -C1 c abc`, `grep -1 c abc`, `grep -n -A1 -B2 'b\|f' abc`, `grep -nA1 a abc`, `grep -C 1 -e a -e d abc b`,
		`grep -A1 --group-separator=XX -e a -e d abc`, `grep -A1 --no-group-separator a abc`, `grep -m1 -A2 a abc`, `grep -m1 a abc b`, `grep -m2 -c . abc`, `grep -m0 a abc`,
		`(grep -m1 b; cat) < abc`, `grep -vm2 a abc`, `grep -c -m1 a abc`, `grep -nv -A1 b abc`,
		`printf 'a\xff\nab\nxa\n' > u; grep -n a u`, `printf 'a\xff\nab\nxa\n' | grep -c a`, `printf 'xa\na\xff\nab\n' | grep -m2 a`,
		`grep foo bin`, `grep -c foo bin`, `grep -a foo bin`, `grep -I foo bin`, `grep --binary-files=without-match foo bin`, `grep -cv foo bin`, `grep -z foo bin`, `grep -zc . bin`, `grep -l foo bin`, `grep -o foo bin`, `grep -n foo bin a`,
		`grep bad utf`, `grep -a bad utf`, `grep caf utf`, `grep . utf`, `grep -o . utf`, `grep 'caf.$' utf`, `grep -w caf utf`, `grep -i CAFÉ utf`, `grep -c 'd.b' utf`, `grep '[[:alpha:]]$' utf`, `grep -n 'byte' utf abc`,
		`cat utf | grep -n naive`,
		`grep --color=always foo a`, `grep --color=always -n foo a b`, `grep --color=always -o o a`, `grep --color=always -C1 -n 'b\|f' abc`, `grep --color=always -v a abc`, `grep --color=always -c foo a b`, `grep --color=always -l foo a`, `grep --color=never foo a`, `grep --color=auto foo a`, `grep --colour=always -H '^' a`,
		`grep -T foo a b`, `grep -T -n foo a`, `grep -Z -l foo a b | od -c`, `grep -Z foo a b | od -c`, `grep --null -c foo a b | od -c`,
		`grep '*a' abc`, `grep '\(*a\)' abc`, `grep -E '*a' abc`, `grep -E 'a{1' abc`, `grep -E 'x|+a' abc`, `grep -E '{1}a' abc`, `grep '^*a' abc`, `grep -E ')' abc`,
		`grep '[' a`, `grep '[a' a`, `grep '[^' a`, `grep '[[:foo:]]' a`, `grep '[:space:]' a`, `grep '\(' a`, `grep -E '(' a`, `grep 'a\{1' a`, `grep -E 'a{2,1}' a`, `grep 'a\' a`, `grep '\1' a`, `grep -E 'a{99999}' a`, `grep '[b-a]' a`,
		`grep '\(a\)\1' abc; echo aa | grep '\(a\)\1'`, `printf 'abab\nabba\n' | grep -E '^(ab|ba)\1$'`, `printf 'abab\nabba\n' | grep -Eo '(.)\1'`, `printf 'abcabc\n' | grep -w '\(abc\)\1'`,
		`printf 'x foo-bar\nfoo_bar\nfoo\n' | grep -w foo`, `printf 'a.b foo,foobar foo\n' | grep -ow foo`, `printf 'foo bar\n' | grep -w ''`, `printf '\n' | grep -w ''`, `printf 'ab\n' | grep -w ''; printf 'a b\n' | grep -wc ''`,
		`printf 'foofoo foo\n' | grep -ow 'foo'`, `printf 'abc\n' | grep -x 'a\|abc'`, `printf 'abc\nab\n' | grep -xF -e ab -e abcd`, `printf 'aXb\n' | grep -Fi x`, `printf 'abc\n' | grep -oF -e b -e bc -e a`,
		`printf 'one two\n' | grep -E '\bt'`, `printf 'one two\n' | grep '\<t\|e\>'`, `printf 'one two\n' | grep -o '\w\+'`, `printf 'one  two\n' | grep -o '\s\S*'`,
		`printf '[]\n' | grep '[]]'`, `printf 'a-b\n' | grep '[a-]b'`, `printf 'a]\n' | grep '[^]]'`, `printf 'A\n' | grep -i '[a]'`, `printf 'B\n' | grep -i '[^b]'`, `printf 'a\\b\n' | grep 'a[\]b'`,
		`printf 'a\r\n' | grep -c 'a$'`, `printf 'a{1\n' | grep 'a{1'`, `printf 'a|b\n' | grep 'a|b'`, `printf 'a+b\n' | grep 'a+b'`, `printf 'a\nb\0' | grep -z '^b'; echo $?`, `printf 'a\nb\0c\0' | grep -z 'a.b' | od -c`,
		`grep -P '\d+' a; echo 'a 12 b 345' | grep -oP '\d+'`, `echo 'key=value' | grep -oP 'key=\K\w+'`, `echo 'foobar foobaz' | grep -oP 'foo(?=baz)'`, `echo 'aXb' | grep -P '(?i)x'`, `echo abab | grep -P '(ab)\1'`, `echo 'a.b' | grep -P 'a\.b$'`, `printf 'x1\nx2\n' | grep -cP 'x(?!1)'`, `grep -P -e a -e b a`, `grep -P '(' a`, `grep -P '[' a`, `echo 'foo bar' | grep -wP 'foo'`, `echo 'foo' | grep -xP 'fo'`, `echo '"a":"b","c":"d"' | grep -oP '"\K[^"]+(?=":)'`,
		`grep -r foo d | sort`, `cd d && grep -r foo | sort`, `grep -rn foo d a | sort`, `grep -rl foo . | sort`, `grep -R foo d | sort`, `grep -r --include='*.go' foo d | sort`, `grep -r --exclude='*.go' foo d | sort`, `grep -r --exclude-dir=node_modules foo d | sort`, `grep -rc --exclude='*.txt' foo d | sort`, `grep -rh foo d`, `grep -rL foo d | sort`, `grep -r --exclude-dir=d foo d`, `grep -r foo d/ | sort`, `grep -r foo a`, `grep --include='*.c' foo a`, `grep --exclude=a foo a b`, `grep -rq foo d`, `grep -r nope d`, `grep -d recurse foo d | sort`, `grep -r --include='*.go' --exclude='f*' foo d | sort`, `grep -r --exclude-dir='e' foo . | sort`,
		`grep -A x foo a`, `grep -m x foo a`, `grep --binary-files=x foo a`,
		`grep --line-buffered foo a`, `grep -U foo a`, `grep --no-ignore-case -i foo a`, `grep -nb '' b`, `grep -bo . b`, `grep --regexp=foo --count a`, `grep --max-count=1 foo a`, `grep --files-with-matches foo a b`, `grep -hn -e three b`, `grep foo -n a`, `grep -- -x a`, `grep -e -x a`, `grep foo a --count`,
		`yes | grep -m3 y`, `yes | grep y | head -2`, `seq 100000 | grep -c 7`, `seq 100000 | grep -n 99999`, `seq 30000 | grep -A1 -n '^15000$'`, `seq 30000 | grep -B2 -n '^15000$'`, `seq 200000 | grep -b 199999`, `seq 100 | grep -E '^(1|2)?5$'`, `head -c 300000 /dev/zero | tr '\0' x | grep -c x`,
		`printf 'a\n--\nb\n' | grep -e --`, `printf 'ab\n' | grep -on 'x*'`, `printf 'aa\n' | grep -c a`, `printf 'é1\n' | grep -o '\W'`, `printf 'éa b\n' | grep -o '\bb'`, `printf 'foo' | grep foo | od -c`, `printf 'foo' | grep -v bar | od -c`,
		`grep -E 'a|b|' abc | wc -l`, `grep -E '(a|b)?c' abc`, `echo 'x.y' | grep 'x\.y'`, `grep -E '[0-9]{3}-[0-9]{4}' <<< 'call 555-1234 now'`, `echo 'a^b$c' | grep 'a^b$c'`, `echo '^a' | grep '\^a'`, `echo 'ab' | grep -E 'a()b'`, `echo 'a)' | grep 'a)'`, `grep -e 'b' -ve x abc`,
		`printf 'ǅ\n' | grep -i 'ǆ'`, `printf 'Ω\n' | grep -i 'ω'`, `printf 'ſ\n' | grep -ic s`,
	)
	s.Stderr = false
	s.Run(t, `grep`, `grep -e`, `grep --nope a`, `grep -Y foo a`, `grep -E`, `egrep 'a|b' abc`, `fgrep 'a' abc`, `grep --colo foo a`)
}
