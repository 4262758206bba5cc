// Package zip holds zip and unzip, in the words of Info-ZIP 3.0 and 6.0.
package zip

import (
	"archive/zip"
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/codec"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
)

// Zip is the command zip.
var Zip = applet.Command{
	Name:     "zip",
	Synopsis: "[OPTION]... ZIPFILE [FILE]... [-x PATTERN... | -i PATTERN...]",
	Summary:  "package and compress files",
	Help: `  -r, --recurse-paths    travel the directory structure recursively
  -j, --junk-paths       don't store directory names
  -q, --quiet            say nothing of what is added
  -0 ... -9              store only ... compress better
  -u, --update           only changed or new files
  -f, --freshen          only changed files, add none
  -d, --delete           delete entries in the archive
  -m, --move             delete the files that were added
  -y, --symlinks         store symbolic links as links instead of what they lead to
  -D, --no-dir-entries   do not add directory entries
  -x, --exclude PATTERN...  leave out names that match
  -i, --include PATTERN...  only names that match
  -@, --names-stdin      read names from standard input
  -T, --test             accepted: what cannot be written whole is not left behind
  -X, --no-extra         accepted: no extra attributes are stored
ZIPFILE gets .zip after it when it has no dot; - is standard output.`,
	Run: runZip,
}

// An input is a file to be added.
type input struct {
	file, name string // on disk, in the archive
	info       fs.FileInfo
}

type zipper struct {
	*applet.Ctx
	recurse, junk, quiet, update, freshen bool
	drop, move, links, noDirs             bool
	level                                 int
	exclude, include                      []string
	archive                               string
	inputs                                []input
	seen                                  map[string]bool
	nothing                               bool // would change
}

func (z *zipper) fatal(status int, why string) int {
	z.Flush()
	io.WriteString(z.Stdout, "\nzip error: "+why+"\n")
	return status
}

// patterns takes the words after -x or -i, which go on to the next option.
func patterns(args []string) (rest, exclude, include []string) {
	var list *[]string
	for i, a := range args {
		word, attached := "", false
		switch {
		case i == 0 || a == "--":
		case a == "-x" || a == "--exclude":
			list = &exclude
			continue
		case a == "-i" || a == "--include":
			list = &include
			continue
		case strings.HasPrefix(a, "-x") && !strings.HasPrefix(a, "--"):
			exclude, word, attached = append(exclude, a[2:]), a, true
		case strings.HasPrefix(a, "-i") && !strings.HasPrefix(a, "--"):
			include, word, attached = append(include, a[2:]), a, true
		}
		switch {
		case attached && word != "":
		case list != nil && a != "@" && !(len(a) > 1 && a[0] == '-'):
			*list = append(*list, a)
		case a == "@" && list != nil:
			list = nil
		default:
			list = nil
			rest = append(rest, a)
		}
	}
	return rest, exclude, include
}

func runZip(c *applet.Ctx) int {
	z := &zipper{Ctx: c, level: 6, seen: map[string]bool{}}
	var fromStdin, ignored bool
	c.Args, z.exclude, z.include = patterns(c.Args)
	opts := []applet.Opt{
		applet.Bool(&z.recurse, 'r', "recurse-paths"),
		applet.Bool(&z.junk, 'j', "junk-paths"),
		applet.Bool(&z.quiet, 'q', "quiet"),
		applet.Bool(&z.update, 'u', "update"),
		applet.Bool(&z.freshen, 'f', "freshen"),
		applet.Bool(&z.drop, 'd', "delete"),
		applet.Bool(&z.move, 'm', "move"),
		applet.Bool(&z.links, 'y', "symlinks"),
		applet.Bool(&z.noDirs, 'D', "no-dir-entries"),
		applet.Bool(&fromStdin, '@', "names-stdin"),
		applet.Bool(&ignored, 'T', "test"),
		applet.Bool(&ignored, 'X', "no-extra"),
	}
	for n := range 10 {
		opts = append(opts, applet.Do(func() { z.level = n }, rune('0'+n), ""))
	}
	names, status, ok := c.Parse(16, opts...)
	if !ok {
		return status
	}
	if len(names) == 0 {
		return z.fatal(16, "Invalid command arguments (no archive was named)")
	}
	z.archive, names = names[0], names[1:]
	if z.archive != "-" && path.Ext(z.archive) == "" {
		z.archive += ".zip"
	}
	if fromStdin {
		lines := applet.NewLines(c.Stdin, '\n')
		for line, more := lines.Next(); more; line, more = lines.Next() {
			names = append(names, string(line))
		}
	}
	if !z.drop {
		for _, name := range names {
			z.find(name)
		}
	}
	return z.rewrite(names)
}

