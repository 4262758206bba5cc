# METADATA
# title: Data analyst
# description: |
#   Tables go in, results come out: text tools and Python, no changes to the
#   input folder, no reading outside of it.
package donax

allow if input.action == "command"

tools := {
	"awk", "cat", "cut", "date", "find", "grep", "head", "jq", "ls", "seq", "sort", "tail", "tee", "tr", "uniq", "wc",
	"xargs", "mkdir",
}

allow if {
	input.exec.kind == "box"
	input.exec.name in tools
}

# Python as a program of your own; pin it by its hash, not by its name.
allow if {
	input.exec.kind == "wasm"
	input.exec.sha256 in data.programs.python
}

# From here on every file needs a rule that allows it.
governs contains "file"

allow if {
	input.file.op in {"read", "list"}
	inside(input.file.path, {"/workspace/input", "/workspace/results", "/tmp", "/dev", "/bin"})
}

allow if {
	input.file.op in {"write", "create"}
	inside(input.file.path, {"/workspace/results", "/tmp", "/dev"})
}

allow if {
	input.file.op in {"remove", "rename"}
	inside(input.file.path, {"/tmp"})
	input.file.to in {""}
}

# The folder itself may be listed on the way down.
allow if {
	input.file.op == "list"
	input.file.path == "/workspace"
}

inside(path, dirs) if path in dirs

inside(path, dirs) if {
	some dir in dirs
	startswith(path, sprintf("%s/", [dir]))
}
