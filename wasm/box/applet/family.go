package applet

import "strings"

// family returns the software that a command behaves as, with its version.
// What is not named here is of coreutils.
func family(name string) (product, version string) {
	for _, f := range [...]struct{ names, product, version string }{
		{"grep egrep fgrep", "GNU grep", "3.8"},
		{"sed", "GNU sed", "4.9"},
		{"awk", "GNU Awk", "5.2"},
		{"find xargs", "GNU findutils", "4.9.0"},
		{"diff cmp", "GNU diffutils", "3.8"},
		{"patch", "GNU patch", "2.7.6"},
		{"tar", "GNU tar", "1.34"},
		{"gzip gunzip zcat zgrep zegrep zfgrep", "GNU gzip", "1.12"},
		{"bzip2 bunzip2 bzcat", "bzip2", "1.0.8"},
		{"xz unxz xzcat", "XZ Utils", "5.4.1"},
		{"zstd unzstd zstdcat", "Zstandard", "1.5.4"},
		{"zip", "Info-ZIP Zip", "3.0"},
		{"unzip", "Info-ZIP UnZip", "6.00"},
		{"bc", "GNU bc", "1.07.1"},
		{"jq", "jq", "1.6"},
		{"yq", "jq, over YAML", "1.6"},
		{"rg", "ripgrep", "13.0.0"},
		{"file", "file", "5.44"},
		{"tree", "tree", "2.1.0"},
		{"less", "less", "590"},
		{"curl", "curl", "7.88.1"},
		{"wget", "GNU Wget", "1.21.3"},
		{"xxd", "xxd", "2022-01-14"},
		{"strings", "GNU binutils", "2.40"},
		{"dos2unix unix2dos", "dos2unix", "7.4.3"},
		{"column getopt hexdump hd rev more uuidgen setsid", "util-linux", "2.38.1"},
		{"cal ncal", "bsdmainutils", "12.1.8"},
		{"hostname", "hostname", "3.23"},
		{"uptime watch free ps", "procps-ng", "4.0.2"},
		{"which", "debianutils", "5.7"},
		{"iconv", "GNU libc", "2.36"},
		{"envsubst", "GNU gettext-runtime", "0.21"},
		{"html2md", "donax", "1"},
	} {
		for n := range strings.FieldsSeq(f.names) {
			if n == name {
				return f.product, f.version
			}
		}
	}
	return "GNU coreutils", "9.1"
}
