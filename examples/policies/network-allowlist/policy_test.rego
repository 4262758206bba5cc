package donax_test

import data.donax

get(host, ip) := {"action": "net", "net": {"scheme": "https", "host": host, "port": 443, "method": "GET", "path": "/", "ip": ip}}

ok(i) if {
	donax.allow with input as i
	count(donax.deny) == 0 with input as i
}

test_listed if ok(get("pypi.org", ""))

test_listed_again_with_address if ok(get("pypi.org", "151.101.0.223"))

test_below_a_domain if ok(get("cdn.example.com", "93.184.216.34"))

test_the_domain_itself_is_not_listed if not ok(get("example.com", ""))

test_lookalike if not ok(get("evil-example.com", ""))

test_suffix_trick if not ok(get("example.com.evil.org", ""))

test_unlisted if not ok(get("evil.org", ""))

test_metadata_behind_a_listed_name if not ok(get("pypi.org", "169.254.169.254"))

test_loopback_v6 if not ok(get("pypi.org", "::1"))

test_post if {
	some d in donax.deny with input as object.union(get("pypi.org", ""), {"net": {"method": "POST"}})
	d.rule == "read-only-network"
}

test_http if not ok(object.union(get("pypi.org", ""), {"net": {"scheme": "http", "port": 80}}))

test_programs_run if ok({"action": "exec", "exec": {"name": "curl", "kind": "box"}})

test_lines_run if ok({"action": "command", "command": {"calls": []}})
