package donax_test

import data.donax

exec(name, args) := {"action": "exec", "exec": {"name": name, "args": args, "kind": "box"}}

file(op, path) := {"action": "file", "file": {"op": op, "path": path}}

asked(rule) if {
	some a in donax.ask
	a.rule == rule
}

test_work_goes_on if {
	donax.allow with input as exec("rm", ["a.txt"])
	count(donax.ask) == 0 with input as exec("rm", ["a.txt"])
}

test_recursive if asked("recursive-remove") with input as exec("rm", ["-rf", "build"])

test_recursive_bundled if asked("recursive-remove") with input as exec("rm", ["-fvR", "build"])

test_recursive_long if asked("recursive-remove") with input as exec("rm", ["--recursive", "build"])

test_file_called_r if count(donax.ask) == 0 with input as exec("rm", ["r"])

test_find if asked("remove-by-find") with input as exec("find", [".", "-delete"])

test_kept if asked("kept-folder") with input as file("remove", "/workspace/docs/a.md")

test_kept_itself if asked("kept-folder") with input as file("rename", "/workspace/data")

test_neighbour if count(donax.ask) == 0 with input as file("remove", "/workspace/database")

test_reading if count(donax.ask) == 0 with input as file("read", "/workspace/docs/a.md")

test_git if count(donax.deny) == 1 with input as file("remove", "/workspace/.git/HEAD")

test_gitignore if count(donax.deny) == 0 with input as file("remove", "/workspace/.gitignore")
