# METADATA
# title: Starting policy
# description: |
#   What donax runs, and what it refuses. `allow` must hold for every command
#   line (action "command") and every program it starts (action "exec");
#   files need no allow, mounts grant them; a `deny` always wins.
#   Try it: donax policy explain --policy policy.rego 'rm -rf build'
package donax

# Without this rule no command line starts at all.
allow if input.action == "command"

# Everything that comes with donax may run. Programs of your own have the kind
# "wasm", upstream MCP tools "tool".
allow if input.exec.kind in {"box", "shell"}

# Refuse a program whatever way it is started: xargs, find -exec, eval, a copy.
deny contains {
	"rule": "no-shred",
	"msg": sprintf("%s is off here", [input.exec.name]),
	"hint": "remove single files with rm",
} if {
	input.exec.name in {"shred", "dd"}
}

# Refuse by arguments. These are the arguments after expansion: of `rm -rf *`
# the policy sees every name, so it is refused for the first that is no build folder.
deny contains {"rule": "no-rm-root", "msg": "rm of a whole tree outside build folders", "hint": "name the files"} if {
	input.exec.name == "rm"
	some flag in input.exec.args
	regex.match(`^(-[A-Za-z]*[rR]|--r)`, flag)
	some arg in input.exec.args
	not startswith(arg, "-")
	whole_tree(steps(arg))
}

build_folders := {"build", "dist", "out", "target", "bin", "obj", "coverage", "node_modules", ".cache", "tmp"}

# The way to a file, from the root: ["workspace", "src"].
steps(arg) := [s | some s in split(absolute(arg), "/"); not s in {"", "."}]

absolute(arg) := arg if startswith(arg, "/")

absolute(arg) := sprintf("%s/%s", [input.exec.cwd, arg]) if not startswith(arg, "/")

whole_tree(way) if count(way) < 2

whole_tree(way) if ".." in way

whole_tree(way) if {
	count(way) == 2
	way[0] == "workspace"
	not way[1] in build_folders
}

# Refuse by file. Names of programs say little about files: `>`, mv and find
# -delete change them too, so guard what matters here.
deny contains {"rule": "git-history", "msg": sprintf("%s belongs to git", [path])} if {
	input.file.op in {"write", "create", "remove", "rename", "chmod", "link"}
	some path in [input.file.path, input.file.to]
	contains(sprintf("%s/", [path]), "/.git/")
}

deny contains {
	"rule": "secret-file",
	"msg": sprintf("%s may hold credentials", [input.file.path]),
	"hint": "ask the user for the value that is needed",
} if {
	input.file.op in {"read", "write", "create", "rename", "link"}
	name := split(input.file.path, "/")
	name[count(name) - 1] in {".env", ".netrc", ".npmrc", "id_rsa", "id_ed25519"}
}

# Say something without being in the way.
warn contains "this line starts more than 20 commands" if count(input.command.calls) > 20

# Bounds for one command line; the least of all rules and flags holds.
limit contains {"timeout_ms": 600000, "commands": 10000} if input.command
