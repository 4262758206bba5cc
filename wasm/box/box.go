// Package box holds the utilities of the sandbox: Go programs compiled to
// wasm, in two tiers, sqlite3 in one of its own, and the catalogue of their
// commands.
//
// The commands are below: applet is what they are made of, core and heavy
// list the two tiers, guest runs them inside wasm, and foreign names what others wrote. go generate builds the
// files that this package embeds; the binary that embeds them links no
// command.
package box

//go:generate go run generate.go

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ulikunitz/xz"
)

//go:embed core.wasm.xz heavy.wasm.xz sqlite3.wasm.xz box.sum
var files embed.FS

//go:embed catalog.json
var catalog []byte

// maxModule bounds what is unpacked.
const maxModule = 256 << 20

// A Tier is one module of the box and the commands in it.
type Tier struct {
	Name     string    // core, heavy or sqlite3
	SHA256   string    // hex digest of the module
	Commands []Command // without their Help
	WASI     bool      // a command for WASI preview 1, else a reactor that package build made
}

// A Command is one entry of the catalogue.
type Command struct {
	Name     string
	Synopsis string
	Summary  string
	Help     string
	Tier     string
	Aliases  []string `json:",omitempty"` // other names of the same command
}

// Catalog returns all commands with their Help. The error says that the build
// is broken.
func Catalog() (all []Command, err error) {
	err = read(&all)
	return all, err
}

func read(v any) error {
	if err := json.Unmarshal(catalog, v); err != nil {
		return fmt.Errorf("box: catalogue: %w", err)
	}
	return nil
}

// Tiers returns the tiers of the box. The error says that the build is
// broken.
func Tiers() ([]Tier, error) {
	// Every start needs this, and nothing of Help, which is most of the text.
	var cmds []struct {
		Name, Synopsis, Summary, Tier string
		Aliases                       []string
	}
	if err := read(&cmds); err != nil {
		return nil, err
	}
	sums, err := files.ReadFile("box.sum")
	if err != nil {
		return nil, err
	}
	tiers := []Tier{{Name: "core"}, {Name: "heavy"}, {Name: "sqlite3", WASI: true}}
	for i := range tiers {
		t := &tiers[i]
		for line := range strings.Lines(string(sums)) {
			if f := strings.Fields(line); len(f) == 2 && f[1] == t.Name+".wasm" {
				t.SHA256 = f[0]
			}
		}
		if t.SHA256 == "" {
			return nil, fmt.Errorf("box: no digest of %s", t.Name)
		}
		for _, c := range cmds {
			if c.Tier == t.Name {
				t.Commands = append(t.Commands, Command{Name: c.Name, Synopsis: c.Synopsis, Summary: c.Summary, Tier: c.Tier, Aliases: c.Aliases})
			}
		}
	}
	return tiers, nil
}

// Module unpacks the tier's module and checks its digest.
func (t Tier) Module() ([]byte, error) {
	z, err := files.ReadFile(t.Name + ".wasm.xz")
	if err != nil {
		return nil, fmt.Errorf("box: %w", err)
	}
	r, err := xz.NewReader(bytes.NewReader(z))
	if err != nil {
		return nil, fmt.Errorf("box: %s: %w", t.Name, err)
	}
	bin, err := io.ReadAll(io.LimitReader(r, maxModule))
	if err != nil {
		return nil, fmt.Errorf("box: %s: %w", t.Name, err)
	}
	if sum := sha256.Sum256(bin); hex.EncodeToString(sum[:]) != t.SHA256 {
		return nil, fmt.Errorf("box: %s is not the module that box.sum names", t.Name)
	}
	return bin, nil
}
