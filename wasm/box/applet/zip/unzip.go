package zip

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/glob"
)

// Unzip is the command unzip.
var Unzip = applet.Command{
	Name:     "unzip",
	Synopsis: "[OPTION]... FILE[.zip] [NAME]... [-x NAME...] [-d DIR]",
	Summary:  "list, test and extract files of a zip archive",
	Help: `  -l       list files
  -v       list verbosely
  -t       test the archive
  -p       extract files to standard output, no messages
  -c       extract files to standard output, with their names
  -Z1, -Z -1  list the names only
  -d DIR   extract files into DIR
  -x NAME...  exclude files that match
  -o       overwrite files without prompting
  -n       never overwrite existing files
  -f, -u   freshen existing files; update files, create if necessary
  -j       junk paths (do not make directories)
  -q       quiet mode (-qq quieter)
  -C       match names without regard to case
Names that lead out of DIR are made to stay inside.`,
	Run: runUnzip,
}

type unzipper struct {
	*applet.Ctx
	list, verbose, test, pipe, show, names, noCase bool
	over, never, fresh, update, junk               bool
	quiet                                          int
	dir                                            string
	only, without                                  []string
	status                                         int
	keepAll                                        bool // nobody answered whether to replace
}

func runUnzip(c *applet.Ctx) int {
	u := &unzipper{Ctx: c}
	var info, ignored bool
	c.Args, u.without = excluded(c.Args)
	args, status, ok := c.Parse(10,
		applet.Bool(&u.list, 'l', ""),
		applet.Bool(&u.verbose, 'v', ""),
		applet.Bool(&u.test, 't', ""),
		applet.Bool(&u.pipe, 'p', ""),
		applet.Bool(&u.show, 'c', ""),
		applet.Bool(&info, 'Z', ""),
		applet.Bool(&u.names, '1', ""),
		applet.String(&u.dir, 'd', ""),
		applet.Bool(&u.over, 'o', ""),
		applet.Bool(&u.never, 'n', ""),
		applet.Bool(&u.fresh, 'f', ""),
		applet.Bool(&u.update, 'u', ""),
		applet.Bool(&u.junk, 'j', ""),
		applet.Do(func() { u.quiet++ }, 'q', ""),
		applet.Bool(&u.noCase, 'C', ""),
		applet.Bool(&ignored, 'X', ""),
	)
	if !ok {
		return status
	}
	if info != u.names {
		c.Warn("only the names of -Z are shown: use -Z1, or -l or -v for more")
		return 10
	}
	if len(args) == 0 {
		c.ShowHelp()
		return 0
	}
	name := args[0]
	u.only = args[1:]
	r, err := zip.OpenReader(name)
	if errors.Is(err, fs.ErrNotExist) {
		if r2, err2 := zip.OpenReader(name + ".zip"); err2 == nil {
			r, err, name = r2, nil, name+".zip"
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		io.WriteString(c.Stderr, "unzip:  cannot find or open "+name+", "+name+".zip or "+name+".ZIP.\n")
		return 9
	case err != nil:
		if !u.names {
			io.WriteString(c.Stdout, "Archive:  "+name+"\n")
		}
		c.Flush()
		io.WriteString(c.Stderr, "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it constitutes one disk of a multi-part archive.  In the\n  latter case the central directory and zipfile comment will be found on\n  the last disk(s) of this archive.\nunzip:  cannot find zipfile directory in one of "+name+" or\n        "+name+".zip, and cannot find "+name+".ZIP, period.\n")
		return 9
	}
	defer r.Close()
	if !u.pipe && !u.names && u.quiet == 0 {
		io.WriteString(c.Stdout, "Archive:  "+name+"\n")
	}
	files := u.chosen(r.File)
	switch {
	case u.names:
		for _, f := range files {
			io.WriteString(c.Stdout, f.Name+"\n")
		}
	case u.list || u.verbose:
		u.table(files)
	case u.test:
		u.check(name, files)
	default:
		u.extract(files)
	}
	return u.status
}

// excluded takes the words after -x, which go on to the next option.
func excluded(args []string) (rest, without []string) {
	taking := false
	for _, a := range args {
		switch {
		case a == "-x":
			taking = true
		case taking && !strings.HasPrefix(a, "-"):
			without = append(without, a)
		default:
			taking = false
			rest = append(rest, a)
		}
	}
	return rest, without
}

func (u *unzipper) matches(pattern, name string) bool {
	if u.noCase {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	return glob.Match(pattern, name, glob.Options{})
}

// chosen returns the files that the names on the command line mean.
func (u *unzipper) chosen(all []*zip.File) []*zip.File {
	used := make([]bool, len(u.only))
	var list []*zip.File
	for _, f := range all {
		wanted := len(u.only) == 0
		for i, p := range u.only {
			if u.matches(p, f.Name) {
				wanted, used[i] = true, true
			}
		}
		if wanted && !slices.ContainsFunc(u.without, func(p string) bool { return u.matches(p, f.Name) }) {
			list = append(list, f)
		}
	}
	for i, p := range u.only {
		if !used[i] {
			u.complain(11, "caution: filename not matched:  "+p)
		}
	}
	return list
}

func (u *unzipper) complain(status int, why string) {
	u.Flush()
	io.WriteString(u.Stderr, why+"\n")
	u.status = max(u.status, status)
}

func pad(s string, width int) string { return strings.Repeat(" ", max(0, width-len(s))) + s }

func plural(n int) string {
	if n == 1 {
		return "1 file"
	}
	return strconv.Itoa(n) + " files"
}

// table lists files as -l and -v do.
func (u *unzipper) table(files []*zip.File) {
	var size, packed uint64
	var b strings.Builder
	if u.quiet < 2 && u.verbose {
		b.WriteString(" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n--------  ------  ------- ---- ---------- ----- --------  ----\n")
	} else if u.quiet < 2 {
		b.WriteString("  Length      Date    Time    Name\n---------  ---------- -----   ----\n")
	}
	for _, f := range files {
		size, packed = size+f.UncompressedSize64, packed+f.CompressedSize64
		when := f.Modified.Format("2006-01-02 15:04")
		if !u.verbose {
			b.WriteString(pad(strconv.FormatUint(f.UncompressedSize64, 10), 9) + "  " + when + "   " + f.Name + "\n")
			continue
		}
		method := map[uint16]string{zip.Store: "Stored", zip.Deflate: "Defl:N"}[f.Method]
		if method == "" {
			method = "Unk:" + strconv.Itoa(int(f.Method))
		}
		crc := strconv.FormatUint(uint64(f.CRC32), 16)
		b.WriteString(pad(strconv.FormatUint(f.UncompressedSize64, 10), 8) + "  " + method + " " + pad(strconv.FormatUint(f.CompressedSize64, 10), 8) + " " +
			pad(strconv.Itoa(percent(int64(f.UncompressedSize64), int64(f.CompressedSize64)))+"%", 4) + " " + when + " " + strings.Repeat("0", 8-len(crc)) + crc + "  " + f.Name + "\n")
	}
	if u.quiet < 2 && u.verbose {
		b.WriteString("--------          -------  ---                            -------\n" + pad(strconv.FormatUint(size, 10), 8) + pad(strconv.FormatUint(packed, 10), 17) + " " +
			pad(strconv.Itoa(percent(int64(size), int64(packed)))+"%", 4) + "                            " + plural(len(files)) + "\n")
	} else if u.quiet < 2 {
		b.WriteString("---------                     -------\n" + pad(strconv.FormatUint(size, 10), 9) + "                     " + plural(len(files)) + "\n")
	}
	io.WriteString(u.Stdout, b.String())
}

// open opens an entry, or says why it cannot be.
func (u *unzipper) open(f *zip.File) io.ReadCloser {
	if f.Flags&1 != 0 {
		u.complain(82, "   skipping: "+f.Name+strings.Repeat(" ", max(0, 22-len(f.Name)))+"  unable to get password")
		return nil
	}
	r, err := f.Open()
	if err != nil {
		u.complain(81, "   skipping: "+f.Name+strings.Repeat(" ", max(0, 22-len(f.Name)))+"  unsupported compression method "+strconv.Itoa(int(f.Method)))
		return nil
	}
	return r
}

func (u *unzipper) check(name string, files []*zip.File) {
	bad := 0
	for _, f := range files {
		r := u.open(f)
		if r == nil {
			continue
		}
		_, err := io.Copy(io.Discard, r)
		r.Close()
		verdict := "OK"
		if err != nil {
			verdict = " bad CRC or data"
			bad++
			u.status = max(u.status, 2)
		}
		if u.quiet == 0 || err != nil {
			io.WriteString(u.Stdout, "    testing: "+f.Name+strings.Repeat(" ", max(0, 22-len(f.Name)))+"   "+verdict+"\n")
		}
	}
	if u.quiet < 2 {
		switch {
		case bad > 0:
			io.WriteString(u.Stdout, "At least one error was detected in "+name+".\n")
		case len(u.only) > 0 && len(files) == 1:
			io.WriteString(u.Stdout, "No errors detected in "+name+" for the 1 file tested.\n")
		default:
			io.WriteString(u.Stdout, "No errors detected in compressed data of "+name+".\n")
		}
	}
}

// inside makes of an entry's name one that stays in the folder, and says so.
func (u *unzipper) inside(name string) string {
	safe := strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(safe, "/") {
		safe = strings.TrimLeft(safe, "/")
		u.complain(1, "warning:  stripped absolute path spec from "+name)
	}
	parts := strings.Split(safe, "/")
	kept := slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == ".." || p == "." })
	if len(kept) < len(parts) {
		u.complain(1, `warning:  skipped "../" path component(s) in `+name)
	}
	safe = strings.Join(kept, "/")
	if u.junk {
		safe = path.Base(safe)
	}
	return safe
}

