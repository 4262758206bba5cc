package jq

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command) }

const setup = `
printf '{"z":1,"a":{"y":[1,2.50,"x"],"b":null}}\n' > a.json
printf '{"n":1}\n{"n":2}\n[3]\n' > many.json
printf '[1,2' > bad.json; printf '{"a":1}\n{"a":}\n' > bad2.json; printf '1 2 tru\n' > bad3.json; : > empty
printf '.a\n' > f.jq; printf 'l1\nl2' > lines; printf '[1,[2,{"a":3}],{}]' > s.json
printf '{"users":[{"name":"bob","age":30,"tags":["x","y"]},{"name":"al","age":25,"tags":[]}]}' > users.json
`

// tidy drops the blanks that jq puts behind the program it complains about.
func tidy(_, text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func TestFilters(t *testing.T) {
	data, err := os.ReadFile("testdata/filters.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		lines = append(lines, "jq -nc '"+strings.ReplaceAll(f, "'", `'\''`)+"'")
	}
	difftest.Suite{Commands: []string{"jq"}, Stderr: true, Same: tidy}.Run(t, lines...)
}

func TestAgainstJq(t *testing.T) {
	s := difftest.Suite{Commands: []string{"jq"}, Setup: setup, Stderr: true, Same: tidy}
	s.Run(t,
		`jq . a.json`, `jq -c . a.json`, `jq -S . a.json`, `jq --tab . a.json`, `jq --indent 1 . a.json`, `jq --indent 0 . a.json`, `jq --indent 7 . a.json`, `jq --indent 9 . a.json`, `jq -r .a.y[2] a.json`, `jq -j '.a.y[]' a.json`, `jq -a -n '"é😀"'`, `jq -c -n '{"é":1}' -a`, `jq -C -c . a.json`, `jq -C . a.json`, `jq -C -c -n '[],{},[[]],"x",true,false,null,1'`, `jq -M . a.json`, `JQ_COLORS='0;31:0;32' jq -C -c -n '[null,false,true]'`,
		`jq .n many.json`, `jq -s . many.json`, `jq -s length many.json a.json`, `jq -n 'input' many.json`, `jq -n '[inputs]' -c many.json`, `jq 'input_filename' a.json many.json`, `cat many.json | jq -c .`, `cat many.json | jq input_line_number`, `jq . empty`, `jq -s . empty`, `jq -n 1 empty`, `jq '.a' -c a.json nope`, `jq . nope`,
		`jq . bad.json; true`, `jq -c . bad2.json; true`, `jq -c . bad3.json; true`, `echo '{a:1}' | jq .; true`, `echo "{'a':1}" | jq .; true`, `echo '[1,]' | jq .; true`, `echo '"a' | jq .; true`, `echo 'nope' | jq .; true`, `echo ']' | jq .; true`, `echo '{"a" 1}' | jq .; true`, `echo '[1 2]' | jq .; true`, `printf '1' | jq .`, `printf '1 2\n3' | jq .`, `printf '"a""b"' | jq .`, `printf '\xef\xbb\xbf1' | jq .`, `printf '"\xff"' | jq .`, `printf '"a\\u00e9\\n\\/"' | jq .`,
		`jq -R . lines`, `jq -Rs . lines`, `jq -R -n '[inputs]' -c lines`, `jq -Rr 'ascii_upcase' lines`, `jq -n -R 'input' lines`, `jq --stream -c . s.json`, `jq -c --stream -n '[inputs]' s.json`, `echo 3 | jq -c --stream .`, `jq -c --stream -n 'fromstream(inputs)' s.json`, `jq -c --stream -n 'fromstream(1|truncate_stream(inputs))' s.json`, `jq --seq -c -n '1,2' | od -c`,
		`jq -n --arg a '1 2' --argjson b '{"z":3}' '[$a,$b]' -c`, `jq -nc --slurpfile s many.json --rawfile r lines '[$s,$r]'`, `jq -nc '$ARGS' --args x y`, `jq -nc '$ARGS.positional' --jsonargs 1 '{"a":2}'`, `jq -nc --args '$ARGS.positional' a b`, `jq -nc '[$x,$ARGS.named]' --arg x 1`, `jq -n '$x'`, `jq -nr --arg x y '"\($x)"'`, `jq -f f.jq -c a.json`, `jq -c -f f.jq a.json many.json`, `jq -cf f.jq a.json`, `X=1 jq -nr 'env.X, $ENV.X'`,
		`jq -e .a.b a.json`, `jq -e .a a.json >/dev/null`, `jq -e 'empty' a.json`, `jq -e .n many.json`, `jq -n 'error("x")'`, `jq '.n' many.json a.json`, `jq '.a.y.q' a.json`, `jq -n '"bye"|halt_error'`, `jq -n '{}|halt_error(3)'`, `jq -n '1,halt,2'`, `jq -n '"x"|halt_error(1)'`, `jq -n '1|debug' -c`, `jq -n '1|stderr'`, `jq '.users[]|.name' users.json`, `jq -r '.users[]|[.name,.age]|@csv' users.json`, `jq -r '.users[]|"\(.name)\t\(.age)"' users.json`, `jq -r '.users[]|[.name,.age]|@tsv' users.json`, `jq -c '.users|map({(.name):.age})|add' users.json`, `jq -c '.users|sort_by(.age)|map(.name)' users.json`, `jq '[.users[].tags[]]|length' users.json`, `jq -c '.users|group_by(.age>26)|map(length)' users.json`, `jq -c '.users[0]|keys,to_entries' users.json`, `jq -c 'del(.users[].tags)' users.json`, `jq -c '.users[]|select(.tags|index("x"))|.name' users.json`, `jq -c '.users|=map(select(.age<30))' users.json`, `jq -c '.users[0].age|=.+1|.users[0]' users.json`, `jq -c 'reduce .users[] as $u ({};.[$u.name]=$u.age)' users.json`, `jq -c '[paths(scalars)]' users.json`, `jq -c 'with_entries(.value|=length)' users.json`, `jq -c '.users|INDEX(.name)|map_values(.age)' users.json`, `jq -c 'tojson|fromjson|.users|length' users.json`, `jq -c '.users|first,last|.name' users.json`, `jq -c '[limit(1;.users[])]|length' users.json`, `jq -c '.users|any(.age>29),all(.age>29)' users.json`, `jq -c '.users|map(.age)|min,max,add' users.json`, `jq -c '.users|map(.name|test("^b"))' users.json`, `jq -c '.missing // "none"' users.json`, `jq -c '.users|map(has("name"))' users.json`, `jq -c '..|numbers' users.json`,
		`jq -n '[range(100000)]|map(.*2)|add'`, `jq -n 'reduce range(100000) as $i (0;.+$i)'`, `jq -n '[range(20000)]|map({key:tostring,value:.})|from_entries|length'`, `jq -n 'def f: if .>=100000 then . else .+1|f end; 0|f'`, `jq -n 'last(range(100000))'`, `jq -nc '[limit(3;range(1e9))]'`, `jq -n 'first(range(1e9))'`, `jq -n '[range(3000)]|reduce .[] as $x ({}; .[$x|tostring] += 1)|length'`, `yes '{"a":1}' | head -5000 | jq -c .a | sort | uniq -c`, `yes 1 | jq -n 'first(inputs)'`,
		`jq --arg`, `jq --arg a`, `jq --argjson a '{' -n 1`, `jq '.[' a.json 2>/dev/null`, `jq -n '@text "x\(1+1)y"'`, `jq -n '"a" as $x | "b" as $y | $x + $y'`, `jq -n '[1,2,3] | .[1:] as [$a] | $a'`, `jq -rn '"a\tb"'`, `jq -rn '@sh "echo \("it'"'"'s")"'`, `jq -n --raw-input . lines`, `jq --compact-output --raw-output '.a.y[]' a.json`, `jq --null-input --exit-status 'false'`, `jq --slurp --sort-keys . many.json`,
	)
	s.Stderr = false
	s.Run(t, `jq --nope .`, `jq -Z .`, `jq . --indent`, `jq -n '{a:1'`, `jq -n '1 +'`, `jq -n 'if'`, `jq -n '.a b'`)
}

func BenchmarkJq(b *testing.B) {
	var data bytes.Buffer
	data.WriteByte('[')
	for i := 0; data.Len() < 1<<20; i++ {
		if i > 0 {
			data.WriteByte(',')
		}
		fmt.Fprintf(&data, `{"id":%d,"name":"user%d","group":"g%d","score":%d.5,"tags":["a","b"]}`, i, i, i%10, i%100)
	}
	data.WriteString("]\n")
	for _, f := range []string{`[.[]|select(.score>50)|.id]|add`, `group_by(.group)|map({g:.[0].group,n:length})`, `.`, `map(.score*=2)|length`, `[.[].name|test("9$")]|map(select(.))|length`} {
		b.Run(f, func(b *testing.B) {
			b.SetBytes(int64(data.Len()))
			for range b.N {
				out := bufio.NewWriter(io.Discard)
				Command.Run(&applet.Ctx{Cmd: Command, Args: []string{"-c", f}, Stdin: bytes.NewReader(data.Bytes()), Stdout: out, Stderr: io.Discard})
			}
		})
	}
}
