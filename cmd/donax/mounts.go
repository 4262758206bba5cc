package main

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// A mount is one --mount flag.
type mount struct {
	src, dst, mode string
}

// parseMount reads SRC[:DST][:MODE].
func parseMount(flag string) (mount, error) {
	try := "--mount .:/workspace:cow"
	rest, prefix := flag, ""
	if runtime.GOOS == "windows" && len(rest) > 2 && rest[1] == ':' { // C:\folder
		prefix, rest = rest[:2], rest[2:]
	}
	parts := strings.Split(rest, ":")
	parts[0] = prefix + parts[0]
	m := mount{src: parts[0], dst: "/workspace", mode: "cow"}
	if last := parts[len(parts)-1]; len(parts) > 1 && (last == "ro" || last == "rw" || last == "cow") {
		m.mode = last
		parts = parts[:len(parts)-1]
	}
	switch len(parts) {
	case 1:
	case 2:
		m.dst = parts[1]
	default:
		return m, usageError(try, "--mount %q: want SRC[:DST][:ro|cow|rw]", flag)
	}
	if m.src == "" {
		return m, usageError(try, "--mount %q: the host folder is missing", flag)
	}
	if !strings.HasPrefix(m.dst, "/") {
		return m, usageError(try, "--mount %q: %q is neither an absolute folder nor one of ro, cow, rw", flag, m.dst)
	}
	m.dst = path.Clean(m.dst)
	for _, taken := range []string{"/bin", "/dev"} {
		// A mount there could pass a host file off as a program or a device.
		if m.dst == "/" || m.dst == taken || strings.HasPrefix(m.dst, taken+"/") {
			return m, usageError(try, "--mount %q: %s belongs to the sandbox", flag, m.dst)
		}
	}
	abs, err := filepath.Abs(m.src)
	if err != nil {
		return m, usageError(try, "--mount %q: %v", flag, err)
	}
	m.src = abs
	switch fi, err := os.Stat(m.src); {
	case err != nil:
		return m, usageError(try, "--mount %q: no such folder on this machine", flag)
	case !fi.IsDir():
		return m, usageError("--mount "+filepath.Dir(flag), "--mount %q: not a folder", flag)
	}
	return m, nil
}

// parseMounts reads all --mount flags and refuses two at one place.
func parseMounts(flags []string) ([]mount, error) {
	var list []mount
	at := map[string]string{}
	for _, f := range flags {
		m, err := parseMount(f)
		if err != nil {
			return nil, err
		}
		if other, ok := at[m.dst]; ok {
			return nil, usageError("--mount "+m.src+":/workspace/NAME", "--mount %q and %q are both at %s", other, f, m.dst)
		}
		at[m.dst] = f
		list = append(list, m)
	}
	return list, nil
}
