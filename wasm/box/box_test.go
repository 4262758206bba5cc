package box_test

import (
	"bytes"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box"
	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/build"
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/foreign"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

func TestTiers(t *testing.T) {
	tiers, err := box.Tiers()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tier := range tiers {
		if _, err := tier.Module(); err != nil {
			t.Error(err)
		}
		for _, c := range tier.Commands {
			if seen[c.Name] {
				t.Errorf("%s is there twice", c.Name)
			}
			seen[c.Name] = true
		}
	}
}

// The catalogue is what the sources say; go generate brings it up to date.
func TestCatalogue(t *testing.T) {
	got, err := box.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	for tier, cmds := range map[string][]*applet.Command{"core": core.Commands(), "heavy": heavy.Commands(), "sqlite3": foreign.Commands()} {
		var want []box.Command
		for _, c := range cmds {
			want = append(want, box.Command{Name: c.Name, Synopsis: c.Synopsis, Summary: c.Summary,
				Help: strings.TrimRight(c.Help, "\n"), Tier: tier, Aliases: c.Aliases})
		}
		have := slices.DeleteFunc(slices.Clone(got), func(c box.Command) bool { return c.Tier != tier })
		if !reflect.DeepEqual(have, want) {
			t.Errorf("the catalogue of %s is not that of its sources: run go generate ./wasm/box", tier)
		}
		if !slices.IsSortedFunc(cmds, func(a, b *applet.Command) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("the commands of %s are not sorted", tier)
		}
	}
}

// TestRebuild builds the box anew and compares. It takes a while: only with
// DONAX_REBUILD=1 or in CI.
func TestRebuild(t *testing.T) {
	if os.Getenv("DONAX_REBUILD") != "1" && os.Getenv("CI") == "" || testing.Short() {
		t.Skip("set DONAX_REBUILD=1, without -short, to build the box and compare")
	}
	old, err := os.ReadFile(build.SumFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(old, []byte("# "+runtime.Version()+"\n")) {
		t.Skipf("this is %s; the box was built by %s", runtime.Version(), strings.TrimPrefix(string(old[:bytes.IndexByte(old, '\n')]), "# "))
	}
	files, err := build.Box(t.Context(), "../..", func(tier string, err error) ([]byte, error) {
		if os.Getenv("DONAX_REQUIRE_TOOLS") != "" {
			return nil, err
		}
		t.Logf("%s is not built anew: %v", tier, err)
		return build.Unpack(tier + ".wasm.xz")
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if strings.HasSuffix(name, ".xz") { // versions of xz may pack differently: box.sum is what counts, and TestTiers
			continue
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the sources give: run go generate ./wasm/box (%v)", name, err)
		}
	}
}
