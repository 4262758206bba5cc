package donax_test

import data.donax

ex(name, args) := {"action": "exec", "exec": {"name": name, "args": args, "kind": "box"}}

ok(name, args) if {
	donax.allow with input as ex(name, args)
	count(donax.deny) == 0 with input as ex(name, args)
}

test_plain if ok("grep", ["-rn", "x", "."])

test_unlisted if not ok("rm", ["-rf", "/"])

test_find if ok("find", [".", "-name", "*.go"])

test_find_delete if not ok("find", [".", "-delete"])

test_find_exec_child_checked if not ok("rm", ["a"])

test_sed if ok("sed", ["-n", "s/a/b/p", "f"])

test_sed_inplace if not ok("sed", ["-i", "s/a/b/", "f"])

test_sed_inplace_bundled if not ok("sed", ["-ni.bak", "p", "f"])

test_sed_long if not ok("sed", ["--in-place=.bak", "p", "f"])

test_sed_w if not ok("sed", ["s/a/b/w /workspace/out", "f"])

test_sed_w_command if not ok("sed", ["1w out", "f"])

test_sed_file if not ok("sed", ["-f", "script.sed", "f"])

test_git_status if ok("git", ["status", "-s"])

test_git_push if not ok("git", ["push"])

test_git_c if not ok("git", ["-c", "core.pager=sh", "log"])

test_git_branch_list if ok("git", ["branch", "-a"])

test_git_branch_delete if not ok("git", ["branch", "-D", "main"])

test_git_ext_diff if not ok("git", ["diff", "--ext-diff"])

test_git_dir_reason if {
	some d in donax.deny with input as ex("git", ["--git-dir=/x", "log"])
	d.rule == "arguments"
}

test_go if ok("go", ["test", "./..."])

test_go_exec if not ok("go", ["test", "-exec", "sh", "./..."])

test_go_toolexec if not ok("go", ["build", "--toolexec=sh", "./..."])

test_eval_denied if {
	some d in donax.deny with input as {"action": "command", "command": {"calls": [{"name": "eval"}]}}
	d.rule == "no-eval"
}

test_computed_name_denied if {
	some d in donax.deny with input as {"action": "command", "command": {"calls": [{"name": "", "line": 3}]}}
	d.line == 3
}

test_net if not donax.allow with input as {"action": "net", "net": {"host": "x"}}
