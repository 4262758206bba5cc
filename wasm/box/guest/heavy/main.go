//go:build wasip1

// Command heavy is the heavy tier of the box, built as a wasip1 reactor.
package main

import (
	"github.com/donax-sh/donax/wasm/box/guest"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

var _ = guest.Use(heavy.Commands())

func main() {} // never called: a reactor
