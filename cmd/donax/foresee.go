package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/donax-sh/donax/sandbox"
)

// A habit is what a command of the box does with its arguments. It is for
// explaining alone: what decides is asked when the command opens a file,
// whatever its arguments looked like. A command without a habit, and one with
// options that its habit does not know, may do more than is told.
type habit struct {
	op     string // what becomes of each operand; "" when they are no files
	target string // what becomes of the last of several: an op, or "each" when all go there
	skip   int    // operands in front that are no files
	here   bool   // without operands it means the working folder
	known  string // short options that change nothing about files
	valued string // those of them that take a value
}

var habits = map[string]habit{
	"basename": {known: "az"}, "dirname": {known: "z"}, "seq": {known: "w"}, "sleep": {}, "date": {known: "uRI"}, "expr": {}, "yes": {}, "nproc": {}, "whoami": {}, "uname": {known: "amnrsv"}, "tr": {known: "cdst"},
	"echo": {known: "neE"}, "printf": {}, "true": {}, "false": {}, "pwd": {known: "LP"}, "printenv": {}, "sync": {}, "arch": {}, "id": {known: "ugnG"},
	"env": {known: "iu0", valued: "u"}, "nohup": {}, "nice": {known: "n", valued: "n"}, "timeout": {known: "ks", valued: "ks"}, "setsid": {}, "stdbuf": {known: "ioe", valued: "ioe"},
	"xargs": {known: "0rtnILPsdE", valued: "nILPsdE"},

	"cat": {op: "read", known: "nEbsAvTet"}, "tac": {op: "read"}, "head": {op: "read", known: "ncq", valued: "nc"}, "wc": {op: "read", known: "lcwmL"}, "nl": {op: "read"}, "rev": {op: "read"}, "od": {op: "read", known: "cxbAtN", valued: "AtN"},
	"tail": {op: "read", known: "ncq", valued: "nc"}, "sort": {op: "read", known: "nrufbktc", valued: "kt"}, "cut": {op: "read", known: "dfcbs", valued: "dfcb"}, "paste": {op: "read", known: "ds", valued: "d"}, "fold": {op: "read", known: "ws", valued: "w"},
	"uniq": {op: "read", target: "write", known: "cdu"}, "comm": {op: "read", known: "123"}, "cmp": {op: "read", known: "s"}, "strings": {op: "read", known: "n", valued: "n"}, "hexdump": {op: "read", known: "C"}, "xxd": {op: "read", target: "write", known: "p"},
	"md5sum": {op: "read"}, "sha1sum": {op: "read"}, "sha256sum": {op: "read"}, "sha512sum": {op: "read"}, "cksum": {op: "read"}, "base64": {op: "read", known: "dw", valued: "w"}, "zcat": {op: "read"},
	"grep": {op: "read", skip: 1, known: "inlcvowxqEFhHsemABC", valued: "efmABC"}, "egrep": {op: "read", skip: 1, known: "inlcvowxqhHsemABC", valued: "efmABC"}, "fgrep": {op: "read", skip: 1, known: "inlcvowxqhHsemABC", valued: "efmABC"},
	"jq": {op: "read", skip: 1, known: "rcneSjs"}, "sed": {op: "read", skip: 1, known: "nE", valued: "ef"},

	"ls": {op: "list", here: true, known: "1aAldhtrSi"},
	"rm": {op: "remove", known: "fiv"}, "rmdir": {op: "remove", known: "v"}, "unlink": {op: "remove"}, "mkdir": {op: "mkdir", known: "v"},
	"touch": {op: "touch"}, "tee": {op: "write", known: "a"}, "truncate": {op: "write", known: "s", valued: "s"}, "chmod": {op: "chmod", skip: 1},
	"cp": {op: "read", target: "copy", known: "fv"}, "mv": {op: "rename", target: "each", known: "fv"}, "ln": {op: "link", target: "each", known: "sfv"}, "link": {op: "link", target: "each"},
}

// guesses are habits of commands that mostly do more than that.
var guesses = map[string]habit{
	"awk": {op: "read", skip: 1, valued: "Fvf"}, "yq": {op: "read", skip: 1}, "diff": {op: "read"}, "find": {op: "list", here: true}, "du": {op: "list", here: true}, "tree": {op: "list", here: true},
	"gzip": {op: "remove"}, "gunzip": {op: "remove"}, "install": {op: "read", target: "copy", valued: "mogt"}, "sh": {}, "bash": {},
}

