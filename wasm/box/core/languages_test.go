package core_test

import (
	"strings"
)

// languages makes command lines of the second tier. Their inputs are long:
// one program is compared on many lines at a time. They run when -family names
// one: some of what they find is the tools' own (expressions that the C library
// judges in its own way, jq 1.6's faults) or said in LIMITATIONS.md.
var languages = map[string]func(g gen) ([]string, string){
	"cmp": func(g gen) ([]string, string) {
		a := g.few(3)
		return append(append([]string{"cmp"}, g.some(3, "-l", "-s", "-b", "-n5", "-i1", "-i2:1")...), g.file("f1", a), "-"), g.change(a)
	},
	"comm": func(g gen) ([]string, string) {
		a := g.few(8)
		return append(append([]string{"comm"}, g.some(3, "-1", "-2", "-3", "--total", "--check-order", "--nocheck-order", "--output-delimiter=|", "-z")...), g.file("f1", a), "-"), g.change(a)
	},
	"join": func(g gen) ([]string, string) {
		return append(append([]string{"join"}, g.some(3, "-a1", "-a2", "-v1", "-e-", "-i", "-t,", "-1"+g.pick("1", "2"), "-2"+g.pick("1", "2"), "-o"+g.pick("auto", "1.1,2.2", "0,1.2,2.1"), "--nocheck-order", "--header", "-z")...), g.file("f1", g.text(" ,")), "-"), g.text(" ,")
	},
	"date": func(g gen) ([]string, string) {
		args := []string{"date"}
		if g.IntN(2) == 0 {
			args = append(args, "-u")
		}
		phrases := ""
		for range 60 {
			phrases += g.phrase() + "\n"
		}
		return append(args, "-f", g.file("f1", phrases), g.pick("+%F %T %z", "+%c|%x|%X|%D|%r|%R", "+%j %U %V %W %G %g %u %w %C %y", "+%-d/%_m/%^a/%#Z/%5Y/%e %k %l", "+%s.%3N %::z %:z %p %P", "-R", "-Iseconds", "--rfc-3339=ns", "")), ""
	},
	"file": func(g gen) ([]string, string) {
		return append(append([]string{"file"}, g.some(3, "-b", "-i", "--mime-type")...), g.file("f1", g.pick("", "#!/bin/sh\n", "<html>", "{\"a\":1}", "\x89PNG\r\n\x1a\n", "GIF89a")+g.text(" ,\t\r"))), ""
	},
	"cksum": func(g gen) ([]string, string) {
		return append(append([]string{g.pick("cksum", "md5sum", "sha1sum", "sha256sum", "sha512sum", "sum", "sha224sum", "sha384sum")}, g.some(3, "-")...), g.file("f1", g.text(" ,"))), g.text(" ,")
	},
}

// few returns lines of which many are the same.
func (g gen) few(most int) string {
	s := ""
	for range g.IntN(most) {
		s += g.pick("a", "b", "c", "d", "", " a", "a b", "B", "e", "\tx") + "\n"
	}
	return s
}

// change returns text with some lines changed, added and removed.
func (g gen) change(text string) string {
	var out []string
	for _, l := range strings.SplitAfter(text, "\n") {
		switch g.IntN(6) {
		case 0:
		case 1:
			out = append(out, g.few(3), l)
		case 2:
			out = append(out, g.pick("a", "x", "B ", "  a")+"\n")
		default:
			out = append(out, l)
		}
	}
	s := strings.Join(out, "")
	if g.IntN(5) == 0 {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

// phrase returns what date -d reads.
func (g gen) phrase() string {
	day := g.pick("2024-02-29", "2021-12-31", "1 Jan 2000", "Mar 5 2022", "12/25/2020", "20240131", "Thu, 5 Mar 2015", "5 march 1999", "2023-06-15", "Sun 2 Feb 2020", "2024-W05", "jan 31, 2023", "15-aug-2019")
	clock := g.pick("", "", " 10:20", " 23:59:59", " 3pm", " 12am", " 00:00:00.5", " 7:05:03 am", " noon", " 24:00", "T10:11:12", "T10:11:12Z", " 10:00 +0530", " 5:00 EST", " 12:34 UTC-3", " 10:20:30 -08:00")
	rel := g.pick("", "", "", " +1 day", " -2 weeks", " 3 months ago", " next month", " last year", " +1 hour", " 90 minutes ago", " tomorrow", " yesterday", " +1 month -1 day", " next monday", " 1 year 2 months", " -1 sec", " fortnight", " last friday", " 2 days", " +36 hours", " third day")
	return g.pick(day+clock+rel, day+clock+rel, day+clock, "@"+g.num(2000000000), "@-"+g.num(100000)+g.pick("", ".5"), "TZ=\"America/New_York\" "+day+clock, day+rel+clock, "bogus", day+" 25:00", "2024-13-01", "", "2023-02-29")
}
