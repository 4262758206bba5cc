// Package file is the command file: it tells what a file holds, in the words
// of file 5.44 for the kinds that it knows.
package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is file.
var Command = applet.Command{
	Name:     "file",
	Synopsis: "[OPTION]... FILE...",
	Summary:  "determine the type of FILEs",
	Help: `  -b, --brief            do not prepend filenames to output lines
  -F, --separator=STRING  use STRING as separator instead of ':'
  -f, --files-from=FILE  read the filenames to be examined from FILE
  -i, --mime             output MIME type strings
      --mime-type        output the MIME type
      --mime-encoding    output the MIME encoding
  -h, --no-dereference   don't follow symlinks (the default)
  -L, --dereference      follow symlinks
  -N, --no-pad           do not pad output
  -0, --print0           terminate filenames with a NUL
  -s, --special-files    accepted
  -z, --uncompress       refused: what is compressed is not looked into
Kinds that it does not know are data or text.`,
	Run: run,
}

type teller struct {
	*applet.Ctx
	brief, follow, noPad, nul bool
	mimeType, mimeEncoding    bool
	sep                       string
}

func run(c *applet.Ctx) int {
	w := teller{Ctx: c, sep: ":"}
	var from string
	var ignored bool
	files, status, ok := c.Parse(1,
		applet.Bool(&w.brief, 'b', "brief"),
		applet.String(&w.sep, 'F', "separator"),
		applet.String(&from, 'f', "files-from"),
		applet.Do(func() { w.mimeType, w.mimeEncoding = true, true }, 'i', "mime"),
		applet.Bool(&w.mimeType, 0, "mime-type"),
		applet.Bool(&w.mimeEncoding, 0, "mime-encoding"),
		applet.Do(func() { w.follow = false }, 'h', "no-dereference"),
		applet.Bool(&w.follow, 'L', "dereference"),
		applet.Bool(&w.noPad, 'N', "no-pad"),
		applet.Bool(&w.nul, '0', "print0"),
		applet.Bool(&ignored, 's', "special-files"),
		applet.Try(func() error { return errors.New("what is compressed is not looked into: unpack it first") }, 'z', "uncompress"),
	)
	if !ok {
		return status
	}
	if from != "" {
		f, err := c.Open(from)
		if err != nil {
			c.Warn("Cannot open `", from, "' (", applet.Reason(err), ")")
			return 1
		}
		lines := applet.NewLines(f, '\n')
		for line, more := lines.Next(); more; line, more = lines.Next() {
			files = append(files, string(line))
		}
		f.Close()
	}
	if len(files) == 0 {
		io.WriteString(c.Stderr, "Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]\n            [--mime-type] [-e <testname>] [-F <separator>]  [-f <namefile>]\n            [-m <magicfiles>] [-P <parameter=value>] [--exclude-quiet]\n            <file> ...\n       file -C [-m <magicfiles>]\n       file [--help]\n")
		return 1
	}
	width := 0
	for _, name := range files {
		width = max(width, utf8.RuneCountInString(shown(name)))
	}
	for _, name := range files {
		k := w.look(name)
		if !w.brief {
			pad := ""
			if !w.noPad {
				pad = strings.Repeat(" ", width-utf8.RuneCountInString(shown(name)))
			}
			sep := w.sep
			if w.nul {
				sep = "\x00" + sep
			}
			io.WriteString(c.Stdout, shown(name)+sep+pad+" ")
		}
		io.WriteString(c.Stdout, w.answer(k)+"\n")
	}
	return 0
}

func shown(name string) string {
	if name == "-" {
		return "/dev/stdin"
	}
	return name
}

// answer is what of k the options ask for.
func (w *teller) answer(k kind) string {
	switch {
	case k.failed || !w.mimeType && !w.mimeEncoding:
		return k.text
	case !w.mimeEncoding:
		return k.mime
	case !w.mimeType:
		return k.charset
	}
	return k.mime + "; charset=" + k.charset
}

// A kind is what a file was found to be.
type kind struct {
	text, mime, charset string
	failed              bool
}

func binaryKind(text, mime string) kind { return kind{text: text, mime: mime, charset: "binary"} }

// look tells what name is.
func (w *teller) look(name string) kind {
	if name != "-" {
		stat := os.Lstat
		if w.follow {
			stat = os.Stat
		}
		info, err := stat(name)
		if err != nil {
			return kind{text: "cannot open `" + name + "' (" + applet.Reason(err) + ")", failed: true}
		}
		switch m := info.Mode(); {
		case m.IsDir():
			return binaryKind("directory", "inode/directory")
		case m&fs.ModeSymlink != 0:
			target, _ := os.Readlink(name) // an unreadable link has no target to show
			if _, err := os.Stat(name); err != nil {
				return binaryKind("broken symbolic link to "+target, "inode/symlink")
			}
			return binaryKind("symbolic link to "+target, "inode/symlink")
		case m&fs.ModeCharDevice != 0:
			return binaryKind("character special", "inode/chardevice")
		case m&fs.ModeNamedPipe != 0:
			return binaryKind("fifo (named pipe)", "inode/fifo")
		}
	}
	f, err := w.Open(name)
	if err != nil {
		return kind{text: "regular file, no read permission", mime: "regular file, no read permission", failed: true}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return kind{text: "ERROR: cannot read `" + name + "' (" + applet.Reason(err) + ")", failed: true}
	}
	return identify(data)
}

// identify tells what data is: empty, of a known format, text or else.
func identify(data []byte) kind {
	if len(data) == 0 {
		return binaryKind("empty", "inode/x-empty")
	}
	if k, ok := format(data); ok {
		return k
	}
	return text(data)
}
