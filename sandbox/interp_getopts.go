package sandbox

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// optVar holds how far getopts is in a bundle of options: OPTIND:POSITION.
const optVar = "__donax_optpos"

// callGetopts sends getopts to our own, with the parameters of the shell in
// its arguments: interp's panics when they change between two calls.
func callGetopts(args []string) []string {
	if len(args) > 1 && args[1] == "--" {
		args = append(args[:1:1], args[2:]...)
	}
	if len(args) != 3 {
		return own(args)
	}
	return []string{"eval", ownPrefix + "getopts " + dollarQuote(args[1]) + " " + dollarQuote(args[2]) + ` "$@"`}
}

func (sh *interpShell) ownGetopts(ctx context.Context, hc interp.HandlerContext, args []string) error {
	if len(args) < 2 {
		return sh.fail(hc, 2, "getopts: usage: getopts optstring name [arg ...]")
	}
	spec, name, args := args[0], args[1], args[2:]
	if !validName(name) {
		return sh.fail(hc, 1, "getopts: `%s': not a valid identifier", name)
	}
	silent := strings.HasPrefix(spec, ":")
	index, err := strconv.Atoi(hc.Env.Get("OPTIND").String())
	if err != nil || index < 1 {
		index = 1
	}
	pos := 1
	if before, after, ok := strings.Cut(hc.Env.Get(optVar).String(), ":"); ok && before == strconv.Itoa(index) {
		pos, _ = strconv.Atoi(after)
	}
	set := func(opt, arg string, hasArg bool) error {
		text := name + "=" + dollarQuote(opt) + "; OPTIND=" + strconv.Itoa(index) + "; " + optVar + "=" + strconv.Itoa(index) + ":" + strconv.Itoa(pos) + "; unset OPTARG"
		if hasArg {
			text += "; OPTARG=" + dollarQuote(arg)
		}
		return sh.eval(ctx, hc, text)
	}
	end := func() error {
		pos = 1
		if err := set("?", "", false); err != nil {
			return err
		}
		return exitStatus(1)
	}
	if index > len(args) {
		return end()
	}
	word := args[index-1]
	if word == "--" {
		index++
		return end()
	}
	if len(word) < 2 || word[0] != '-' {
		return end()
	}
	if pos >= len(word) { // the word is another than at the last call
		pos = 1
	}
	opt := word[pos : pos+1]
	pos++
	last := pos >= len(word)
	if last {
		index, pos = index+1, 1
	}
	complain := func(what string) error {
		if silent {
			return nil
		}
		if v := hc.Env.Get("OPTERR"); !v.IsSet() || v.String() != "0" {
			_, _ = io.WriteString(hc.Stderr, fmt.Sprintf("%s: %s -- %s\n", sh.sc.name, what, opt))
		}
		return set("?", "", false)
	}
	at := strings.Index(strings.TrimPrefix(spec, ":"), opt)
	wants := at >= 0 && strings.HasPrefix(strings.TrimPrefix(spec, ":")[at+1:], ":")
	switch {
	case at < 0 || opt == ":":
		if silent {
			return set("?", opt, true)
		}
		return complain("illegal option")
	case !wants:
		return set(opt, "", false)
	case !last:
		arg := word[pos:]
		index, pos = index+1, 1
		return set(opt, arg, true)
	case index <= len(args):
		arg := args[index-1]
		index++
		return set(opt, arg, true)
	case silent:
		return set(":", opt, true)
	}
	return complain("option requires an argument")
}
