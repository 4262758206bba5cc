# METADATA
# title: Secret files
# description: |
#   Files that usually hold credentials cannot be opened, renamed or linked,
#   whatever program asks and under whatever name.
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

base(path) := lower(parts[count(parts) - 1]) if parts := split(path, "/")
