// Package heavy lists the commands of the box's second tier: the languages
// and whatever else needs fmt, regexp or a big library. It is loaded when the
// first of them runs.
package heavy

import "github.com/donax-sh/donax/wasm/box/applet"

// Commands returns the tier's commands, sorted by name.
func Commands() []*applet.Command {
	return []*applet.Command{}
}