// find adds what a name on the command line leads to.
func (z *zipper) find(name string) {
	info, err := z.stat(name)
	if name == "-" {
		z.inputs = append(z.inputs, input{file: "-", name: "-"})
		return
	}
	if err != nil {
		z.warnNoMatch(name)
		return
	}
	z.add(name, info)
	if !z.recurse || !info.IsDir() {
		return
	}
	filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == name {
			return nil // the folder itself is there; one that cannot be read is empty
		}
		if info, err := z.stat(file); err == nil {
			z.add(file, info)
		}
		return nil
	})
}

func (z *zipper) warnNoMatch(name string) {
	if !z.quiet {
		io.WriteString(z.Stdout, "\tzip warning: name not matched: "+name+"\n")
	}
}

func (z *zipper) stat(name string) (fs.FileInfo, error) {
	if z.links {
		return os.Lstat(name)
	}
	return os.Stat(name)
}

// add puts a file on the list, unless the options leave it out.
func (z *zipper) add(file string, info fs.FileInfo) {
	name := strings.TrimLeft(path.Clean(filepath.ToSlash(file)), "/")
	for strings.HasPrefix(name, "../") {
		name = name[3:]
	}
	if z.junk {
		name = path.Base(name)
	}
	if info.IsDir() {
		name += "/"
		if z.noDirs || z.junk || name == "./" || name == "../" {
			return
		}
	}
	matches := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return glob.Match(p, name, glob.Options{}) })
	}
	if z.seen[name] || matches(z.exclude) || len(z.include) > 0 && !matches(z.include) {
		return
	}
	if own, err := os.Stat(z.archive); err == nil && os.SameFile(own, info) {
		return // the archive does not go into itself
	}
	z.seen[name] = true
	z.inputs = append(z.inputs, input{file, name, info})
}

