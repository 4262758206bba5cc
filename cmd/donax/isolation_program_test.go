package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsInWorkers: programs of the command line are there in workers, also
// after the worker can load nothing any more, and in the same bounds.
//
// Threats: WO-1.
func TestProgramsInWorkers(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, bin []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, bin, 0o755); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tool := write("tool.wasm", bomb(1, nil, 0))
	loop := write("loop.wasm", bomb(1, nil, 0, 0x03, 0x40, 0x0c, 0, 0x0b))
	trap := write("trap.wasm", bomb(1, nil, 0, 0x00))
	flags := []string{"-q", "--program", "tool=" + tool + "@sha256:" + sumOf(bomb(1, nil, 0)), "--program", "loop=" + loop, "--program", "trap=" + trap, "--mount", dir}
	in, here := serve(t, append(flags, "--isolation", "terminal")...), serve(t, append(flags, "--isolation", "none")...)
	for _, line := range []string{
		"tool; echo $?; type tool; ls /bin/tool; seq 3 | xargs -n 1 tool && echo all",
		"timeout 0.3 loop; echo $?", "trap 2>/dev/null; command trap; sh -c '/bin/trap'; echo $?", "PATH=; tool; echo $?",
		"sleep 4; tool && tool | tool && echo late", // the worker is locked by then
	} {
		got, how := in.line(map[string]any{"command": line})
		want, as := here.line(map[string]any{"command": line})
		if got != want || how["exitCode"] != as["exitCode"] {
			t.Errorf("%s: %q %v, without workers %q %v", line, got, how, want, as)
		}
	}
	if out, exit := in.line(map[string]any{"command": "tool && tool | tool && echo late"}); out != "late\n" {
		t.Errorf("%q %v", out, exit)
	}
	if out, exit := in.line(map[string]any{"command": "./tool.wasm"}); !strings.Contains(out, "modules in the files do not run in workers: --program FILE makes one a command") || exit["exitCode"] != 126.0 {
		t.Errorf("a module in the files: %q %v", out, exit)
	}
}
