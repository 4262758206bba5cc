package sandbox

import (
	"slices"
	"strings"
)

// launches tells what else a call visibly starts: other commands by their
// arguments, and texts given to a shell. opaque means that it starts
// something which the text does not show.
func launches(args []arg) (next [][]arg, text []string, opaque bool) {
	a := args[1:]
	switch baseName(args[0].text) {
	case "command", "builtin", "exec", "nohup", "setsid", "stdbuf", "nice":
		return command1(skipFlags(a, "anioe"))
	case "time":
		return command1(skipFlags(a, "fo"))
	case "timeout":
		a, ok := skipFlags(a, "ks")
		if len(a) > 0 {
			a = a[1:]
		}
		return command1(a, ok)
	case "xargs":
		next, ok := skipFlags(a, "IiLnPsdEa")
		if len(next) > 0 && replaced(a[:len(a)-len(next)], next[0].text) {
			ok = false
		}
		return command1(next, ok)
	case "env":
		return command1(skipEnv(a))
	case "find":
		return findCommands(a)
	case "sh", "bash":
		return shellText(a)
	case "eval":
		return evalText(a)
	case "trap":
		if len(a) > 1 && a[0].known && (a[0].text == "--" || a[0].text == "-") {
			a = a[1:]
		}
		if len(a) > 1 {
			return evalText(a[:1])
		}
	case "source", ".", "alias", "compgen", "complete":
		return nil, nil, true
	case "hash", "jobs", "mapfile", "readarray":
		// hash -p and the option that names a command of the others.
		for _, x := range a {
			if !x.known || len(x.text) > 1 && x.text[0] == '-' && strings.ContainsAny(x.text, "pxC") {
				return nil, nil, true
			}
		}
	}
	return nil, nil, false
}

func command1(a []arg, ok bool) ([][]arg, []string, bool) {
	if !ok {
		return nil, nil, true
	}
	if len(a) == 0 {
		return nil, nil, false
	}
	return [][]arg{a}, nil, false
}

// skipFlags leaves out options; valued ones take the next word. It fails
// when an option is computed, because what follows is then anyone's guess.
func skipFlags(a []arg, valued string) ([]arg, bool) {
	for len(a) > 0 {
		if !a[0].known {
			return a, true // the command's own name is computed
		}
		f := a[0].text
		if len(f) < 2 || f[0] != '-' {
			break
		}
		a = a[1:]
		if f == "--" {
			break
		}
		if f[1] != '-' && strings.IndexByte(valued, f[len(f)-1]) >= 0 && len(f) == 2 && len(a) > 0 {
			a = a[1:]
		}
	}
	return a, true
}

// replaced tells whether xargs with these options replaces a part of name.
func replaced(options []arg, name string) bool {
	for i, o := range options {
		mark := "{}"
		switch {
		case o.text == "-I" && i+1 < len(options):
			mark = options[i+1].text
		case strings.HasPrefix(o.text, "-I"), strings.HasPrefix(o.text, "-i") && len(o.text) > 2:
			mark = o.text[2:]
		case strings.HasPrefix(o.text, "--replace="):
			mark = o.text[len("--replace="):]
		case o.text != "-i" && o.text != "--replace":
			continue
		}
		if strings.Contains(name, mark) {
			return true
		}
	}
	return false
}

func skipEnv(a []arg) ([]arg, bool) {
	for len(a) > 0 && a[0].known {
		f := a[0].text
		switch {
		case f == "-u" || f == "-C" || f == "--unset" || f == "--chdir":
			a = a[min(2, len(a)):]
		case strings.HasPrefix(f, "-S") || strings.HasPrefix(f, "--split"):
			return nil, false
		case f == "--":
			a = a[1:]
		case strings.HasPrefix(f, "-") || strings.Contains(f, "="):
			a = a[1:]
		default:
			return a, true
		}
	}
	return a, true
}

func findCommands(a []arg) (next [][]arg, text []string, opaque bool) {
	for i := 0; i < len(a); i++ {
		switch {
		case !a[i].known:
			opaque = true // it may be -exec
		case a[i].text == "-exec" || a[i].text == "-execdir" || a[i].text == "-ok" || a[i].text == "-okdir":
			end := i + 1
			for end < len(a) && !(a[end].known && (a[end].text == ";" || a[end].text == "+")) {
				end++
			}
			if end > i+1 {
				next = append(next, a[i+1:end])
			}
			i = end
		}
	}
	return next, nil, opaque
}

func shellText(a []arg) ([][]arg, []string, bool) {
	for i, x := range a {
		switch {
		case !x.known:
			return nil, nil, true
		case len(x.text) > 1 && x.text[0] == '-' && x.text[1] != '-' && strings.Contains(x.text, "c"):
			if i+1 < len(a) && a[i+1].known {
				return nil, []string{a[i+1].text}, false
			}
			return nil, nil, true
		case !strings.HasPrefix(x.text, "-"):
			return nil, nil, true // a file
		}
	}
	return nil, nil, true // stdin
}

func evalText(a []arg) ([][]arg, []string, bool) {
	var words []string
	for _, x := range a {
		if !x.known {
			return nil, nil, true
		}
		words = append(words, x.text)
	}
	return nil, []string{strings.Join(words, " ")}, false
}

// adds tells whether a launcher gives what it starts other arguments than the
// words n of its own.
func adds(args []arg, n []arg) bool {
	switch baseName(args[0].text) {
	case "xargs":
		return true
	case "find":
		return slices.ContainsFunc(n, func(a arg) bool { return strings.Contains(a.text, "{}") })
	}
	return false
}

// moves tells whether a launcher starts things in another folder than its own.
func moves(args []arg) bool {
	switch baseName(args[0].text) {
	case "env":
		return slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "-C") || strings.HasPrefix(a.text, "--chdir") })
	case "find":
		return slices.ContainsFunc(args, func(a arg) bool { return strings.HasSuffix(a.text, "dir") })
	}
	return false
}
