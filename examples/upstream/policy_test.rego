package donax_test

import data.donax

pay(amount, calls) := {
	"action": "tool",
	"tool": {"server": "ledger", "name": "pay", "arguments": {"amount": amount}},
	"usage": {"tool_calls": calls},
}

test_export_is_allowed if {
	donax.allow with input as {"action": "tool", "tool": {"server": "tickets", "name": "export"}, "usage": {"tool_calls": 0}}
}

test_other_tools_are_not if {
	not donax.allow with input as {"action": "tool", "tool": {"server": "tickets", "name": "remove"}, "usage": {"tool_calls": 0}}
	not donax.allow with input as {"action": "tool", "tool": {"server": "other", "name": "export"}, "usage": {"tool_calls": 0}}
}

test_small_payment if {
	donax.allow with input as pay(10000, 0)
	count(donax.deny) == 0 with input as pay(10000, 0)
}

test_large_payment if {
	count(donax.deny) == 1 with input as pay(10001, 0)
}

test_amount_that_is_no_number if {
	count(donax.deny) == 1 with input as pay("9", 0)
}

test_too_many_calls if {
	count(donax.deny) == 1 with input as pay(1, 20)
}

test_the_rest if {
	donax.allow with input as {"action": "command"}
	donax.allow with input as {"action": "exec", "exec": {"kind": "tool", "name": "ledger.pay"}}
}
