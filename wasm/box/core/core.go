// Package core lists the commands of the box's small tier: those that need
// neither fmt nor regexp nor encoding/json, so that they start fast from
// cold.
package core

import "github.com/donax-sh/donax/wasm/box/applet"

// Commands returns the tier's commands, sorted by name.
func Commands() []*applet.Command {
	return []*applet.Command{}
}
