// Package heavy lists the commands of the box's second tier: the languages
// and whatever else needs fmt, regexp or a big library. It is loaded when the
// first of them runs.
package heavy

import (
	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/awk"
	"github.com/donax-sh/donax/wasm/box/applet/bc"
	"github.com/donax-sh/donax/wasm/box/applet/bzip2"
	"github.com/donax-sh/donax/wasm/box/applet/curl"
	"github.com/donax-sh/donax/wasm/box/applet/date"
	"github.com/donax-sh/donax/wasm/box/applet/diff"
	"github.com/donax-sh/donax/wasm/box/applet/envsubst"
	"github.com/donax-sh/donax/wasm/box/applet/file"
	"github.com/donax-sh/donax/wasm/box/applet/getopt"
	"github.com/donax-sh/donax/wasm/box/applet/grep"
	"github.com/donax-sh/donax/wasm/box/applet/gzip"
	"github.com/donax-sh/donax/wasm/box/applet/html2md"
	"github.com/donax-sh/donax/wasm/box/applet/iconv"
	"github.com/donax-sh/donax/wasm/box/applet/jq"
	"github.com/donax-sh/donax/wasm/box/applet/patch"
	"github.com/donax-sh/donax/wasm/box/applet/sed"
	"github.com/donax-sh/donax/wasm/box/applet/tar"
	"github.com/donax-sh/donax/wasm/box/applet/wget"
	"github.com/donax-sh/donax/wasm/box/applet/xz"
	"github.com/donax-sh/donax/wasm/box/applet/yq"
	"github.com/donax-sh/donax/wasm/box/applet/zip"
	"github.com/donax-sh/donax/wasm/box/applet/zstd"
)

// Commands returns the tier's commands, sorted by name.
func Commands() []*applet.Command {
	return []*applet.Command{
		awk.Command,
		&bc.Command,
		bzip2.Bunzip2,
		bzip2.Bzcat,
		bzip2.Bzip2,
		curl.Command,
		date.Command,
		diff.Command,
		grep.Egrep,
		&envsubst.Command,
		grep.Fgrep,
		&file.Command,
		&getopt.Command,
		grep.Command,
		gzip.Gunzip,
		gzip.Gzip,
		&html2md.Command,
		&iconv.Command,
		jq.Command,
		&patch.Command,
		grep.Rg,
		sed.Command,
		tar.Command,
		xz.Unxz,
		&zip.Unzip,
		zstd.Unzstd,
		wget.Command,
		xz.XZ,
		xz.Xzcat,
		yq.Command,
		gzip.Zcat,
		grep.Zegrep,
		grep.Zfgrep,
		grep.Zgrep,
		&zip.Zip,
		zstd.Zstd,
		zstd.Zstdcat,
	}
}
