package shell

import "sort"

// An option is a set -o or shopt option.
type option uint8

const (
	optAllexport option = iota
	optBraceexpand
	optErrexit
	optErrtrace
	optFunctrace
	optHashall
	optHistexpand
	optHistory
	optIgnoreeof
	optInteractiveComments
	optKeyword
	optMonitor
	optNoclobber
	optNoexec
	optNoglob
	optNolog
	optNotify
	optNounset
	optOnecmd
	optPhysical
	optPipefail
	optPosix
	optPrivileged
	optVerbose
	optVi
	optEmacs
	optXtrace
	firstShopt
	optAutocd
	optAssocExpandOnce
	optCdableVars
	optCdspell
	optCheckhash
	optCheckjobs
	optCheckwinsize
	optCmdhist
	optCompat31
	optCompat32
	optCompat40
	optCompat41
	optCompat42
	optCompat43
	optCompat44
	optCompleteFullquote
	optDirexpand
	optDirspell
	optDotglob
	optExecfail
	optExpandAliases
	optExtdebug
	optExtglob
	optExtquote
	optFailglob
	optForceFignore
	optGlobasciiranges
	optGlobskipdots
	optGlobstar
	optGnuErrfmt
	optHistappend
	optHistreedit
	optHistverify
	optHostcomplete
	optHuponexit
	optInheritErrexit
	optInteractiveComments2
	optLastpipe
	optLithist
	optLocalvarInherit
	optLocalvarUnset
	optLoginShell
	optMailwarn
	optNoEmptyCmdCompletion
	optNocaseglob
	optNocasematch
	optNoexpandTranslation
	optNullglob
	optPatsub
	optProgcomp
	optProgcompAlias
	optPromptvars
	optRestrictedShell
	optShiftVerbose
	optSourcepath
	optSyslogHistory
	optVarredirClose
	optXpgEcho
	numOptions
)

// optionName names an option and says what set letter it has.
type optionName struct {
	name   string
	letter byte
}

// optionTable gives the names in the order of the constants.
func optionTable() [numOptions]optionName {
	return [numOptions]optionName{
		{"allexport", 'a'}, {"braceexpand", 'B'}, {"errexit", 'e'}, {"errtrace", 'E'}, {"functrace", 'T'},
		{"hashall", 'h'}, {"histexpand", 'H'}, {"history", 0}, {"ignoreeof", 0}, {"interactive-comments", 0},
		{"keyword", 'k'}, {"monitor", 'm'}, {"noclobber", 'C'}, {"noexec", 'n'}, {"noglob", 'f'}, {"nolog", 0},
		{"notify", 'b'}, {"nounset", 'u'}, {"onecmd", 't'}, {"physical", 'P'}, {"pipefail", 0}, {"posix", 0},
		{"privileged", 'p'}, {"verbose", 'v'}, {"vi", 0}, {"emacs", 0}, {"xtrace", 'x'},
		{},
		{"autocd", 0}, {"assoc_expand_once", 0}, {"cdable_vars", 0}, {"cdspell", 0}, {"checkhash", 0}, {"checkjobs", 0},
		{"checkwinsize", 0}, {"cmdhist", 0}, {"compat31", 0}, {"compat32", 0}, {"compat40", 0}, {"compat41", 0},
		{"compat42", 0}, {"compat43", 0}, {"compat44", 0}, {"complete_fullquote", 0}, {"direxpand", 0}, {"dirspell", 0},
		{"dotglob", 0}, {"execfail", 0}, {"expand_aliases", 0}, {"extdebug", 0}, {"extglob", 0}, {"extquote", 0},
		{"failglob", 0}, {"force_fignore", 0}, {"globasciiranges", 0}, {"globskipdots", 0}, {"globstar", 0},
		{"gnu_errfmt", 0}, {"histappend", 0}, {"histreedit", 0}, {"histverify", 0}, {"hostcomplete", 0}, {"huponexit", 0},
		{"inherit_errexit", 0}, {"interactive_comments", 0}, {"lastpipe", 0}, {"lithist", 0}, {"localvar_inherit", 0},
		{"localvar_unset", 0}, {"login_shell", 0}, {"mailwarn", 0}, {"no_empty_cmd_completion", 0}, {"nocaseglob", 0},
		{"nocasematch", 0}, {"noexpand_translation", 0}, {"nullglob", 0}, {"patsub_replacement", 0}, {"progcomp", 0},
		{"progcomp_alias", 0}, {"promptvars", 0}, {"restricted_shell", 0}, {"shift_verbose", 0}, {"sourcepath", 0},
		{"syslog_history", 0}, {"varredir_close", 0}, {"xpg_echo", 0},
	}
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

func defaultOptions() options {
	var o options
	for _, x := range []option{optBraceexpand, optHashall, optInteractiveComments, optCheckwinsize, optCmdhist,
		optCompleteFullquote, optExtquote, optForceFignore, optGlobasciiranges, optGlobskipdots, optHostcomplete,
		optInteractiveComments2, optPatsub, optProgcomp, optPromptvars, optSourcepath} {
		o.set(x, true)
	}
	return o
}

// findOption finds a set -o (shopt false) or shopt option by name.
func findOption(name string, shopt bool) (option, bool) {
	t := optionTable()
	lo, hi := option(0), firstShopt
	if shopt {
		lo, hi = firstShopt+1, numOptions
	}
	for i := lo; i < hi; i++ {
		if t[i].name == name {
			return i, true
		}
	}
	return 0, false
}

func optionLetter(c byte) (option, bool) {
	t := optionTable()
	for i := option(0); i < firstShopt; i++ {
		if t[i].letter == c {
			return i, true
		}
	}
	return 0, false
}

// names lists the options that are on, sorted.
func (o *options) names(shopt bool) []string {
	t := optionTable()
	lo, hi := option(0), firstShopt
	if shopt {
		lo, hi = firstShopt+1, numOptions
	}
	var out []string
	for i := lo; i < hi; i++ {
		if o.has(i) {
			out = append(out, t[i].name)
		}
	}
	sort.Strings(out)
	return out
}

// letters is $-.
func (o *options) letters(sh *shell) string {
	var b []byte
	t := optionTable()
	for c := byte('A'); c <= 'z'; c++ {
		for i := option(0); i < firstShopt; i++ {
			if t[i].letter == c && o.has(i) {
				b = append(b, c)
			}
		}
	}
	// Small letters come first.
	var low, up []byte
	for _, c := range b {
		if c >= 'a' {
			low = append(low, c)
		} else {
			up = append(up, c)
		}
	}
	out := string(low) + string(up)
	if sh.commandString {
		out += "c"
	}
	if sh.fromStdin {
		out += "s"
	}
	return out
}
