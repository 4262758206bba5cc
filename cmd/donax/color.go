package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Colours, as parameters of the SGR escape sequence.
const (
	bold  = "1"
	dim   = "2"
	green = "32"
	cyan  = "36"
)

// painter returns a function that colours text for w: a terminal, and no
// wish to the contrary (NO_COLOR, TERM=dumb). CLICOLOR_FORCE colours always.
func painter(w io.Writer) func(color, text string) string {
	file, ok := w.(*os.File)
	on := ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
	if v := os.Getenv("CLICOLOR_FORCE"); v != "" && v != "0" {
		on = true
	}
	if os.Getenv("NO_COLOR") != "" {
		on = false
	}
	return func(color, text string) string {
		if !on {
			return text
		}
		return "\x1b[" + color + "m" + text + "\x1b[0m"
	}
}
