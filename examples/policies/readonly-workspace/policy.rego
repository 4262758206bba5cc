# METADATA
# title: Read-only workspace
# description: |
#   Everything under /workspace may be read, nothing there may be changed.
#   /tmp is scratch space. No network, no upstream tools, no extra modules.
package donax

scratch := "/tmp"

default allow := false

allow if input.action == "command"

allow if input.exec.kind in {"box", "shell"}

# What the rules below forget is read-only all the same.
mount contains {"path": "/workspace", "mode": "ro"} if input.command

# This says why, in words a model can act on.
deny contains {
	"rule": "workspace-read-only",
	"msg": sprintf("%s is read-only here", [input.file.path]),
	"hint": sprintf("write results below %s or print them", [scratch]),
} if {
	input.file.op in {"write", "create", "remove", "rename", "chmod", "link"}
	some path in touched
	not under(path, scratch)
}

# Say it before anything runs when the command line makes it obvious.
deny contains {
	"rule": "workspace-read-only",
	"msg": sprintf("redirect to %s: only %s is writable", [target, scratch]),
	"line": call.line,
} if {
	some call in input.command.calls
	some r in call.redirects
	r.op in {">", ">>", ">|", "&>", "&>>", "<>"}
	target := r.target
	startswith(target, "/")
	target != "/dev/null"
	not under(target, scratch)
}

limit contains {"timeout_ms": 60000, "output_bytes": 1048576} if input.command

touched contains input.file.path

touched contains input.file.to if input.file.to != ""

under(path, dir) if path == dir

under(path, dir) if startswith(path, concat("", [dir, "/"]))
