//go:build wasip1

// Command core is the core tier of the box, built as a wasip1 reactor.
package main

import (
	"github.com/donax-sh/donax/wasm/box/core"
	"github.com/donax-sh/donax/wasm/box/guest"
)

var _ = guest.Use(core.Commands())

func main() {} // never called: a reactor
