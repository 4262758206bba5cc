package donax_test

import data.donax

exec(name, args) := {"action": "exec", "exec": {"name": name, "args": args, "kind": "box", "cwd": "/workspace"}}

file(op, path) := {"action": "file", "file": {"op": op, "path": path, "to": ""}}

denied_by(rule) if {
	some d in donax.deny
	d.rule == rule
}

test_commands_are_allowed if donax.allow with input as {"action": "command", "command": {"calls": []}}

test_programs_are_allowed if donax.allow with input as exec("ls", ["-l"])

test_own_programs_are_not if not donax.allow with input as {"action": "exec", "exec": {"name": "x", "args": [], "kind": "wasm"}}

test_shred if denied_by("no-shred") with input as exec("shred", ["a"])

test_rm_of_everything if {
	every args in [
		["-rf", "."], ["-rf", "/"], ["-r", "./"], ["-fR", "/workspace/"], ["--recursive", "../workspace"],
		["-rf", "build", "src"], ["README.md", "src", "-r"], ["-rf", "./src"], ["-rf", "/tmp"],
	] {
		denied_by("no-rm-root") with input as exec("rm", args)
	}
}

test_rm_of_build_folders if {
	every args in [["-rf", "build", "dist"], ["-r", "./node_modules/"], ["-rf", "src/gen"], ["-rf", "/tmp/x"], ["a", "b"], ["-f", "-i"]] {
		not denied_by("no-rm-root") with input as exec("rm", args)
	}
}

test_rm_of_a_file if not denied_by("no-rm-root") with input as exec("rm", ["a.txt"])

test_git if denied_by("git-history") with input as file("write", "/workspace/.git/config")

test_git_itself if denied_by("git-history") with input as file("remove", "/workspace/.git")

test_git_may_be_read if not denied_by("git-history") with input as file("read", "/workspace/.git/config")

test_gitignore_is_not_git if not denied_by("git-history") with input as file("write", "/workspace/.gitignore")

test_secrets if denied_by("secret-file") with input as file("read", "/workspace/.env")

test_other_files if count(donax.deny) == 0 with input as file("read", "/workspace/main.go")

test_many_calls if {
	calls := [{"name": "true"} | some _ in numbers.range(1, 21)]
	count(donax.warn) == 1 with input as {"action": "command", "command": {"calls": calls}}
}

test_limits if count(donax.limit) == 1 with input as {"action": "command", "command": {"calls": []}}