// extract writes the files. Links are made last, so that no file goes through
// one that the archive brought along.
func (u *unzipper) extract(files []*zip.File) {
	var links []func()
	for _, f := range files {
		isDir := strings.HasSuffix(f.Name, "/")
		if isDir && (u.junk || u.pipe || u.show) {
			continue
		}
		if u.pipe || u.show {
			if u.show {
				u.say(f, f.Name)
			}
			u.copy(u.Stdout, f)
			if u.show {
				io.WriteString(u.Stdout, "\n")
			}
			continue
		}
		name := filepath.Join(u.dir, u.inside(f.Name))
		if isDir {
			if _, err := os.Stat(name); err != nil {
				u.tell("   creating: " + name + "/\n")
				if err := os.MkdirAll(name, 0o777); err != nil {
					u.complain(2, "checkdir error:  cannot create "+name+"\n                 "+applet.Reason(err)+"\n                 unable to process "+f.Name+".")
				}
			}
			continue
		}
		if !u.mayWrite(f, name) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			u.complain(2, "checkdir error:  cannot create "+filepath.Dir(name)+"\n                 "+applet.Reason(err)+"\n                 unable to process "+f.Name+".")
			continue
		}
		if f.Mode()&fs.ModeSymlink != 0 {
			if link := u.link(f, name); link != nil {
				links = append(links, link)
			}
			continue
		}
		u.say(f, name)
		u.write(f, name)
	}
	if len(links) > 0 {
		u.tell("finishing deferred symbolic links:\n")
		for _, l := range links {
			l()
		}
	}
}

