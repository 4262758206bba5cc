# Argument constraints for upstream tools: which may be called, with what, and
# how often.
package donax

allow if input.action == "command"

allow if input.exec.kind in {"box", "shell", "tool"}

# What a server may be asked to do is listed, tool by tool.
allow if {
	input.tool.server == "tickets"
	input.tool.name == "export"
}

allow if {
	input.tool.server == "ledger"
	input.tool.name in {"save", "pay"}
}

deny contains {"rule": "amount", "msg": "at most 10000 in one payment", "hint": "split it, or ask a person"} if {
	input.tool.name == "pay"
	not small_amount
}

# An amount that is missing or no number is not small.
small_amount if {
	is_number(input.tool.arguments.amount)
	input.tool.arguments.amount <= 10000
}

deny contains {"rule": "calls", "msg": "at most 20 tool calls"} if {
	input.action == "tool"
	input.usage.tool_calls >= 20
}
