package donax_test

import data.donax

exec(name, kind, args) := {"action": "exec", "exec": {"name": name, "kind": kind, "args": args}}

file(op, path, to) := {"action": "file", "file": {"op": op, "path": path, "to": to, "by": "cp"}}

test_line if donax.allow with input as {"action": "command", "command": {"calls": []}, "session": {"transport": "cli"}}

test_line_from_http if {
	not donax.allow with input as {"action": "command", "command": {"calls": []}, "session": {"transport": "http"}}
}

test_reader if donax.allow with input as exec("grep", "box", ["x"])

test_writer if donax.allow with input as exec("cp", "box", ["a", "out/a"])

test_own_program if not donax.allow with input as exec("grep", "wasm", [])

test_unlisted if not donax.allow with input as exec("yes", "box", [])

test_shell_text if donax.allow with input as exec("sh", "shell", ["-c", "ls"])

test_shell_script if not donax.allow with input as exec("bash", "shell", ["./build.sh"])

test_write_out if count(donax.deny) == 0 with input as file("create", "/workspace/out/a", "")

test_make_out if count(donax.deny) == 0 with input as file("create", "/workspace/out", "")

test_write_null if count(donax.deny) == 0 with input as file("write", "/dev/null", "")

test_write_source if count(donax.deny) == 1 with input as file("write", "/workspace/main.go", "")

test_write_lookalike if count(donax.deny) == 1 with input as file("write", "/workspace/output", "")

test_rename_into_source if count(donax.deny) == 1 with input as file("rename", "/tmp/a", "/workspace/a")

test_read_source if count(donax.deny) == 0 with input as file("read", "/workspace/main.go", "")

test_limits if count(donax.limit) == 1 with input as {"action": "command", "command": {"calls": []}}