// plainSed is a sed script that only changes what passes through.
var plainSed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(s/[^/]*/[^/]*/[gpI0-9]*|[0-9$,]*[pdq])$`)
})

// usesOf implements [sandbox.UsesOf].
func usesOf(name string, args []string, dynamic []int, isFolder func(string) bool) (u sandbox.Uses) {
	if name == "curl" || name == "wget" {
		return webUses(name, args, dynamic)
	}
	h, ok := habits[name]
	if !ok {
		h, u.More = guesses[name], true
	}
	words, options := operands(name, args, dynamic, h.valued)
	for _, o := range options {
		if strings.HasPrefix(o, "--") || strings.Trim(o[1:], h.known+"0123456789") != "" && !strings.ContainsAny(o[1:2], h.valued) {
			u.More = true
		}
	}
	has := func(flags string) bool {
		return slices.ContainsFunc(options, func(o string) bool { return !strings.HasPrefix(o, "--") && strings.ContainsAny(o, flags) })
	}
	if name == "sed" && (len(words) == 0 || !plainSed().MatchString(words[0])) { // it may run commands
		u.More, u.Links = true, true
	}
	switch {
	case name == "sed" && (has("i") || slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, "--in-place") })):
		h.op = "write"
	case name == "ls" && has("d"):
		h.op = ""
	case name == "ln" && has("s"):
		h.op = "symlink"
	}
	if h.skip > 0 && !slices.ContainsFunc(options, func(o string) bool {
		return strings.HasPrefix(o, "-e") || strings.HasPrefix(o, "-f") || strings.HasPrefix(o, "--regexp") || strings.HasPrefix(o, "--file")
	}) {
		words = words[min(h.skip, len(words)):]
	}
	u.Links = u.Links || slices.Contains([]string{"ln", "mv", "link", "awk"}, name) || name == "cp" && (u.More || len(dynamic) > 0) || !ok && guesses[name].op == ""
	if h.op == "" {
		return u
	}
	if h.here && len(words) == 0 && len(dynamic) == 0 {
		words = []string{"."}
	}
	use := func(op, file, to string) { u.Files = append(u.Files, sandbox.FileUse{Op: op, Path: file, To: to}) }
	if h.target == "" || len(words) < 2 {
		for _, w := range words {
			use(h.op, w, "")
		}
		u.More = u.More || h.target == "each"
		return u
	}
	target := words[len(words)-1]
	for _, w := range words[:len(words)-1] {
		to := target
		if isFolder(target) {
			to = path.Join(target, path.Base(w))
		}
		if h.target == "each" {
			use(h.op, w, to)
			continue
		}
		use(h.op, w, "")
		use(h.target, to, "")
	}
	return u
}

// operands splits literal arguments into operands and options. A computed one
// is left out: nobody knows yet what it will be.
func operands(name string, args []string, dynamic []int, valued string) (words, options []string) {
	end := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case slices.Contains(dynamic, i):
		case end || arg == "-" || !strings.HasPrefix(arg, "-"):
			if arg != "-" && arg != "" && !(name == "find" && len(words) > 0) {
				words = append(words, arg)
			}
		case arg == "--":
			end = true
		case name == "find":
			return words, options // its expression
		default:
			options = append(options, arg)
			if arg[1] != '-' && strings.IndexByte(valued, arg[len(arg)-1]) >= 0 && i+1 < len(args) {
				i++
			}
		}
	}
	return words, options
}

// webUses are the requests of curl and wget, with the options that change what
// a policy sees of them.
func webUses(name string, args []string, dynamic []int) (u sandbox.Uses) {
	u.More = true // what the answer leads to: redirects, files
	method := ""
	valued := "XdHouAemFTbck"
	if name == "wget" {
		valued = "OUe"
	}
	var urls []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if slices.Contains(dynamic, i) {
			continue
		}
		flag, value, _ := strings.Cut(arg, "=")
		if short := len(arg) > 1 && arg[0] == '-' && arg[1] != '-'; short {
			flag, value = arg[:2], arg[2:]
			for len(value) > 0 && strings.IndexByte(valued, flag[1]) < 0 { // -sX
				flag, value = "-"+value[:1], value[1:]
			}
			if value == "" && strings.IndexByte(valued, flag[1]) >= 0 && i+1 < len(args) {
				i++
				value = args[i]
			}
		} else if takes := longTakes[flag]; takes && !strings.Contains(arg, "=") && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch {
		case !strings.HasPrefix(arg, "-"):
			urls = append(urls, arg)
		case flag == "--url":
			urls = append(urls, value)
		case name == "curl" && flag == "-X", flag == "--request", flag == "--method":
			method = value
		case name == "curl" && (flag == "-G" || flag == "--get"):
			method = "GET"
		case name == "curl" && (flag == "-I" || flag == "--head") && method == "":
			method = "HEAD"
		case name == "curl" && (flag == "-T" || flag == "--upload-file") && method == "":
			method = "PUT"
		case (name == "curl" && (flag == "-d" || flag == "-F") || strings.HasPrefix(flag, "--data") || flag == "--json" || flag == "--form" || strings.HasPrefix(flag, "--post-")) && method == "":
			method = "POST"
		}
	}
	if method == "" {
		method = "GET"
	}
	for _, raw := range urls {
		if strings.ContainsAny(raw, "{[") {
			continue // curl makes several of it
		}
		if !strings.Contains(raw, "://") {
			raw = "http://" + raw
		}
		u.Requests = append(u.Requests, sandbox.Request{Method: method, URL: raw})
	}
	return u
}

// longTakes are the long options of curl and wget in front of a value.
var longTakes = map[string]bool{
	"--request": true, "--data": true, "--data-raw": true, "--data-binary": true, "--data-urlencode": true, "--json": true, "--form": true, "--header": true, "--output": true, "--url": true, "--user-agent": true,
	"--upload-file": true, "--max-time": true, "--connect-timeout": true, "--retry": true, "--cookie": true, "--referer": true, "--write-out": true, "--method": true, "--body-data": true, "--post-data": true, "--output-document": true,
}
