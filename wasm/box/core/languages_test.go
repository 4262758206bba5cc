package core_test

import (
	"strconv"
	"strings"
)

// languages makes command lines of the second tier. Their inputs are long:
// one program is compared on many lines at a time.
var languages = map[string]func(g gen) ([]string, string){
	"grep": func(g gen) ([]string, string) {
		args := append([]string{"grep"}, g.some(5, "-i", "-v", "-w", "-x", "-n", "-c", "-o", "-b", "-m2", "-A1", "-B1", "-C2", "-H", "-h", "-l", "-L", "-q", "-s", "-a", "-z", "--color=always", "-T", "--no-group-separator")...)
		ext := g.IntN(2) == 0
		switch {
		case g.IntN(6) == 0:
			return append(args, "-F", "-e", g.pick("a", "ab", "A", "", "b", ".", "[a]", "é", "a\nb")), g.lines(40)
		case ext:
			args = append(args, "-E")
		}
		for range 1 + g.IntN(2) {
			args = append(args, "-e", g.regex(ext, 2))
		}
		return args, g.lines(40)
	},
	"sed": func(g gen) ([]string, string) {
		args := append([]string{"sed"}, g.some(4, "-n", "-s", "-z")...)
		ext := g.IntN(2) == 0
		if ext {
			args = append(args, "-E")
		}
		for range 1 + g.IntN(2) {
			args = append(args, "-e", g.sed(ext, 2))
		}
		if g.IntN(4) == 0 {
			args = append(args, g.file("f1", g.lines(8)), g.file("f2", g.lines(8)))
		}
		return args, g.lines(30)
	},
	"gawk": func(g gen) ([]string, string) {
		args := append([]string{"gawk"}, g.some(6, "-F,", "-F:", "-F[,:]", "-vOFS=-", "-vRS=", "-vFS=a+", "-vRS=b", "-vOFMT=%.3g", "-vCONVFMT=%d", "-vORS=;")...)
		a := awkGen{g}
		return append(args, a.program()), g.text(" ,:\t") + g.text("  ,") + g.text(" ")
	},
	"jq": func(g gen) ([]string, string) {
		args := append([]string{"jq"}, g.some(5, "-r", "-S", "-e", "-s", "-n", "-j", "-a", "--tab")...)
		if g.IntN(3) > 0 {
			args = append(args, "-c")
		}
		in := ""
		for range 1 + g.IntN(4) {
			in += g.json(3) + g.pick("\n", " ", "\n\n")
		}
		return append(args, g.filter(3)), in
	},
	"diff": func(g gen) ([]string, string) {
		args := append([]string{"diff"}, g.some(5, "-u", "-c", "-i", "-w", "-b", "-B", "-q", "-s", "-U1", "-U0", "-C1", "-E", "--color=always", "-y", "-e", "-n", "-W40", "--suppress-common-lines", "--left-column", "-t", "-a", "-N", "--strip-trailing-cr", "-p", "-Fb", "-d", "-Ia")...)
		a := g.few(12)
		args = append(args, "--label=a", "--label=b")
		return append(args, g.file("f1", a), "-"), g.change(a)
	},
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
	"bc": func(g gen) ([]string, string) {
		in := ""
		for range 10 {
			in += g.bc(3) + "\n"
		}
		return append([]string{"bc"}, g.some(4, "-l", "-q")...), in
	},
	"file": func(g gen) ([]string, string) {
		return append(append([]string{"file"}, g.some(3, "-b", "-i", "--mime-type")...), g.file("f1", g.pick("", "#!/bin/sh\n", "<html>", "{\"a\":1}", "\x89PNG\r\n\x1a\n", "GIF89a")+g.text(" ,\t\r"))), ""
	},
	"cksum": func(g gen) ([]string, string) {
		return append(append([]string{g.pick("cksum", "md5sum", "sha1sum", "sha256sum", "sha512sum", "sum", "sha224sum", "sha384sum")}, g.some(3, "-")...), g.file("f1", g.text(" ,"))), g.text(" ,")
	},
}

