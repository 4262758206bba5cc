// Package dos2unix holds the commands dos2unix and unix2dos.
package dos2unix

import (
	"bytes"
	"io"
	"os"

	"github.com/donax-sh/donax/wasm/box/applet"
)

const help = `  -f, --force           convert binary files
  -k, --keepdate        keep output file date
  -n, --newfile INFILE OUTFILE ...  write to new file
  -o, --oldfile FILE... write to old file (default)
  -q, --quiet           quiet mode, suppress all messages
  -s, --safe            skip binary files (default)`

// Dos2unix is the command dos2unix.
var Dos2unix = applet.Command{
	Name:     "dos2unix",
	Synopsis: "[OPTION]... [FILE]... [-n INFILE OUTFILE]...",
	Summary:  "convert line breaks of text files from DOS to Unix",
	Help:     help,
	Run:      func(c *applet.Ctx) int { return run(c, "Unix", toUnix) },
}

// Unix2dos is the command unix2dos.
var Unix2dos = applet.Command{
	Name:     "unix2dos",
	Synopsis: "[OPTION]... [FILE]... [-n INFILE OUTFILE]...",
	Summary:  "convert line breaks of text files from Unix to DOS",
	Help:     help,
	Run:      func(c *applet.Ctx) int { return run(c, "DOS", toDOS) },
}

func toUnix(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

func toDOS(text []byte) []byte {
	return bytes.ReplaceAll(toUnix(text), []byte("\n"), []byte("\r\n"))
}

func run(c *applet.Ctx, format string, convert func([]byte) []byte) int {
	var force, keep, newFiles, quiet bool
	names, status, ok := c.Parse(1,
		applet.Bool(&force, 'f', "force"),
		applet.Bool(&keep, 'k', "keepdate"),
		applet.Do(func() { newFiles = true }, 'n', "newfile"),
		applet.Do(func() { newFiles = false }, 'o', "oldfile"),
		applet.Bool(&quiet, 'q', "quiet"),
		applet.Do(func() { force = false }, 's', "safe"),
	)
	if !ok {
		return status
	}
	if len(names) == 0 {
		text, err := io.ReadAll(c.Stdin)
		if err != nil {
			c.Warn("standard input: ", applet.Reason(err))
			return 1
		}
		c.Stdout.Write(convert(text))
		return 0
	}
	if newFiles && len(names)%2 != 0 {
		c.Warn("target of file ", names[len(names)-1], " not specified in new-file mode")
		return 1
	}
	say := func(parts ...string) {
		if !quiet {
			c.Warn(parts...)
		}
	}
	step := 1
	if newFiles {
		step = 2
	}
	for i := 0; i < len(names); i += step {
		from, to := names[i], names[i+step-1]
		fi, err := os.Stat(from)
		if err == nil && !fi.Mode().IsRegular() {
			say("Skipping ", from, ", not a regular file.")
			continue
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(from)
		}
		if err != nil {
			say(from, ": ", applet.Reason(err))
			ok = false
			continue
		}
		if !force && bytes.IndexByte(text, 0) >= 0 {
			say("Binary symbol 0x00 found at line ", string(applet.AppendNum(nil, int64(1+bytes.Count(text[:bytes.IndexByte(text, 0)], []byte("\n"))), 0)))
			say("Skipping binary file ", from)
			continue
		}
		if newFiles {
			say("converting file ", from, " to file ", to, " in ", format, " format...")
		} else {
			say("converting file ", from, " to ", format, " format...")
		}
		err = os.WriteFile(to, convert(text), fi.Mode().Perm())
		if err == nil && keep {
			err = os.Chtimes(to, applet.Stat(fi).Atime, fi.ModTime())
		}
		if err != nil {
			say(to, ": ", applet.Reason(err))
			ok = false
		}
	}
	return applet.Status(ok)
}
