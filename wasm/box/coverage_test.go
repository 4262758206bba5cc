package box_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/foreign"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

const commandsPage = "../../docs/commands.md"

// coverage is what stands beside an applet about one command: the options of
// the tool it stands for that it refuses, and what differs with the reason.
type coverage struct {
	refused []string
	differs []string
}

// readCoverage reads applet/*/coverage.txt: lines of a command's name, refused
// or differs, and text.
func readCoverage(t *testing.T) map[string]*coverage {
	t.Helper()
	files, err := filepath.Glob("applet/*/coverage.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*coverage{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			kind, value, ok := strings.Cut(rest, " ")
			if all[name] == nil {
				all[name] = &coverage{}
			}
			switch {
			case ok && kind == "refused":
				all[name].refused = strings.Fields(value)
			case ok && kind == "differs":
				all[name].differs = append(all[name].differs, value)
			default:
				t.Fatalf("%s: %q", f, line)
			}
		}
	}
	return all
}

func boxCommands() []*applet.Command {
	list := slices.Concat(core.Commands(), heavy.Commands(), foreign.Commands())
	slices.SortFunc(list, func(a, b *applet.Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// TestCommandsPage holds docs/commands.md against the commands and what stands
// beside them; DONAX_UPDATE=1 writes it.
func TestCommandsPage(t *testing.T) {
	beside := readCoverage(t)
	var b strings.Builder
	b.WriteString("# The commands of the box, option by option\n\n" +
		"Made from the help texts of the commands and from `wasm/box/applet/*/coverage.txt` by `DONAX_UPDATE=1 go test -run TestCommandsPage ./wasm/box`.\n" +
		"\"Refused\" are options of the tool that a command stands for (`NAME --version` tells which) that it does not know: it says so and does nothing.\n")
	for _, c := range boxCommands() {
		fmt.Fprintf(&b, "\n## %s\n\n`%s`: %s.\n", c.Name, strings.TrimSpace(c.Name+" "+c.Synopsis), c.Summary)
		if len(c.Aliases) > 0 {
			fmt.Fprintf(&b, "\nAlso called `%s`; to a policy it is `%s`.\n", strings.Join(c.Aliases, "` `"), c.Name)
		}
		if c.Help != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", strings.TrimRight(c.Help, "\n"))
		}
		if k := beside[c.Name]; k != nil {
			if len(k.refused) > 0 {
				fmt.Fprintf(&b, "\nRefused: `%s`.\n", strings.Join(k.refused, "` `"))
			}
			for i, d := range k.differs {
				if i == 0 {
					b.WriteString("\nDifferent:\n\n")
				}
				b.WriteString("- " + d + "\n")
			}
		}
		delete(beside, c.Name)
	}
	for name := range beside {
		t.Errorf("a coverage.txt tells of %s, which is not in the box", name)
	}
	old, err := os.ReadFile(commandsPage)
	switch {
	case err == nil && string(old) == b.String():
	case os.Getenv("DONAX_UPDATE") != "":
		if err := os.WriteFile(commandsPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/commands.md is not what the commands say: run DONAX_UPDATE=1 go test -run TestCommandsPage ./wasm/box (%v)", err)
	}
}

var option = regexp.MustCompile(`(?:^|[\s,|\[(])(--?[A-Za-z0-9][-A-Za-z0-9]*)`)

// options returns those that lines of a help text begin with.
func options(help string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(help) {
		text := strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(text, "-") || len(line)-len(text) > 12 {
			continue
		}
		// The options end where two spaces or a tab begin the explanation.
		if i := strings.IndexAny(text, "\t"); i > 0 {
			text = text[:i]
		}
		if i := strings.Index(text, "  "); i > 0 {
			text = text[:i]
		}
		for _, m := range option.FindAllStringSubmatch(text, -1) {
			if o := m[1]; strings.HasPrefix(o, "--") && len(o) > 3 || len(o) == 2 {
				set[o] = true
			}
		}
	}
	return set
}

// TestRefused records the options that the installed tools have and the
// commands refuse, in coverage.txt beside them: only when DONAX_REFUSED is 1,
// on Debian 12 with the packages of .ci/run.
func TestRefused(t *testing.T) {
	if os.Getenv("DONAX_REFUSED") != "1" {
		t.Skip("set DONAX_REFUSED=1 to record the options of the installed tools")
	}
	beside := readCoverage(t)
	files := map[string]string{}
	for _, c := range boxCommands() {
		if c.Run == nil { // compiled from others' sources
			continue
		}
		k := beside[c.Name]
		if k == nil {
			k = &coverage{}
		}
		if path, err := exec.LookPath(c.Name); err == nil && c.Name != "yes" && c.Name != "yq" { // yes has no end; several tools are called yq
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			cmd := exec.CommandContext(ctx, path, "--help")
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
			out, _ := cmd.CombinedOutput()
			cancel()
			k.refused = nil
			ours := options(c.Help)
			for o := range options(string(out)) {
				if o != "--help" && o != "--version" && !ours[o] && refuses(c, o) {
					k.refused = append(k.refused, o)
				}
			}
			slices.Sort(k.refused)
		}
		dir := folderOf(t, c.Name)
		if len(k.refused) > 0 {
			files[dir] += c.Name + " refused " + strings.Join(k.refused, " ") + "\n"
		}
		for _, d := range k.differs {
			files[dir] += c.Name + " differs " + d + "\n"
		}
	}
	for dir, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "coverage.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// refuses tries an option that no help text of ours names.
func refuses(c *applet.Command, o string) bool {
	var errs bytes.Buffer
	done := make(chan bool, 1)
	go func() {
		applet.Run(&applet.Ctx{Cmd: c, Args: []string{o}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errs})
		text := errs.String()
		done <- strings.Contains(text, "unrecognized option") || strings.Contains(text, "invalid option") || strings.Contains(text, "unknown option") ||
			strings.Contains(text, "not supported") || strings.Contains(text, "Found argument") || strings.Contains(text, "ambiguous")
	}()
	select {
	case r := <-done:
		return r
	case <-time.After(2 * time.Second):
		return false // it runs
	}
}

// folderOf finds the applet that a command's name stands in.
func folderOf(t *testing.T, name string) string {
	t.Helper()
	files, err := filepath.Glob("applet/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{`Name: +"`, `command\("`, `"`} {
		re := regexp.MustCompile(pattern + regexp.QuoteMeta(name) + `"`)
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if re.Match(text) {
				return filepath.Dir(f)
			}
		}
	}
	t.Fatalf("no applet of %s", name)
	return ""
}
