# METADATA
# title: Limits by tenant and role
# description: |
#   For a server with many users: what their token says decides how much they
#   get. Claims come from the verified token; what a client says of itself
#   (session.client) must never decide anything.
package donax

allow if {
	input.action == "command"
	input.principal.tenant in object.keys(data.tenants)
	input.usage.terminals_open < tenant.terminals
}

allow if {
	input.exec.kind in {"box", "shell"}
	input.principal.tenant in object.keys(data.tenants)
}

tenant := data.tenants[input.principal.tenant]

deny contains {
	"rule": "too-many-terminals",
	"msg": sprintf("%d terminals are open already", [input.usage.terminals_open]),
	"hint": "release terminals that have ended",
} if {
	input.command
	input.usage.terminals_open >= tenant.terminals
}

deny contains {"rule": "suspended", "msg": "this account is suspended"} if input.principal.claims.suspended == true

limit contains {"timeout_ms": tenant.timeout_ms, "commands": tenant.commands} if input.command

# Everybody who is not an operator gets less memory.
limit contains {"memory_bytes": 134217728} if {
	input.command
	not "operator" in input.principal.roles
}