// rewrite makes the archive anew beside the old one and puts it in its place.
func (z *zipper) rewrite(names []string) int {
	var old *zip.ReadCloser
	if z.archive != "-" {
		r, err := zip.OpenReader(z.archive)
		switch {
		case err == nil:
			old = r
			defer old.Close()
		case !errors.Is(err, fs.ErrNotExist):
			return z.fatal(3, "Zip file structure invalid ("+z.archive+")")
		}
	}
	if len(z.inputs) == 0 && !z.drop || z.drop && old == nil {
		return z.fatal(12, "Nothing to do! ("+z.archive+")")
	}
	if z.archive == "-" {
		w := zip.NewWriter(z.Stdout)
		z.quiet = true
		if err := errors.Join(z.fill(w, old, names), w.Close()); err != nil {
			return z.fatal(14, "Output file write failure ("+applet.Reason(err)+")")
		}
		return 0
	}
	tmp, err := os.CreateTemp(filepath.Dir(z.archive), "zi*")
	if err != nil {
		return z.fatal(15, "Could not create output file ("+z.archive+")")
	}
	defer os.Remove(tmp.Name())
	w := zip.NewWriter(tmp)
	err = errors.Join(z.fill(w, old, names), w.Close(), tmp.Close())
	switch {
	case err != nil:
		return z.fatal(14, "Output file write failure ("+applet.Reason(err)+")")
	case z.nothing && z.drop:
		for _, name := range names {
			z.warnNoMatch(name)
		}
		return z.fatal(12, "Nothing to do! ("+z.archive+")")
	case z.nothing:
		return 12
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(z.archive); err == nil {
		mode = info.Mode().Perm()
	}
	if err := errors.Join(os.Chmod(tmp.Name(), mode), os.Rename(tmp.Name(), z.archive)); err != nil {
		return z.fatal(15, "Could not create output file ("+z.archive+")")
	}
	if z.move {
		for _, in := range slices.Backward(z.inputs) {
			os.Remove(in.file) // a folder that is not empty stays
		}
	}
	return 0
}

// fill writes what stays of the old archive and the files.
func (z *zipper) fill(w *zip.Writer, old *zip.ReadCloser, names []string) error {
	by := map[string]input{}
	for _, in := range z.inputs {
		by[in.name] = in
	}
	changed := false
	if old != nil {
		for _, f := range old.File {
			in, again := by[f.Name]
			delete(by, f.Name)
			switch {
			case z.drop && slices.ContainsFunc(names, func(p string) bool { return glob.Match(p, f.Name, glob.Options{}) }):
				z.say("deleting: " + f.Name)
				changed = true
				continue
			case again && (z.update || z.freshen) && !in.info.ModTime().After(f.Modified.Add(1)):
			case again:
				changed = true
				if err := z.pack(w, in, "updating: "); err != nil {
					return err
				}
				continue
			}
			if err := w.Copy(f); err != nil {
				return err
			}
		}
	}
	for _, in := range z.inputs {
		if _, left := by[in.name]; !left || z.freshen {
			continue
		}
		changed = true
		if err := z.pack(w, in, "  adding: "); err != nil {
			return err
		}
	}
	z.nothing = !changed
	return nil
}

func (z *zipper) say(s string) {
	if !z.quiet {
		io.WriteString(z.Stdout, s+"\n")
	}
}

// whole is up to which size, in bytes, a file is compressed in memory, to see
// whether it gets smaller.
const whole = 8 << 20

// pack adds one file.
func (z *zipper) pack(w *zip.Writer, in input, verb string) error {
	h := &zip.FileHeader{Name: in.name, Method: zip.Store}
	var from io.ReadCloser = io.NopCloser(z.Stdin)
	if in.info != nil {
		h.Modified = in.info.ModTime()
		h.SetMode(in.info.Mode())
		switch {
		case in.info.IsDir():
			z.say(verb + in.name + " (stored 0%)")
			_, err := w.CreateHeader(h)
			return err
		case in.info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(in.file)
			if err != nil {
				return err
			}
			from = io.NopCloser(strings.NewReader(target))
		case !in.info.Mode().IsRegular():
			z.say("\tzip warning: ignoring special file: " + in.name)
			return nil
		default:
			f, err := os.Open(in.file)
			if err != nil {
				z.Flush()
				io.WriteString(z.Stdout, "\tzip warning: could not open for reading: "+in.file+"\n")
				return nil
			}
			from = f
		}
	}
	defer from.Close()
	head, err := io.ReadAll(io.LimitReader(from, whole))
	if err != nil {
		return err
	}
	if len(head) == whole { // the rest follows, whatever its size
		w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return codec.NewDeflateWriter(z.Ctx, w, z.level) })
		h.Method = zip.Deflate
		to, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		n, err := io.Copy(to, io.MultiReader(bytes.NewReader(head), from))
		z.say(verb + in.name + " (deflated, " + strconv.FormatInt(n, 10) + " bytes)")
		return err
	}
	data, err := z.deflate(head)
	if err != nil {
		return err
	}
	how := " (stored 0%)"
	if h.CRC32, h.UncompressedSize64 = crc32.ChecksumIEEE(head), uint64(len(head)); z.level != 0 && len(data) < len(head) {
		h.Method = zip.Deflate
		how = " (deflated " + strconv.Itoa(percent(int64(len(head)), int64(len(data)))) + "%)"
	} else {
		data = head
	}
	h.CompressedSize64 = uint64(len(data))
	dosTime(h)
	z.say(verb + in.name + how)
	to, err := w.CreateRaw(h)
	if err != nil {
		return err
	}
	_, err = to.Write(data)
	return err
}

func (z *zipper) deflate(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := codec.NewDeflateWriter(z.Ctx, &b, z.level)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// percent is by how much a file has shrunk, rounded.
func percent(size, packed int64) int {
	if size == 0 {
		return 0
	}
	return int((100*(size-packed) + size/2) / size)
}

// dosTime sets the two fields that a raw entry takes its time from.
func dosTime(h *zip.FileHeader) {
	if t := h.Modified; t.Year() >= 1980 {
		h.ModifiedDate = uint16(t.Day() + int(t.Month())<<5 + (t.Year()-1980)<<9)
		h.ModifiedTime = uint16(t.Second()/2 + t.Minute()<<5 + t.Hour()<<11)
	}
}
