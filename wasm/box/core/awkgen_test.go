package core_test

import "strings"

// awkGen makes awk programs that end.
type awkGen struct{ gen }

func (a awkGen) program() string {
	var b strings.Builder
	if a.IntN(3) == 0 {
		b.WriteString("function f(x, y) { " + a.pick("return x y", "return x + y", "y[1] = x; return length(y)", "return x > 2 ? x : f(x + 1)", "x = 3") + " }\n")
	}
	for range 1 + a.IntN(3) {
		b.WriteString(a.pick("", "", "", "BEGIN", "END", a.expr(2), a.expr(1)+","+a.expr(1), "/"+a.regex(true, 1)+"/", "NR==2", "!seen[$1]++") + " { ")
		for range 1 + a.IntN(3) {
			b.WriteString(a.stmt(2) + "; ")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func (a awkGen) stmt(depth int) string {
	e := func() string { return a.expr(2) }
	if depth > 0 {
		switch a.IntN(12) {
		case 0:
			return "if (" + e() + ") " + a.stmt(depth-1) + "\n else " + a.stmt(depth-1)
		case 1:
			return "for (i = 0; i < 3; i++) { " + a.stmt(depth-1) + a.pick("", "; if (i == 1) break", "; if (i == 0) continue; print i") + " }"
		case 2:
			return "w = asorti(m, o); for (u = 1; u <= w; u++) print o[u], m[o[u]]"
		case 3:
			return "n = split(" + e() + ", q" + a.pick("", `, ","`, `, ""`, ", /[ab]/", `, " "`, ", /,/", `, "|"`) + "); print n, q[1], q[n]"
		case 4:
			return a.pick("sub", "gsub") + "(/" + a.regex(true, 1) + "/, " + a.pick(`"X"`, `"<&>"`, `"\\&"`, `""`, `"[&&]"`, `"\\\\&"`, `"a\\b"`) + a.pick("", ", $2", ", x", ", m[1]") + "); print"
		case 5:
			return "printf \"" + a.format() + "|\\n\", " + e() + ", " + e() + ", " + e()
		case 6:
			return a.pick("$2", "$(NF)", "$4", "NF", "x", "m[$1]", "$0", "OFS", "m[1,2]") + a.pick(" = ", " += ", " = ", " = ") + e()
		case 7:
			return a.pick("getline", "getline x", "next", "delete m[1]", "delete m", "$3 = \"\"; print NF", "$1 = $1; print", "NF = 2; print", "x = y = 1", "do { i++ } while (i < 3); print i", "while (j < 2) j++; print j", "exit 1", "print > \"/dev/stdout\"", "print substr(\"hello\", "+e()+", "+e()+")", "print ("+e()+") in m", "print -x, !x, +x", "print x++ + ++x, x--", "print toupper(substr($0, 2, 3))", "print index($0, \"a\")", "print gensub(/a(b*)/, \"<\\\\1>\", \"g\")", "print match($0, /[a-c]+/), RSTART, RLENGTH", "print 1,2 > \"/dev/stdout\"")
		}
	}
	return "print " + e() + a.pick("", ", "+e(), " "+a.term())
}

func (a awkGen) format() string {
	s := ""
	for range 1 + a.IntN(3) {
		s += a.pick("", "x", "%%") + "%" + a.pick("", "-", "+", "0", " ", "#") + a.pick("", "5", "12") + a.pick("", ".0", ".2", ".5") + a.pick("d", "i", "u", "x", "X", "o", "s", "c", "e", "f", "g", "G", "s", "d")
	}
	return s
}

func (a awkGen) term() string {
	return a.pick("$1", "$2", "$NF", "$0", "NF", "NR", "x", "y", "m[1]", "m[$1]", "1", "0", "-3", "2.5", "1e6", "100000", "0.1", "1e20", "123456789", "1e-5", `"a"`, `""`, `"10"`, `"abc"`, `"3x"`, `" 4 "`, "length", "length($1)", "length()", "substr($0, 2)", "substr($1, 0, 2)", "toupper($1)", "int($2)", "index($0, $1)", "$(1)", `"+5"`, `"0x1A"`, `".5."`, "1/3", "2^53", "2^53+1", "-1 % 3", "$(NF-1)", "$3", "int(-3.7)", `int("3abc")`, `"é" "x"`, `length("é")`, `sprintf("%c", 228)`, `sprintf("%d", "1e3")`, "017", "strtonum(\"0x1F\")", "tolower(\"ABC\")", "100000 * 100000", "1e15", "1e16", "123456.789", "0.1 + 0.2", "3.0", "0", `"1e2" == 100`)
}

func (a awkGen) expr(depth int) string {
	if depth == 0 {
		return a.term()
	}
	e := func() string { return a.expr(depth - 1) }
	switch a.IntN(12) {
	case 0:
		return "(" + e() + " " + a.pick("+", "-", "*", "%") + " " + e() + ")"
	case 1:
		return "(" + e() + " " + e() + ")"
	case 2:
		return "(" + e() + " " + a.pick("<", "<=", "==", "!=", ">", ">=") + " " + e() + ")"
	case 3:
		return "(" + e() + " " + a.pick("&&", "||") + " " + e() + ")"
	case 4:
		return "(" + e() + " ? " + e() + " : " + e() + ")"
	case 5:
		return "(" + e() + " " + a.pick("~", "!~") + " " + a.pick("/"+a.regex(true, 1)+"/", `"a"`, "$1") + ")"
	case 6:
		return "(" + a.pick("!", "-", "+") + e() + ")"
	case 7:
		return "(" + a.pick("x", "y", "m[1]", "$2") + a.pick(" = ", " += ", " -= ", " *= ") + e() + ")"
	}
	return a.term()
}
