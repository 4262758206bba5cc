package awk

import "strings"

// library are the functions that a rewritten program calls and that must be
// awk, since they have arrays for parameters.
var library = map[string]string{
	"__iter": `function __iter(a,  k, h) { h = __new(PROCINFO["sorted_in"]); for (k in a) __push(h, k, __sortval() ? a[k] : ""); return h }`,
	"__asort1": `function __asort1(a,  k, h, n, v, o) { h = __new("@val_type_asc"); for (k in a) __push(h, k, a[k]);
while (__more(h)) { k = __next(h); o[++n] = a[k] } delete a; for (k = 1; k <= n; k++) a[k] = o[k]; return n + 0 }`,
	"__asort2": `function __asort2(a, d,  k, h, n) { h = __new("@val_type_asc"); for (k in a) __push(h, k, a[k]);
delete d; while (__more(h)) { k = __next(h); d[++n] = a[k] } return n + 0 }`,
	"__asorti1": `function __asorti1(a,  k, h, n, o) { h = __new("@ind_str_asc"); for (k in a) __push(h, k, "");
while (__more(h)) o[++n] = __next(h); delete a; for (k = 1; k <= n; k++) a[k] = o[k]; return n + 0 }`,
	"__asorti2": `function __asorti2(a, d,  k, h, n) { h = __new("@ind_str_asc"); for (k in a) __push(h, k, "");
delete d; while (__more(h)) d[++n] = __next(h); return n + 0 }`,
	"__match3": `function __match3(s, re, a,  i, n) { delete a; if (!match(s, re)) return 0; n = __groups(s, re);
for (i = 0; i <= n; i++) if (__gstart(i)) { a[i] = __gtext(i); a[i, "start"] = __gstart(i); a[i, "length"] = __glen(i) } return RSTART }`,
}

// prelude returns the functions that the program needs, on one more line.
func (r *rewriter) prelude() string {
	var b strings.Builder
	for name, src := range library {
		if r.need[name] {
			b.WriteString("\n" + src)
		}
	}
	return b.String()
}
