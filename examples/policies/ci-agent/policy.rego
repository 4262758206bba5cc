# METADATA
# title: CI agent
# description: |
#   An agent that looks at a failing build: reads everything, writes only below
#   /workspace/out and /tmp, starts no scripts that came with the change.
package donax

allow if {
	input.action == "command"
	input.session.transport in {"cli", "stdio"}
}

readers := {
	"awk", "basename", "cat", "cut", "date", "diff", "dirname", "env", "find", "grep", "head", "jq", "ls", "seq",
	"sort", "tail", "tee", "timeout", "tr", "uniq", "wc", "which", "xargs",
}

writers := {"cp", "mkdir", "mv", "rm", "rmdir", "sed", "touch"}

allow if {
	input.exec.kind == "box"
	input.exec.name in (readers | writers)
}

# The shell itself, from the line or from programs, but never a file of the change under test.
allow if {
	input.exec.kind == "shell"
	input.exec.args[0] == "-c"
}

deny contains {
	"rule": "write-outside",
	"msg": sprintf("%s may not change %s", [input.file.by, path]),
	"hint": "write below /workspace/out or /tmp",
} if {
	input.file.op in {"write", "create", "remove", "rename", "chmod", "link"}
	some path in ({input.file.path, input.file.to} - {""})
	not writable(path)
}

writable(path) if {
	some dir in {"/workspace/out", "/tmp", "/dev"}
	startswith(path, sprintf("%s/", [dir]))
}

writable(path) if path in {"/workspace/out", "/tmp"}

limit contains {"timeout_ms": 300000, "commands": 20000, "output_bytes": 16777216} if input.command
