// Package core lists the commands of the box's small tier: those that need
// neither fmt nor regexp nor encoding/json, so that they start fast from
// cold.
package core

import (
	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/basename"
	"github.com/donax-sh/donax/wasm/box/applet/cat"
	"github.com/donax-sh/donax/wasm/box/applet/cp"
	"github.com/donax-sh/donax/wasm/box/applet/cut"
	"github.com/donax-sh/donax/wasm/box/applet/echo"
	"github.com/donax-sh/donax/wasm/box/applet/env"
	"github.com/donax-sh/donax/wasm/box/applet/find"
	"github.com/donax-sh/donax/wasm/box/applet/head"
	"github.com/donax-sh/donax/wasm/box/applet/ls"
	"github.com/donax-sh/donax/wasm/box/applet/mkdir"
	"github.com/donax-sh/donax/wasm/box/applet/printf"
	"github.com/donax-sh/donax/wasm/box/applet/pwd"
	"github.com/donax-sh/donax/wasm/box/applet/rm"
	"github.com/donax-sh/donax/wasm/box/applet/seq"
	"github.com/donax-sh/donax/wasm/box/applet/sleep"
	"github.com/donax-sh/donax/wasm/box/applet/sort"
	"github.com/donax-sh/donax/wasm/box/applet/tail"
	"github.com/donax-sh/donax/wasm/box/applet/tee"
	"github.com/donax-sh/donax/wasm/box/applet/test"
	"github.com/donax-sh/donax/wasm/box/applet/timeout"
	"github.com/donax-sh/donax/wasm/box/applet/touch"
	"github.com/donax-sh/donax/wasm/box/applet/tr"
	"github.com/donax-sh/donax/wasm/box/applet/truth"
	"github.com/donax-sh/donax/wasm/box/applet/uniq"
	"github.com/donax-sh/donax/wasm/box/applet/wc"
	"github.com/donax-sh/donax/wasm/box/applet/which"
	"github.com/donax-sh/donax/wasm/box/applet/xargs"
	"github.com/donax-sh/donax/wasm/box/applet/yes"
)

// Commands returns the tier's commands, sorted by name.
func Commands() []*applet.Command {
	return []*applet.Command{
		&test.Bracket,
		&basename.Basename,
		&cat.Command,
		&cp.Cp,
		&cut.Command,
		&basename.Dirname,
		&echo.Command,
		&env.Env,
		&truth.False,
		find.Command,
		&head.Command,
		&ls.Command,
		&mkdir.Mkdir,
		&cp.Mv,
		&env.Printenv,
		&printf.Command,
		&pwd.Command,
		&rm.Command,
		&mkdir.Rmdir,
		&seq.Command,
		&sleep.Command,
		&sort.Command,
		&tail.Command,
		&tee.Command,
		&test.Test,
		&timeout.Command,
		&touch.Command,
		&tr.Command,
		&truth.True,
		&uniq.Command,
		&wc.Command,
		&which.Command,
		xargs.Command,
		&yes.Command,
	}
}
