package build

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/foreign"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

// SumFile is the name of the file that holds the digests and the Go version.
const SumFile = "box.sum"

// Box builds all files of the box, by their names in wasm/box. root is the
// module's folder. kept gives the module of a tier whose source or compiler is
// not at hand, for the reason err, as it was built before; its own error ends
// the build.
func Box(ctx context.Context, root string, kept func(tier string, err error) ([]byte, error)) (map[string][]byte, error) {
	files := map[string][]byte{}
	type command struct {
		Name, Synopsis, Summary, Help, Tier string
		Aliases                             []string `json:",omitempty"`
	}
	var catalog []command
	sums := "# " + runtime.Version() + "\n"
	ours := func(name string) func() ([]byte, error) {
		return func() ([]byte, error) { return Wasm(ctx, root, "./wasm/box/guest/"+name) }
	}
	for _, tier := range []struct {
		name string
		cmds []*applet.Command
		make func() ([]byte, error)
	}{
		{"core", core.Commands(), ours("core")},
		{"heavy", heavy.Commands(), ours("heavy")},
		{"sqlite3", foreign.Commands(), func() ([]byte, error) { return SQLite(ctx, filepath.Join(root, "wasm/box/build/include")) }},
	} {
		bin, err := tier.make()
		if errors.Is(err, ErrNoSource) {
			bin, err = kept(tier.name, err)
		}
		if err != nil {
			return nil, err
		}
		z, err := Pack(ctx, bin)
		if err != nil {
			return nil, err
		}
		files[tier.name+".wasm.xz"] = z
		sums += fmt.Sprintf("%x  %s.wasm\n", sha256.Sum256(bin), tier.name)
		for _, c := range tier.cmds {
			catalog = append(catalog, command{c.Name, c.Synopsis, c.Summary, strings.TrimRight(c.Help, "\n"), tier.name, c.Aliases})
		}
	}
	text, err := json.MarshalIndent(catalog, "", "\t")
	if err != nil {
		return nil, err
	}
	if catalog == nil {
		text = []byte("[]")
	}
	files["catalog.json"] = append(text, '\n')
	files[SumFile] = []byte(sums)
	return files, nil
}
