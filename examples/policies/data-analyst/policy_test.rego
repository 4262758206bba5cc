package donax_test

import data.donax

exec(name, kind, hash) := {"action": "exec", "exec": {"name": name, "kind": kind, "sha256": hash}}

file(op, path, to) := {"action": "file", "file": {"op": op, "path": path, "to": to}}

zero := "0000000000000000000000000000000000000000000000000000000000000000"

test_line if donax.allow with input as {"action": "command", "command": {"calls": []}}

test_tool if donax.allow with input as exec("sort", "box", "")

test_python if donax.allow with input as exec("python", "wasm", zero)

test_python_by_name_only if not donax.allow with input as exec("python", "wasm", "ab")

test_other_tool if not donax.allow with input as exec("rm", "box", "")

test_files_are_governed if donax.governs == {"file"}

test_read_input if donax.allow with input as file("read", "/workspace/input/a.csv", "")

test_write_input if not donax.allow with input as file("write", "/workspace/input/a.csv", "")

test_write_results if donax.allow with input as file("create", "/workspace/results/a.csv", "")

test_read_elsewhere if not donax.allow with input as file("read", "/workspace/secret", "")

test_list_on_the_way if donax.allow with input as file("list", "/workspace", "")

test_list_input if donax.allow with input as file("list", "/workspace/input", "")

test_remove_scratch if donax.allow with input as file("remove", "/tmp/a", "")

test_rename_out_of_scratch if not donax.allow with input as file("rename", "/tmp/a", "/workspace/input/a")

test_remove_results if not donax.allow with input as file("remove", "/workspace/results/a", "")
