package donax_test

import data.donax

test_read_ok if {
	count(donax.deny) == 0 with input as {"action": "file", "file": {"op": "read", "path": "/workspace/a"}}
}

test_write_denied if {
	some d in donax.deny with input as {"action": "file", "file": {"op": "write", "path": "/workspace/a"}}
	d.rule == "workspace-read-only"
}

test_prefix_is_not_directory if {
	count(donax.deny) == 1 with input as {"action": "file", "file": {"op": "write", "path": "/tmpx/a"}}
}

test_scratch_ok if {
	count(donax.deny) == 0 with input as {"action": "file", "file": {"op": "create", "path": sprintf("%s/a", [donax.scratch])}}
}

test_rename_out_of_scratch_denied if {
	count(donax.deny) == 1 with input as {"action": "file", "file": {"op": "rename", "path": sprintf("%s/a", [donax.scratch]), "to": "/workspace/a"}}
}

test_redirect_denied_early if {
	some d in donax.deny with input as {"action": "command", "command": {"calls": [{"name": "echo", "line": 1, "redirects": [{"op": ">", "target": "/workspace/x"}]}]}}
	d.line == 1
}

test_dev_null_ok if {
	count(donax.deny) == 0 with input as {"action": "command", "command": {"calls": [{"name": "echo", "redirects": [{"op": ">", "target": "/dev/null"}]}]}}
}

test_no_network if not donax.allow with input as {"action": "net", "net": {"host": "example.com", "port": 443}}

test_no_wasm if not donax.allow with input as {"action": "exec", "exec": {"name": "x", "kind": "wasm"}}

test_box_ok if donax.allow with input as {"action": "exec", "exec": {"name": "ls", "kind": "box"}}

test_link_into_workspace_denied if {
	count(donax.deny) == 1 with input as {"action": "file", "file": {"op": "link", "path": "/tmp/a", "to": "/workspace/a"}}
}

test_remove_of_scratch_ok if {
	count(donax.deny) == 0 with input as {"action": "file", "file": {"op": "remove", "path": "/tmp/a", "to": ""}}
}

test_limits if count(donax.limit) == 1 with input as {"action": "command", "command": {"calls": []}}

test_mount_is_lowered if {
	donax.mount == {{"path": "/workspace", "mode": "ro"}} with input as {"action": "command", "command": {"text": "x", "calls": []}}
}
