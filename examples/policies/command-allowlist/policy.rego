# METADATA
# title: Command allow-list with argument rules
# description: |
#   A command runs only when it is listed and its arguments pass the rules for
#   that command. Decisions are made on the arguments after shell expansion, for
#   every command started by any other command (xargs, find -exec, env, timeout).
package donax

default allow := false

# The whole line is admitted unless something below denies it; each command is checked when it starts.
allow if input.action == "command"

# No constraints on these.
allow if input.exec.name in {
	"basename", "cat", "cd", "cut", "date", "diff", "dirname", "echo", "false", "grep", "head", "jq",
	"ls", "printf", "pwd", "sort", "stat", "tail", "test", "tr", "true", "uniq", "wc", "[", "exit",
}

allow if {
	input.exec.name == "find"
	count(set_args & {"-delete", "-fprint", "-fprintf", "-fls", "-fprint0"}) == 0
}

allow if {
	input.exec.name == "sed"
	not sed_writes
}

allow if {
	input.exec.name in {"xargs", "env", "timeout", "time", "nice"} # what they start is checked on its own
}

allow if {
	input.exec.name == "git"
	git_subcommand in {"status", "log", "diff", "show", "blame", "rev-parse", "ls-files"}
	count(git_dangerous) == 0
}

allow if {
	input.exec.name == "git"
	git_subcommand == "branch"
	every a in git_rest {
		a in {"-a", "--all", "-v", "-vv", "-l", "--list", "-r", "--show-current"}
	}
}

allow if {
	input.exec.name == "go"
	input.exec.args[0] in {"build", "vet", "test", "list", "version", "env"}
	not go_runs_programs
}

deny contains {
	"rule": "no-eval",
	"msg": sprintf("%s is not available: run the command directly", [name]),
} if {
	some call in input.command.calls
	name := call.name
	name in {"eval", "source", ".", "exec"}
}

deny contains {
	"rule": "static-command-names",
	"msg": "the command name must be written out, not computed",
	"line": call.line,
} if {
	some call in input.command.calls
	call.name == ""
}

deny contains {
	"rule": "arguments",
	"msg": sprintf("git %s is not allowed", [concat(" ", git_dangerous)]),
} if {
	input.exec.name == "git"
	count(git_dangerous) > 0
}

# --- supporting rules -----------------------------------------------------

set_args := {a | some a in input.exec.args}

# sed: -i in any spelling, or a w / e command or flag in a script
sed_writes if {
	some a in input.exec.args
	regex.match(`^(-[A-Za-z]*i|--in-place)`, a)
}

sed_writes if {
	some a in input.exec.args
	not startswith(a, "-")
	regex.match(`(^|[;{}/0-9$])\s*[we](\s|$)`, a)
}

sed_writes if {
	some a in input.exec.args
	regex.match(`^(-f|--file)`, a)
}

# the first argument which is not a global option is the subcommand; options that take a value are refused below
git_subcommand := [a | some a in input.exec.args; not startswith(a, "-")][0]

git_rest := [a |
	some i, a in input.exec.args
	i > git_position
]

git_position := min({i | some i, a in input.exec.args; a == git_subcommand})

git_dangerous contains a if {
	input.exec.name == "git"
	some a in input.exec.args
	regex.match(`^(-c|-C|--git-dir|--work-tree|--exec-path|--upload-pack|--receive-pack|--ext-diff|--output|--open-files-in-pager|-O)`, a)
}

go_runs_programs if {
	some a in input.exec.args
	regex.match(`^-{1,2}(exec|toolexec|o|ldflags|gcflags|overlay|modfile|C)(=|$)`, a)
}
