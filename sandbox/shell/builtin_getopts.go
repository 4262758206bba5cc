package shell

import "strings"

func builtinGetopts(sh *shell, c call) int {
	if len(c.rest) < 2 {
		return c.misuse("")
	}
	spec, name := c.rest[0], c.rest[1]
	params := sh.params
	if len(c.rest) > 2 {
		params = c.rest[2:]
	}
	ind, _ := decimal(sh.get("OPTIND"))
	if ind < 1 {
		ind, sh.optPos = 1, 0
	}
	// result sets what the script reads; a nil arg unsets OPTARG.
	result := func(opt string, arg *string) int {
		pos := sh.optPos
		sh.setStr("OPTIND", itoa64(ind))
		sh.optPos = pos
		if arg != nil {
			sh.assignTo("OPTARG", nil, *arg, false)
		} else {
			sh.unsetVar("OPTARG")
		}
		if !isName(name) {
			return c.fail("`%s': not a valid identifier", name)
		}
		sh.assignTo(name, nil, opt, false)
		return 0
	}
	done := func() int {
		sh.optPos = 0
		result("?", nil)
		return 1
	}
	if sh.optPos == 0 {
		if ind > int64(len(params)) {
			ind = int64(len(params)) + 1
			return done()
		}
		a := params[ind-1]
		if a == "--" {
			ind++
			return done()
		}
		if len(a) < 2 || a[0] != '-' {
			return done()
		}
		sh.optPos = 1
	}
	if ind > int64(len(params)) || sh.optPos >= len(params[ind-1]) {
		return done()
	}
	word := params[ind-1]
	letter := word[sh.optPos]
	opt, arg := string(rune(letter)), word[sh.optPos+1:]
	if sh.optPos++; arg == "" { // the word is used up
		ind++
		sh.optPos = 0
	}
	// wrong is what is wrong with the option; how it is told depends on spec.
	wrong := func(silent, text string) int {
		if strings.HasPrefix(spec, ":") {
			return result(silent, &opt)
		}
		if sh.get("OPTERR") != "0" {
			sh.stderr(sh.name0 + ": " + text + " -- " + opt + "\n")
		}
		return result("?", nil)
	}
	k := strings.IndexByte(spec, letter)
	if letter == ':' || k < 0 {
		return wrong("?", "illegal option")
	}
	if k+1 == len(spec) || spec[k+1] != ':' {
		return result(opt, nil)
	}
	if arg == "" {
		if ind > int64(len(params)) {
			return wrong(":", "option requires an argument")
		}
		arg = params[ind-1]
	}
	ind++
	sh.optPos = 0
	return result(opt, &arg)
}
