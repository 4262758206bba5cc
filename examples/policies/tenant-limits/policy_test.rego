package donax_test

import data.donax

line(tenant, roles, open) := {
	"action": "command",
	"command": {"calls": []},
	"principal": {"tenant": tenant, "roles": roles, "claims": {}},
	"usage": {"terminals_open": open},
}

run(tenant, claims) := {
	"action": "exec",
	"exec": {"name": "ls", "kind": "box"},
	"principal": {"tenant": tenant, "claims": claims},
}

test_free if donax.allow with input as line("free", [], 1)

test_free_full if {
	not donax.allow with input as line("free", [], 2)
	count(donax.deny) == 1 with input as line("free", [], 2)
}

test_team_is_not_full if donax.allow with input as line("team", [], 2)

test_unknown_tenant if not donax.allow with input as line("other", [], 0)

test_no_tenant if not donax.allow with input as run("", {})

test_program if donax.allow with input as run("free", {})

test_suspended if count(donax.deny) == 1 with input as run("free", {"suspended": true})

test_not_suspended if count(donax.deny) == 0 with input as run("free", {"suspended": false})

test_limits if {
	limits := donax.limit with input as line("free", [], 0)
	limits == {{"timeout_ms": 30000, "commands": 1000}, {"memory_bytes": 134217728}}
}

test_operator if {
	limits := donax.limit with input as line("team", ["operator"], 0)
	limits == {{"timeout_ms": 600000, "commands": 100000}}
}
