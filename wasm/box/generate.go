//go:build ignore

// Command generate builds the files of the box anew.
package main

import (
	"context"
	"log"
	"os"

	"github.com/donax-sh/donax/wasm/box/build"
)

func main() {
	files, err := build.Box(context.Background(), "../..", func(tier string, err error) ([]byte, error) {
		log.Printf("%s stays as it was: %v", tier, err)
		return build.Unpack(tier + ".wasm.xz")
	})
	if err != nil {
		log.Fatal(err)
	}
	for name, b := range files {
		if err := os.WriteFile(name, b, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