// lines returns text that regular expressions find something in.
func (g gen) lines(most int) string {
	var b strings.Builder
	for range g.IntN(most) {
		for range g.IntN(12) {
			b.WriteString(g.pick("a", "b", "c", "A", "B", "é", "1", " ", "-", "ab", "x", "_", ".", "\t", "[", "aa", "É"))
		}
		if g.IntN(60) == 0 {
			b.WriteString(g.pick("\xff", "\xc3"))
		}
		b.WriteByte('\n')
	}
	s := b.String()
	if g.IntN(4) == 0 {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
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

// regex returns a pattern.
func (g gen) regex(ext bool, depth int) string {
	op := func(s string) string {
		if ext {
			return s
		}
		return `\` + s
	}
	s := g.pick("", "", "", "", "^")
	for range 1 + g.IntN(3) {
		switch k := g.IntN(12); {
		case k < 5:
			s += g.pick("a", "b", "c", "é", "1", " ", "-", "ab", "x", "A", `\.`, "_")
		case k == 5:
			s += "."
		case k < 8:
			s += g.pick("[ab]", "[^a]", "[a-c]", "[[:alpha:]]", "[[:digit:]b]", "[^[:space:]]", "[]a]", "[^]b-]", "[éb]", "[[:upper:]]", "[[=a=]]", "[.]", `[\n]`)
		case k == 8:
			s += g.pick(`\b`, `\<`, `\>`, `\w`, `\W`, `\s`, `\S`, `\B`)
		case depth > 0:
			s += op("(") + g.regex(ext, depth-1) + g.pick("", op("|")+g.regex(ext, depth-1)) + op(")")
			if depth == 2 {
				s += g.pick("", "", `\1`)
			}
		}
		s += g.pick("", "", "", "", op("+"), op("?"), op("{")+g.pick("2", "1,2", ",2", "1,", "0,1", "0")+op("}"))
	}
	return s + g.pick("", "", "", "", "$")
}

// sed returns a script.
func (g gen) sed(ext bool, depth int) string {
	re := func() string { return "/" + g.regex(ext, 1) + "/" + g.pick("", "", "I") }
	addr := func() string {
		return g.pick("1", "2", "3", "$", "5", re(), re(), "0~2", "2~3")
	}
	var cmds []string
	for range 1 + g.IntN(3) {
		a := ""
		switch g.IntN(4) {
		case 0:
			a = addr()
		case 1:
			a = addr() + "," + g.pick("3", "$", "+1", "~2", "4", re(), re())
		}
		if a != "" {
			a += g.pick("", "", "", "!")
		}
		c := g.pick("p", "d", "n", "N", "D", "P", "g", "G", "h", "H", "x", "=", "l", "l 9", "z", "n", "q", "Q", "q3", "y/abA/xyz/", "F", "t", "T", "b")
		switch g.IntN(8) {
		case 0, 1, 2:
			c = "s/" + g.regex(ext, 1) + "/" + g.pick("X", "<&>", "", `\n`, `\U&\E.`, `\u&`, `a\tb`, `[&][&]`, `\L&`, `\l&x`, `\&`) + "/" + g.pick("", "", "g", "2", "p", "2g", "I", "gI", "m", "3p")
		case 3:
			c = g.pick("a foo", "i foo", "c foo", "a\\\nfoo\\\nbar", "c\\\n  bar", "i\\\n  x") + "\n"
		case 4:
			if depth > 0 {
				c = "{" + g.sed(ext, depth-1) + "\n}"
			}
		case 5:
			c = g.pick("s//Y/", "s/\\(a\\)\\(b*\\)/\\2\\1/", ":x;s/a/b/;tx", "$!N", "$!{N;P;D}", "N;N;s/\\n/,/g", "H;$!d;x;s/\\n/,/g")
			if strings.HasPrefix(c, ":") {
				a = ""
			}
		}
		cmds = append(cmds, a+c)
	}
	return strings.Join(cmds, g.pick(";", "\n"))
}

// json returns a value.
func (g gen) json(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.pick("null", "true", "false", "0", "1", "-1", "1.5", "1e3", "100000000000000000", "0.1", "1e-5", "123456789012", "3.0", `""`, `"a"`, `"b c"`, `"é"`, `"\u00e9\n"`, `"1"`, `"a,b"`, `"2015-03-05T23:51:47Z"`, `"😀"`)
	}
	var parts []string
	if g.IntN(2) == 0 {
		for range g.IntN(4) {
			parts = append(parts, g.json(depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	for range g.IntN(4) {
		parts = append(parts, `"`+g.pick("a", "b", "c", "z", "k 1")+`":`+g.json(depth-1))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// filter returns a jq program.
func (g gen) filter(depth int) string {
	f := func() string { return g.filter(depth - 1) }
	if depth == 0 {
		return g.pick(".", ".a", ".b?", ".[]?", ".[0]?", "1", `"x"`, "null", "[]", "{}", ".[1:]?", ".a.b?", "..", "length?", "1.5", "-1", "[1,2,3]", `{"a":1,"b":[2]}`, `"a,b"`, "true", ".c", ".[-1]?", "keys?", "type", "empty")
	}
	switch g.IntN(16) {
	case 0, 1:
		return f() + " | " + f()
	case 2:
		return "(" + f() + "), (" + f() + ")"
	case 3:
		return "[" + f() + "]"
	case 4:
		return "{a: (" + f() + "), " + g.pick("b", `"k"`, `("x"+"y")`) + ": (" + f() + ")}"
	case 5:
		return "(" + f() + ") " + g.pick("+", "-", "/", "%", "==", "<", ">=", "and", "or", "//", "!=") + " (" + f() + ")"
	case 6:
		return "if " + f() + " then " + f() + " else " + f() + " end"
	case 7:
		return "try (" + f() + ") catch (" + f() + ")"
	case 8:
		return "reduce .[]? as $x (" + f() + "; " + f() + ")"
	case 9:
		return "(" + g.pick(".a", ".[]?", ".b?", ".[0]?", ".c") + ") " + g.pick("|=", "=", "+=", "//=") + " (" + f() + ")"
	case 10:
		return "map(" + f() + ")?"
	case 11:
		return "(" + f() + ") | " + g.pick("tostring", "tojson", "ascii_downcase?", "tonumber?", "length?", "keys?", "values", "add?", "sort?", "unique?", "reverse?", "first?", "last?", "min?", "max?", "to_entries?", "from_entries?", "flatten?", "floor?", "sqrt?", "@csv?", "@tsv?", "@html", "@uri", "@sh?", "@base64", "@json", "@text", "not", "explode?", "implode?", "ascii?", "paths", "leaf_paths", "any?", "all?", "range(3)", "tojson|fromjson", "todate?", "fromdate?", "transpose?", "group_by(.a)?", "unique_by(.a)?", "min_by(.a)?", "sort_by(.a)?", "has(\"a\")?", "has(0)?", "del(.a)?", "del(.[0])?", "to_entries?", "with_entries(.)?", "split(\",\")?", "join(\",\")?", "test(\"a\")?", "sub(\"a\";\"b\")?", "gsub(\"[a-z]\";\"<\\(.)>\")?", "ascii_upcase?", "ltrimstr(\"a\")", "rtrimstr(\"c\")", "startswith(\"a\")?", "index(\"a\")?", "indices(1)?", "inside([1])?", "contains(\"a\")?", "combinations?", "tostream", "splits(\",\")?", "infinite", "isnan?", "recurse", "env|type", "input_line_number", "getpath([\"a\"])?", "limit(2;.[]?)", "first(.[]?)", "until(.;true)", "[.[]?|numbers]", "walk(.)", "bsearch(1)?", "capture(\"(?<x>a)\")?", "[match(\"a\";\"g\")?]", "scan(\"[a-z]\")?", "error?", "ascii?", "@base64d?", "utf8bytelength?", "pick(.a)?", "significand?", "trunc?", "round?", "pow(2;3)", "log2?", "gmtime?", "strftime(\"%Y\")?", "splits(\"a\")?", "dates?", "halt_error?", "$__loc__", "input?", "debug", "nan|isnan", "getpath([0])?", "paths(type==\"number\")", "map_values(.)?", "del(.[]?)", "to_entries?", "delpaths([[\"a\"]])?", "limit(0;1)", "ltrimstr(1)", "tojson", "min_by(.)?", "ascii(65)?")
	case 12:
		return "(" + f() + ") as $v | " + g.pick("$v", "[$v, .]", "[.[]?, $v]", "{v: $v}")
	case 13:
		return `"x\(` + f() + `)y"`
	case 14:
		return "[limit(3; " + f() + ")]"
	}
	return "select(" + f() + ")"
}

// phrase returns what date -d reads.
func (g gen) phrase() string {
	day := g.pick("2024-02-29", "2021-12-31", "1 Jan 2000", "Mar 5 2022", "12/25/2020", "20240131", "Thu, 5 Mar 2015", "5 march 1999", "2023-06-15", "Sun 2 Feb 2020", "2024-W05", "jan 31, 2023", "15-aug-2019")
	clock := g.pick("", "", " 10:20", " 23:59:59", " 3pm", " 12am", " 00:00:00.5", " 7:05:03 am", " noon", " 24:00", "T10:11:12", "T10:11:12Z", " 10:00 +0530", " 5:00 EST", " 12:34 UTC-3", " 10:20:30 -08:00")
	rel := g.pick("", "", "", " +1 day", " -2 weeks", " 3 months ago", " next month", " last year", " +1 hour", " 90 minutes ago", " tomorrow", " yesterday", " +1 month -1 day", " next monday", " 1 year 2 months", " -1 sec", " fortnight", " last friday", " 2 days", " +36 hours", " third day")
	return g.pick(day+clock+rel, day+clock+rel, day+clock, "@"+g.num(2000000000), "@-"+g.num(100000)+g.pick("", ".5"), "TZ=\"America/New_York\" "+day+clock, day+rel+clock, "bogus", day+" 25:00", "2024-13-01", "", "2023-02-29")
}

// bc returns a statement.
func (g gen) bc(depth int) string {
	e := func() string { return g.bcExpr(depth) }
	switch g.IntN(9) {
	case 0:
		return "scale=" + g.num(12)
	case 1:
		return g.pick("a", "b", "c") + g.pick("=", "+=", "-=", "*=") + e()
	case 2:
		return g.pick("obase=16", "obase=2", "obase=10", "ibase=10", "obase=8", "obase=25")
	case 3:
		return "if (" + e() + g.pick("<", ">", "==", "!=", "<=") + e() + ") print 1,\"\\n\" else 2"
	case 4:
		return "for (i=0;i<3;i++) " + e()
	}
	return e()
}

func (g gen) bcExpr(depth int) string {
	if depth == 0 {
		return g.pick("1", "2", "3.14", "-7", "100", "0.001", "a", "b", "12345678901234567890", "1.50", "0", "10", ".5")
	}
	e := func() string { return g.bcExpr(depth - 1) }
	switch g.IntN(6) {
	case 0:
		return "(" + e() + ")"
	case 1:
		return "sqrt(" + g.pick("2", "16", "0.25", "1000000") + ")"
	case 2:
		return g.pick("length(", "scale(") + e() + ")"
	case 3:
		return e() + "^" + strconv.Itoa(g.IntN(5))
	}
	return e() + g.pick("+", "-", "/", "%") + e()
}
