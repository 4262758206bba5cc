package shell

import (
	"slices"
	"strings"
	"sync"
)

// An option is a set -o or shopt option.
type option uint8

// The options that this package looks at. Those behind them in optionNames
// can be switched and asked for, and do nothing.
const (
	optAllexport option = iota
	optEmacs
	optErrexit
	optErrtrace
	optFunctrace
	optMonitor
	optNoclobber
	optNoexec
	optNoglob
	optNounset
	optPhysical
	optPipefail
	optPosix
	optVerbose
	optVi
	optXtrace
)

const (
	firstShopt option = 64
	optDotglob option = firstShopt - 1 + iota
	optExecfail
	optExpandAliases
	optExtdebug
	optExtglob
	optFailglob
	optGlobskipdots
	optGlobstar
	optInheritErrexit
	optLastpipe
	optLocalvarInherit
	optNocaseglob
	optNocasematch
	optNullglob
	optPatsub
	optPromptvars
	optShiftVerbose
	optSourcepath
	optXpgEcho
)

// optionNames are the names in the order of the constants. A plus says that
// the option is on at first; the letter that set has for it stands behind /.
func optionNames(shopt bool) []string {
	if shopt {
		return strings.Fields("dotglob execfail expand_aliases extdebug extglob failglob +globskipdots globstar inherit_errexit lastpipe localvar_inherit " +
			"nocaseglob nocasematch nullglob +patsub_replacement +promptvars shift_verbose +sourcepath xpg_echo " +
			"autocd assoc_expand_once cdable_vars cdspell checkhash checkjobs +checkwinsize +cmdhist compat31 compat32 compat40 compat41 compat42 compat43 " +
			"compat44 +complete_fullquote direxpand dirspell +extquote +force_fignore +globasciiranges gnu_errfmt histappend histreedit histverify " +
			"+hostcomplete huponexit +interactive_comments lithist localvar_unset login_shell mailwarn no_empty_cmd_completion noexpand_translation " +
			"+progcomp progcomp_alias restricted_shell syslog_history varredir_close")
	}
	return strings.Fields("allexport/a emacs errexit/e errtrace/E functrace/T monitor/m noclobber/C noexec/n noglob/f nounset/u physical/P pipefail posix " +
		"verbose/v vi xtrace/x " +
		"+braceexpand/B +hashall/h histexpand/H history ignoreeof +interactive-comments keyword/k nolog notify/b onecmd/t privileged/p")
}

// A namedOption is an option as users know it.
type namedOption struct {
	option
	name   string
	letter string // of set; may be ""
	on     bool   // at first
}

// namedOptions are the set -o or the shopt options, sorted by name.
func namedOptions(shopt bool) []namedOption {
	names := optionNames(shopt)
	out := make([]namedOption, len(names))
	for i, n := range names {
		o := namedOption{option: option(i)}
		if shopt {
			o.option += firstShopt
		}
		n, o.on = strings.CutPrefix(n, "+")
		o.name, o.letter, _ = strings.Cut(n, "/")
		out[i] = o
	}
	slices.SortFunc(out, func(a, b namedOption) int { return strings.Compare(a.name, b.name) })
	return out
}

// options is a set of options.
type options [2]uint64

func (o *options) has(x option) bool { return o[x>>6]>>(x&63)&1 != 0 }

func (o *options) set(x option, on bool) {
	if on {
		o[x>>6] |= 1 << (x & 63)
	} else {
		o[x>>6] &^= 1 << (x & 63)
	}
}

var defaultOptions = sync.OnceValue(func() (o options) {
	for _, shopt := range []bool{false, true} {
		for _, x := range namedOptions(shopt) {
			o.set(x.option, x.on)
		}
	}
	return o
})

// findOption finds a set -o (shopt false) or shopt option by name.
func findOption(name string, shopt bool) (option, bool) {
	for _, x := range namedOptions(shopt) {
		if x.name == name {
			return x.option, true
		}
	}
	return 0, false
}

// optionLetter finds the option that a letter of set means.
func optionLetter(c byte) (namedOption, bool) {
	for _, x := range namedOptions(false) {
		if x.letter != "" && x.letter[0] == c {
			return x, true
		}
	}
	return namedOption{}, false
}

// names lists the options that are on, sorted.
func (o *options) names(shopt bool) (out []string) {
	for _, x := range namedOptions(shopt) {
		if o.has(x.option) {
			out = append(out, x.name)
		}
	}
	return out
}

// letters is $-: small letters first.
func (o *options) letters(sh *shell) string {
	var b []byte
	for _, x := range namedOptions(false) {
		if x.letter != "" && o.has(x.option) {
			b = append(b, x.letter[0]^0x20) // ASCII has the capitals first
		}
	}
	slices.Sort(b)
	for i := range b {
		b[i] ^= 0x20
	}
	if sh.commandString {
		b = append(b, 'c')
	}
	if sh.fromStdin {
		b = append(b, 's')
	}
	return string(b)
}
