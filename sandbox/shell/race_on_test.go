//go:build race

package shell

const underRace = true // the detector's own memory is many times the program's
