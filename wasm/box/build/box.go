package build

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

// SumFile is the name of the file that holds the digests and the Go version.
const SumFile = "box.sum"

// Box builds all files of the box, by their names in wasm/box. root is the
// module's folder.
func Box(ctx context.Context, root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	type command struct {
		Name, Synopsis, Summary, Help, Tier string
		Aliases                             []string `json:",omitempty"`
	}
	var catalog []command
	sums := "# " + runtime.Version() + "\n"
	for _, tier := range []struct {
		name string
		cmds []*applet.Command
	}{
		{"core", core.Commands()},
		{"heavy", heavy.Commands()},
	} {
		bin, err := Wasm(ctx, root, "./wasm/box/guest/"+tier.name)
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
