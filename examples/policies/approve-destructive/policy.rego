# METADATA
# title: Approval for what destroys
# description: |
#   Work goes on freely; what removes or overwrites more than scratch files
#   waits for a person. Where nobody can be asked, it is denied.
package donax

allow if input.action in {"command", "exec"}

ask contains {
	"rule": "recursive-remove",
	"msg": sprintf("rm %s", [concat(" ", input.exec.args)]),
	"hint": "remove single files by name, which needs no approval",
} if {
	input.exec.name == "rm"
	some arg in input.exec.args
	regex.match(`^(-[a-zA-Z]*[rR]|--recursive$)`, arg)
}

ask contains {
	"rule": "remove-by-find",
	"msg": sprintf("find %s", [concat(" ", input.exec.args)]),
} if {
	input.exec.name == "find"
	"-delete" in input.exec.args
}

# Whatever the program: removing or renaming in the folders that matter.
ask contains {
	"rule": "kept-folder",
	"msg": sprintf("%s %s", [input.file.op, input.file.path]),
} if {
	input.file.op in {"remove", "rename"}
	some dir in {"/workspace/data", "/workspace/docs"}
	under(input.file.path, dir)
}

# Never, not even with approval.
deny contains {"rule": "git-history", "msg": "the history in .git stays as it is"} if {
	input.file.op in {"remove", "rename"}
	regex.match(`(^|/)\.git(/|$)`, input.file.path)
}

under(path, dir) if path == dir

under(path, dir) if startswith(path, sprintf("%s/", [dir]))