func (u *unzipper) tell(s string) {
	if u.quiet == 0 {
		io.WriteString(u.Stdout, s)
	}
}

// say names a file that is written.
func (u *unzipper) say(f *zip.File, name string) {
	verb := "  inflating: "
	if f.Method == zip.Store {
		verb = " extracting: "
	}
	u.tell(verb + name + strings.Repeat(" ", max(0, 22-len(name))) + "  \n")
}

// mayWrite settles what becomes of a file that is there.
func (u *unzipper) mayWrite(f *zip.File, name string) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return !u.fresh
	}
	if u.fresh || u.update {
		if !f.Modified.After(info.ModTime()) {
			return false
		}
	}
	switch {
	case u.never || u.keepAll:
		return false
	case u.over:
		return true
	}
	u.keepAll = true
	u.complain(1, "replace "+name+"? [y]es, [n]o, [A]ll, [N]one, [r]ename:  NULL\n(EOF or read error, treating as \"[N]one\" ...)")
	return false
}

func (u *unzipper) copy(w io.Writer, f *zip.File) bool {
	r := u.open(f)
	if r == nil {
		return false
	}
	defer r.Close()
	_, err := io.Copy(w, r)
	switch {
	case errors.Is(err, zip.ErrChecksum):
		u.complain(2, f.Name+"  bad CRC")
	case err != nil:
		u.complain(50, f.Name+":  write error ("+applet.Reason(err)+").  Is the disk full?")
	}
	return err == nil
}

func (u *unzipper) write(f *zip.File, name string) {
	if info, err := os.Lstat(name); err == nil && !info.IsDir() {
		os.Remove(name) // a link is replaced, not followed
	}
	mode := f.Mode().Perm()
	if mode == 0 {
		mode = 0o644
	}
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode|0o200)
	if err != nil {
		u.complain(50, "error:  cannot create "+name+"\n        "+applet.Reason(err))
		return
	}
	ok := u.copy(out, f)
	if err := out.Close(); err != nil && ok {
		u.complain(50, name+":  write error ("+applet.Reason(err)+")")
	}
	os.Chmod(name, mode) // as much as the file system can
	os.Chtimes(name, f.Modified, f.Modified)
}

// link reads where a link leads and returns what makes it.
func (u *unzipper) link(f *zip.File, name string) func() {
	var target strings.Builder
	if f.UncompressedSize64 > 4096 {
		u.complain(2, "error:  symlink target of "+f.Name+" is too long")
		return nil
	}
	if !u.copy(&target, f) {
		return nil
	}
	u.tell("    linking: " + name + strings.Repeat(" ", max(0, 22-len(name))) + "  -> " + target.String() + " \n")
	return func() {
		os.Remove(name) // replaced, if it is there
		u.tell("  " + name + strings.Repeat(" ", max(0, 22-len(name))) + " -> " + target.String() + "\n")
		if err := os.Symlink(target.String(), name); err != nil {
			u.complain(2, "symlink error: "+applet.Reason(err))
		}
	}
}
