# METADATA
# title: Secret files and tokens
# description: |
#   Files that usually hold credentials cannot be opened, renamed or linked,
#   whatever program asks and under whatever name. Tokens in the output are
#   replaced, and variables that hold credentials are taken away.
package donax

default allow := false

allow if input.action in {"command", "exec"}

secret_names := {
	"id_rsa", "id_ed25519", "id_ecdsa", ".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials",
	"credentials.json", "service-account.json", "kubeconfig", ".htpasswd", "shadow",
}

secret_dirs := {".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"}

secret_suffixes := [".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx", ".asc"]

examples := {".env.example", ".env.sample", ".env.template"}

deny contains {
	"rule": "secret-file",
	"msg": sprintf("%s may hold credentials and cannot be opened", [path]),
	"hint": "ask the user for the value you need",
} if {
	input.file.op != "list"
	some path in {p | some p in [object.get(input.file, "path", ""), object.get(input.file, "to", "")]; p != ""}
	is_secret(path)
}

# links and renames must not give a secret another name; `requested` is the name before symlinks were followed
deny contains {"rule": "secret-file", "msg": sprintf("%s may hold credentials", [input.file.requested])} if {
	input.file.op != "list"
	is_secret(input.file.requested)
}

is_secret(path) if {
	base(path) in secret_names
}

is_secret(path) if {
	some part in split(lower(path), "/")
	part in secret_dirs
}

is_secret(path) if strings.any_suffix_match(lower(path), secret_suffixes)

is_secret(path) if {
	name := base(path)
	regex.match(`^\.env(\..+)?$`, name)
	not name in examples
}

# What is printed all the same: the shapes of common tokens, and whole private
# keys. A command can encode what it prints, so this is a net and not a wall.
tokens := {
	"aws-key": `\b(AKIA|ASIA)[0-9A-Z]{16}\b`,
	"github-token": `\b(gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b`,
	"slack-token": `\bxox[abposr]-[A-Za-z0-9-]{10,250}`,
	"api-key": `\bsk-[A-Za-z0-9_-]{20,200}`,
	"jwt": `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`,
	"password": `(?i)\b(password|passwd|secret|token)\s*[=:]\s*[^\s"']{6,200}`,
}

redact contains {"name": name, "pattern": pattern} if {
	input.command
	some name, pattern in tokens
}

redact contains {
	"name": "private-key",
	"pattern": `-----BEGIN [A-Z ]*PRIVATE KEY-----`,
	"until": `-----END [A-Z ]*PRIVATE KEY-----`,
} if {
	input.command
}

# Variables that hold credentials do not reach the line.
unset_env contains name if {
	some name in input.command.env
	regex.match(`(?i)(token|secret|password|api_?key|credentials)$`, name)
}

base(path) := lower(parts[count(parts) - 1]) if parts := split(path, "/")
