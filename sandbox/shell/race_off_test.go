//go:build !race

package shell

const underRace = false
