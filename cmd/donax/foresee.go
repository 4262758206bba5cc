package main

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/policy"
)

// foreseen are the files and hosts that a call would be asked about next, as
// far as its text shows them. It is for explaining alone: what decides is asked
// when the program opens a file, whatever its arguments looked like.
func foreseen(subject policy.Subject, cwd, name string, call policy.Call) (list []policy.Action) {
	file := func(by, op, arg, to string) {
		at := place(cwd, arg)
		f := &policy.File{Op: op, Path: path.Clean(at), Requested: at, Mount: "/workspace", By: by}
		if to != "" {
			f.To = path.Clean(place(cwd, to))
		}
		list = append(list, policy.Action{Kind: policy.KindFile, Subject: subject, File: f})
	}
	for _, r := range call.Redirects {
		switch {
		case r.Target == "":
		case r.Op == "<":
			file("shell", "read", r.Target, "")
		case slices.Contains([]string{">", ">>", ">|", "&>", "&>>", "<>"}, r.Op):
			file("shell", "write", r.Target, "")
		}
	}
	words, flags := operands(name, call)
	if name == "curl" || name == "wget" {
		for _, w := range words {
			if n := connection(name, w, flags); n != nil {
				list = append(list, policy.Action{Kind: policy.KindNet, Subject: subject, Net: n})
			}
		}
		return list
	}
	use, ok := fileUse[name]
	if !ok {
		return list
	}
	if name == "sed" && hasFlag(flags, 'i', "in-place") {
		use.op = "write"
	}
	if use.skip > 0 && !hasFlag(flags, 'e', "regexp") && !hasFlag(flags, 'f', "file") {
		words = words[min(use.skip, len(words)):]
	}
	if use.last != "" && len(words) > 1 {
		target := words[len(words)-1]
		for _, w := range words[:len(words)-1] {
			if use.last == "to" {
				file(name, use.op, w, target)
				continue
			}
			file(name, use.op, w, "")
		}
		if use.last != "to" {
			file(name, use.last, target, "")
		}
		return list
	}
	for _, w := range words {
		file(name, use.op, w, "")
	}
	return list
}

func place(cwd, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(cwd, name)
}

// fileUse says what commands of the box do with the files they are given.
var fileUse = map[string]struct {
	op   string
	last string // what becomes of the last of several; "to" when it is the target of each
	skip int    // operands in front that are no files, unless -e or -f gives them
}{
	"cat": {op: "read"}, "head": {op: "read"}, "tail": {op: "read"}, "tac": {op: "read"}, "wc": {op: "read"}, "sort": {op: "read"}, "uniq": {op: "read", last: "write"},
	"nl": {op: "read"}, "od": {op: "read"}, "xxd": {op: "read"}, "hexdump": {op: "read"}, "strings": {op: "read"}, "base64": {op: "read"}, "cmp": {op: "read"}, "diff": {op: "read"}, "comm": {op: "read"},
	"md5sum": {op: "read"}, "sha1sum": {op: "read"}, "sha256sum": {op: "read"}, "sha512sum": {op: "read"}, "cksum": {op: "read"}, "cut": {op: "read"}, "paste": {op: "read"}, "zcat": {op: "read"},
	"grep": {op: "read", skip: 1}, "egrep": {op: "read", skip: 1}, "fgrep": {op: "read", skip: 1}, "sed": {op: "read", skip: 1}, "awk": {op: "read", skip: 1}, "jq": {op: "read", skip: 1}, "yq": {op: "read", skip: 1},
	"ls": {op: "list"}, "find": {op: "list"}, "du": {op: "list"},
	"rm": {op: "remove"}, "rmdir": {op: "remove"}, "unlink": {op: "remove"}, "mkdir": {op: "create"}, "touch": {op: "write"}, "truncate": {op: "write"}, "tee": {op: "write"},
	"gzip": {op: "write"}, "gunzip": {op: "write"}, "chmod": {op: "chmod", skip: 1},
	"cp": {op: "read", last: "write"}, "install": {op: "read", last: "write"}, "mv": {op: "rename", last: "to"}, "ln": {op: "link", last: "to"}, "link": {op: "link", last: "to"},
}

// valued are the short options that take the next word.
var valued = map[string]string{
	"head": "nc", "tail": "nc", "grep": "efmABCd", "egrep": "efmABC", "fgrep": "efmABC", "sed": "ef", "awk": "Ffv", "cut": "bcdf", "sort": "kotST", "touch": "drt", "truncate": "sr",
	"mkdir": "m", "cp": "tS", "mv": "tS", "install": "mogt", "ln": "tS", "paste": "d", "nl": "bdfhilnsvw", "od": "AjNtw", "du": "d", "uniq": "fsw", "jq": "f",
	"curl": "XdHouAemFTbck", "wget": "OUe",
}

// operands splits literal arguments into operands and options. A computed one
// is left out: nobody knows yet what it will be.
func operands(name string, call policy.Call) (words, flags []string) {
	end := false
	for i := 0; i < len(call.Args); i++ {
		arg := call.Args[i]
		switch {
		case slices.Contains(call.Dynamic, i):
		case end || arg == "-" || !strings.HasPrefix(arg, "-"):
			if arg != "-" && arg != "" && !(name == "find" && len(words) > 0) {
				words = append(words, arg)
			}
		case arg == "--":
			end = true
		case name == "find":
			return words, flags // its expression
		default:
			flags = append(flags, arg)
			if arg[1] != '-' && strings.IndexByte(valued[name], arg[len(arg)-1]) >= 0 && i+1 < len(call.Args) {
				i++
				flags = append(flags, call.Args[i])
			}
		}
	}
	return words, flags
}

func hasFlag(flags []string, short byte, long string) bool {
	return slices.ContainsFunc(flags, func(f string) bool {
		if strings.HasPrefix(f, "--") {
			f, _, _ = strings.Cut(f, "=")
			return f == "--"+long
		}
		return strings.HasPrefix(f, "-") && strings.IndexByte(f, short) > 0
	})
}

// connection is what curl or wget would make of an operand.
func connection(by, word string, flags []string) *policy.Net {
	if !strings.Contains(word, "://") {
		word = "http://" + word
	}
	u, err := url.Parse(word)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	n := &policy.Net{Scheme: u.Scheme, Host: strings.ToLower(u.Hostname()), Port: 80, Method: "GET", Path: u.EscapedPath(), By: by}
	if n.Path == "" {
		n.Path = "/"
	}
	if u.Scheme == "https" {
		n.Port = 443
	}
	if p, err := strconv.Atoi(u.Port()); err == nil {
		n.Port = p
	}
	switch {
	case hasFlag(flags, 'd', "data") || hasFlag(flags, 'F', "form"):
		n.Method = "POST"
	case hasFlag(flags, 'I', "head"):
		n.Method = "HEAD"
	case hasFlag(flags, 'T', "upload-file"):
		n.Method = "PUT"
	}
	for i, f := range flags {
		switch {
		case (f == "-X" || f == "--request") && i+1 < len(flags):
			n.Method = flags[i+1]
		case strings.HasPrefix(f, "--request="):
			n.Method = strings.TrimPrefix(f, "--request=")
		case strings.HasPrefix(f, "-X") && len(f) > 2:
			n.Method = f[2:]
		}
	}
	return n
}
