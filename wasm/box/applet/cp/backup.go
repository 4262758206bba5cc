package cp

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/wasm/box/applet"
)

const backupHelp = `
      --backup[=CONTROL]       keep each existing destination file under another
                                 name; CONTROL is none, simple, existing, numbered
  -b                           like --backup=existing
  -S, --suffix=SUFFIX          what a simple backup's name ends in (~)`

// How backups are named.
const (
	noBackups = iota
	simpleBackups
	numberedIfThere // numbered where there is a numbered one already, else simple
	numberedBackups
)

// backups says what becomes of files that are in the way.
type backups struct {
	on     bool
	kind   int
	given  bool // kind was
	suffix string
}

func (b *backups) options() []applet.Opt {
	choose := func(option, v string) error {
		i, err := applet.Choose(option, v, []string{"none", "off"}, []string{"simple", "never"}, []string{"existing", "nil"}, []string{"numbered", "t"})
		b.kind, b.given = i, true
		return err
	}
	return []applet.Opt{
		applet.Do(func() { b.on = true }, 'b', ""),
		applet.Optional(func(v string, given bool) error {
			b.on = true
			if !given {
				return nil
			}
			return choose("backup type", v)
		}, 0, "backup"),
		applet.Func(func(v string) error { b.on, b.suffix = true, v; return nil }, 'S', "suffix"),
	}
}

// settle fills in what the environment says where the options do not.
func (b *backups) settle(c *applet.Ctx) bool {
	if b.on && !b.given {
		b.kind = numberedIfThere
		if v := os.Getenv("VERSION_CONTROL"); v != "" {
			i, err := applet.Choose("$VERSION_CONTROL", v, []string{"none", "off"}, []string{"simple", "never"}, []string{"existing", "nil"}, []string{"numbered", "t"})
			if err != nil {
				c.Usage(err.Error())
				return false
			}
			b.kind = i
		}
	}
	if b.suffix == "" {
		b.suffix = os.Getenv("SIMPLE_BACKUP_SUFFIX")
	}
	if b.suffix == "" || strings.Contains(b.suffix, "/") {
		b.suffix = "~"
	}
	return true
}

// name returns the name of a backup of file; "" when there is to be none.
func (b *backups) name(file string) string {
	if !b.on || b.kind == noBackups {
		return ""
	}
	last := 0
	if b.kind != simpleBackups {
		entries, _ := os.ReadDir(applet.Dir(file))
		for _, e := range entries {
			rest, ok := strings.CutPrefix(e.Name(), applet.Base(file)+".~")
			if digits, ends := strings.CutSuffix(rest, "~"); ok && ends {
				if n, err := strconv.Atoi(digits); err == nil {
					last = max(last, n)
				}
			}
		}
	}
	if b.kind == numberedBackups || last > 0 {
		return file + ".~" + strconv.Itoa(last+1) + "~"
	}
	return file + b.suffix
}

// aside puts a file that is in the way of src aside. It tells whether that was
// done, and whether to go on.
func (k *copier) aside(from, to string, src fs.FileInfo) (done, ok bool) {
	k.backup = k.backups.name(to)
	if k.backup == "" {
		return false, true
	}
	if fi, err := os.Stat(k.backup); err == nil && os.SameFile(fi, src) {
		verb := "copied"
		if k.move {
			verb = "moved"
		}
		return false, k.fail(nil, "backing up ", applet.Quote(to), " might destroy source;  ", applet.Quote(from), " not ", verb)
	}
	if err := syscall.Rename(to, k.backup); err != nil {
		return false, k.fail(err, "cannot backup ", applet.Quote(to))
	}
	return true, true
}

// backupNote is what -v says of the backup that was just made.
func (k *copier) backupNote() string {
	if k.backup == "" {
		return ""
	}
	return " (backup: " + applet.Quote(k.backup) + ")"
}
