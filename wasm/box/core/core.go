// Package core lists the commands of the box's small tier: those that need
// neither fmt nor regexp nor encoding/json, so that they start fast from
// cold.
package core

import (
	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/basename"
	"github.com/donax-sh/donax/wasm/box/applet/cat"
	"github.com/donax-sh/donax/wasm/box/applet/cut"
	"github.com/donax-sh/donax/wasm/box/applet/head"
	"github.com/donax-sh/donax/wasm/box/applet/pwd"
	"github.com/donax-sh/donax/wasm/box/applet/sleep"
	"github.com/donax-sh/donax/wasm/box/applet/sort"
	"github.com/donax-sh/donax/wasm/box/applet/tail"
	"github.com/donax-sh/donax/wasm/box/applet/tee"
	"github.com/donax-sh/donax/wasm/box/applet/tr"
	"github.com/donax-sh/donax/wasm/box/applet/truth"
	"github.com/donax-sh/donax/wasm/box/applet/uniq"
	"github.com/donax-sh/donax/wasm/box/applet/wc"
	"github.com/donax-sh/donax/wasm/box/applet/yes"
)

// Commands returns the tier's commands, sorted by name.
func Commands() []*applet.Command {
	return []*applet.Command{
		&basename.Basename,
		&cat.Command,
		&cut.Command,
		&basename.Dirname,
		&truth.False,
		&head.Command,
		&pwd.Command,
		&sleep.Command,
		&sort.Command,
		&tail.Command,
		&tee.Command,
		&tr.Command,
		&truth.True,
		&uniq.Command,
		&wc.Command,
		&yes.Command,
	}
}
