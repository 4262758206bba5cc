package find

import (
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command) }

const setup = `
mkdir -p d/sub/deep d/empty d/.hid; echo hi > d/a.txt; echo hello world > d/b.go; : > d/zero; head -c 5000 /dev/zero > d/sub/big; echo x > d/sub/deep/x.TXT; echo h > d/.hid/h
ln -s a.txt d/link; ln -s nowhere d/broken; ln -s sub d/dirlink; ln d/a.txt d/hard
chmod 640 d/a.txt; chmod 755 d/b.go; chmod 600 d/zero
touch -d '2020-01-02 03:04:05' d/zero; touch -d '2024-02-29 12:34:56.789' d/b.go; touch -d '3 days ago' d/sub/big; touch -d '90 minutes ago' d/a.txt
`

func TestAgainstFind(t *testing.T) {
	s := difftest.Suite{Commands: []string{"find"}, Setup: setup, Stderr: true}
	// The tool lists folders as they come: both are sorted.
	var lines []string
	for _, a := range []string{
		``, `d`, `d/`, `./d`, `d -name '*.txt'`, `d -iname '*.txt'`, `d -name 'a*'`, `d -name '.*'`, `. -name .`, `d/ -name d`, `d -path '*sub*'`, `d -path 'd/*' -name '?.go'`, `d -ipath '*SUB*'`, `d -wholename 'd/sub'`, `d -regex '.*\.txt'`, `d -regex 'a.txt'`, `d -iregex '.*\.txt'`, `d -regextype posix-extended -regex '.*(txt|go)$'`, `d -regex '.*\(txt\|go\)'`, `d -regextype egrep -regex 'd/[a-z]+'`, `d -regextype posix-basic -regex 'd/[a-z]\+'`, `d -regex 'd/[a-z]+'`, `d -lname 'a*'`, `d -type f`, `d -type d`, `d -type l`, `d -type f,l`, `d -xtype f`, `d -xtype l`, `-L d -type f`, `-L d -type l`, `-L d -xtype l`, `-H d/dirlink`, `d/dirlink`, `d/dirlink/`, `-P d/dirlink`, `-L d -name big`,
		`d -empty`, `d -type f -empty`, `d -type d -empty`, `d -size 0`, `d -size 1`, `d -size +1`, `d -size -2k -type f`, `d -size 3c`, `d -size +4k`, `d -size -1M -type f`, `d -size 5000c`, `d -size 10b`, `d -size 12c -o -size 2w`, `d -mtime +30 -type f`, `d -mtime -1 -type f`, `d -mtime 3`, `d -mtime +2 -type f`, `d -mmin -100 -mmin +80`, `d -mmin 91 -o -mmin 90`, `d -mtime 0 -type f`, `d -daystart -mtime 3`, `d -newer d/b.go -type f`, `d ! -newer d/b.go`, `d -newermt 2024-01-01 -type f`, `d -newermt '2024-02-29 12:34:57' -type f`, `d ! -newermt '2021-01-01' -type f`, `d -newermm d/zero -type f`, `d -anewer d/zero -type f -name a.txt`,
		`d -perm 640`, `d -perm -600 -type f`, `d -perm /111 -type f`, `d -perm u=rw,g=r`, `d -perm -u+x -type f`, `d -perm /u=x,g=x -type f`, `d -perm -g=r -type f`, `d -perm 0755 -type f`, `d -links 2 -type f`, `d -samefile d/hard`, `d -type f -links +1`, `-L d -samefile d/a.txt`, `d -executable -type f`,
		`d -maxdepth 1`, `d -mindepth 2`, `d -maxdepth 0`, `d -mindepth 1 -maxdepth 2 -type d`, `d -depth`, `d -name sub -prune -o -print`, `d -name sub -prune`, `d -path d/sub -prune -o -type f -print`, `d -type d -name '.*' -prune -o -type f -print`, `d ! -name '*.txt' -type f`, `d -not -name '*.txt' -type f`, `d \( -name '*.txt' -o -name '*.go' \) -type f`, `d -name a.txt -o -name b.go`, `d -name a.txt -print -o -name b.go`, `d -name a.txt , -name b.go`, `d -type f -a -name 'a*'`, `d -name a.txt -name '*.txt'`, `d -false -o -name b.go`, `d -true -a -name b.go`, `d ! ! -name b.go`, `d \( \( -name b.go \) \)`,
		`d -printf '%p %f %h %P %H %d %y %s %m %M\n'`, `d -printf '%Y %l %y %f\n'`, `d -type f -printf '%n %k %b\n' | head -0`, `d -name b.go -printf '%t|%TY-%Tm-%Td %TH:%TM:%TS|%T@|%T+|%Tc|%TT|%Tj %Ta %Tb\n'`, `d -name b.go -printf '%10f|%-10f|%.2f|%5s|%-5s|%05s|%03d\n'`, `d -name b.go -printf '%%\t\a\\\060\n'`, `d -name b.go -printf 'x\cy\n'`, `d -name zero -printf '%Tx %TX %TD %TF %TR %Tr %TA %TB\n'`, `. -maxdepth 1 -printf '%p|%f|%h|%P\n'`, `/ -maxdepth 0 -printf '%p|%f|%h|%P\n'`, `d/ -maxdepth 0 -printf '%p|%f|%h|%P\n'`, `d -name b.go -printf '%q\n'`, `d -name b.go -printf 'a\qb\n'`, `d -name b.go -printf '%'`,
		`d -print0 | tr '\0' '\n'`, `d -type f -print -print`, `d -name a.txt -exec echo {} \;`, `d -name a.txt -exec echo x{}y {} \;`, `d -type f -exec echo {} + | tr ' ' '\n'`, `d -name '*.txt' -exec grep -q hi {} \; -print`, `d -type f -exec false \;`, `d -type f -exec false {} +`, `d -name a.txt -execdir echo {} \;`, `d -name big -execdir pwd \; | sed 's|.*/||'`, `d -name a.txt -execdir echo {} +`, `d -type f -name nope -exec echo {} +`, `d -type f -name 'z*' -delete`, `d -delete`, `d -name '*.txt' -delete -print`, `d/sub -delete`, `d -type d -empty -delete`, `. -name sub -delete`, `d -maxdepth 1 -name zero -quit`, `d -fprint out -name zero; sort out; rm out`, `d -name zero -fprintf out '%f\n'; cat out`, `d -name zero -fprint0 out; od -c out`, `d d/sub -name big`, `nope`, `nope d -name zero`, `d -maxdepth 1 -type f -newer nope`,
		`d -foo`, `d -name`, `d -type x`, `d -type`, `d -type fd`, `d -type f,`, `d -size x`, `d -size 5x`, `d -maxdepth x`, `d -maxdepth -1`, `d -perm x`, `d -perm 999`, `d -mtime x`, `d -o -name x`, `d -name x -o`, `d \( -name x`, `d -name x \)`, `d \( \)`, `d !`, `d -name x -a`, `d -exec`, `d -exec echo`, `d -exec \;`, `d -exec echo {} x{} +`, `-name x d`, `d -name *.txt foo`, `d x -name`, `d -regex '\('`, `d -regextype foo -regex x`, `d -user nosuchuser`, `d -links x`, `d -newermt garbage`, `d , -name x`, `d -not`, `d -newerXY d`, `d -samefile nope`,
	} {
		lines = append(lines, `find `+a)
	}
	s.Same = func(line, text string) string {
		if strings.Contains(line, "od -c") {
			return text
		}
		l := strings.Split(text, "\n")
		sortLines(l)
		return strings.Join(l, "\n")
	}
	s.Run(t, lines...)
}

func sortLines(l []string) {
	for i := range l {
		for j := i; j > 0 && l[j] < l[j-1]; j-- {
			l[j], l[j-1] = l[j-1], l[j]
		}
	}
}
