# METADATA
# title: Network allow-list
# description: |
#   Programs may fetch from a few hosts, over https, and read only. A connection
#   is asked twice: by name, and again with each address the name resolved to.
package donax

allow if input.action == "command"

allow if input.exec.kind in {"box", "shell"}

allow if {
	input.net.scheme == "https"
	input.net.port == 443
	input.net.method in {"GET", "HEAD"}
	host_allowed(input.net.host)
}

# A name, or any name below it: a plain suffix test would also let in evil-example.com.
host_allowed(host) if host in data.network.hosts

host_allowed(host) if {
	some parent in data.network.domains
	endswith(host, sprintf(".%s", [parent]))
}

# The address that will be dialled; private ranges stay closed even when a
# listed name points there.
deny contains {
	"rule": "private-address",
	"msg": sprintf("%s is not a public address", [input.net.ip]),
} if {
	input.net.ip != ""
	some range in private
	net.cidr_contains(range, input.net.ip)
}

private := {
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
	"::1/128", "fc00::/7", "fe80::/10",
}

deny contains {
	"rule": "read-only-network",
	"msg": sprintf("%s is not allowed, only GET and HEAD", [input.net.method]),
	"hint": "print what should be sent; a person will send it",
} if {
	input.net.method != ""
	not input.net.method in {"GET", "HEAD"}
}
