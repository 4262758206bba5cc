package donax_test

import data.donax

opens(op, path) if count(donax.deny) == 0 with input as {"action": "file", "file": {"op": op, "path": path}}

test_source if opens("read", "/workspace/main.go")

test_env if not opens("read", "/workspace/.env")

test_env_local if not opens("read", "/workspace/app/.env.local")

test_env_example if opens("read", "/workspace/.env.example")

test_ssh if not opens("read", "/home/a/.ssh/config")

test_pem_upper if not opens("read", "/workspace/cert.PEM")

test_case if not opens("read", "/workspace/.ENV")

test_listing if opens("list", "/home/a/.ssh")

test_envoy_is_not_env if opens("read", "/workspace/.envoy/config")

test_symlink_by_name if {
	count(donax.deny) == 1 with input as {"action": "file", "file": {"op": "read", "path": "/workspace/x", "requested": "/workspace/.env"}}
}

test_symlink_to_secret if {
	count(donax.deny) == 1 with input as {"action": "file", "file": {"op": "read", "path": "/workspace/.env", "requested": "/workspace/x"}}
}

test_rename_of_secret if {
	count(donax.deny) == 1 with input as {"action": "file", "file": {"op": "rename", "path": "/workspace/.env", "to": "/workspace/env.txt"}}
}

test_link_to_secret if {
	count(donax.deny) == 1 with input as {"action": "file", "file": {"op": "link", "path": "/workspace/x", "to": "/workspace/.ssh/id_rsa"}}
}

test_programs_run if donax.allow with input as {"action": "exec", "exec": {"name": "cat", "kind": "box"}}

test_lines_run if donax.allow with input as {"action": "command", "command": {"calls": []}}

command(env) := {"action": "command", "command": {"text": "x", "env": env, "calls": []}}

test_tokens_are_redacted if {
	names := {r.name | some r in donax.redact} with input as command([])
	names == {"aws-key", "github-token", "slack-token", "api-key", "jwt", "password", "private-key"}
}

test_patterns_match if {
	some r in donax.redact with input as command([])
	r.name == "aws-key"
	regex.match(r.pattern, "id AKIAABCDEFGHIJKLMNOP.")
	not regex.match(r.pattern, "AKIAshort")
}

test_variables_are_taken_away if {
	donax.unset_env == {"GH_TOKEN", "DB_PASSWORD"} with input as command(["HOME", "GH_TOKEN", "DB_PASSWORD", "TOKENIZER"])
}
