package core_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/applettest"
	"github.com/donax-sh/donax/wasm/box/core"
)

func TestMain(m *testing.M) { applettest.Main(m, core.Commands()) }

func TestNative(t *testing.T) { applettest.Run(t, "../applet", applettest.Native(core.Commands())) }

func TestGNU(t *testing.T) { applettest.Run(t, "../applet", applettest.GNU(t)) }

func TestSorted(t *testing.T) {
	byName := func(a, b *applet.Command) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(core.Commands(), byName) {
		t.Error("the commands are not sorted by name")
	}
}
