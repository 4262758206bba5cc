package vfs

import (
	"io/fs"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// protectedPlaces are what the developer's own machine later runs or obeys by
// itself: hooks and settings of git, shells, editors, agents and ssh. What a
// build or a CI system runs on request (Makefile, package.json,
// .github/workflows) is the work itself and is not here.
var protectedPlaces = []string{
	".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/modules", ".git/worktrees",
	".gitconfig", ".config/git", ".husky",
	".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".inputrc", ".config/fish",
	".config/autostart", ".config/systemd", ".ssh",
	".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".vscode/mcp.json",
	".zed/settings.json", ".zed/tasks.json", ".devcontainer", ".devcontainer.json",
	".claude", ".claude.json", ".codex", ".cursor", ".gemini", ".mcp.json",
}

// ProtectConfig configures a [Protect].
type ProtectConfig struct {
	// Also lists further places: "name" or "folder/name", at any depth.
	Also []string
	// Source is where on the host the file system is, so that ".git" mounted
	// alone is still known as such. It is compared with, never opened or shown.
	// Who mounts what is protected itself (".git/hooks", ".claude/x") has
	// allowed it.
	Source string
}

// Protect refuses, with EPERM, every change to places that the host later
// runs or obeys by itself, at any depth, in any case, and before they exist:
// writing, making, removing, renaming and linking, from or to them. A folder
// that such a place can lie in (".git", ".vscode") can be made and filled
// otherwise, but not be a file or a symlink, nor be moved.
//
// It belongs on rw mounts of host folders. Changes in a cow mount or in
// memory never reach the host and need none.
type Protect struct {
	FS
	places [][]string
}

// NewProtect wraps fsys.
func NewProtect(fsys FS, c ProtectConfig) *Protect {
	p := &Protect{FS: fsys}
	source := foldPath(strings.ReplaceAll(c.Source, `\`, "/"))
	for _, place := range append(protectedPlaces[:len(protectedPlaces):len(protectedPlaces)], c.Also...) {
		elems := foldPath(place)
		if len(elems) == 0 {
			continue
		}
		p.places = append(p.places, elems)
		// When the mounted folder is itself the first part of a place, the
		// rest is looked for at its top: marked by an empty first element.
		for n := 1; n < len(elems); n++ {
			if n <= len(source) && equal(source[len(source)-n:], elems[:n]) {
				p.places = append(p.places, append([]string{""}, elems[n:]...))
			}
		}
	}
	return p
}

var _ FS = (*Protect)(nil)

func (p *Protect) setDev(d uint64) uint64 { return setDev(p.FS, d) }

func equal(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// Protected reports whether name is at or below a protected place.
func (p *Protect) Protected(name string) bool { return p.match(name) == placeInside }

// Protected reports whether changes at the canonical name are refused because
// the host later runs or obeys what is there; see [Protect]. onWay says that it
// is a folder above such a place, which may only be made and filled.
func (m *Mount) Protected(name string) (yes, onWay bool) {
	p, rel := m.at(name)
	f, ok := p.FS.(interface{ match(string) int })
	if !ok {
		return false, false
	}
	at := f.match(rel)
	return at != placeNone, at == placeOnWay
}

// How a name relates to the protected places.
const (
	placeNone   = iota
	placeOnWay  // a place may lie below it
	placeInside // is one, or lies below one
)

func (p *Protect) match(name string) int {
	elems := foldPath(name)
	best := placeNone
	for _, place := range p.places {
		if place[0] == "" {
			best = max(best, matchAt(place[1:], elems, true))
			continue
		}
		for start := range elems {
			best = max(best, matchAt(place, elems[start:], false))
		}
	}
	return best
}

func matchAt(place, elems []string, whole bool) int {
	for i, e := range place {
		if i == len(elems) {
			if i == 0 && !whole {
				return placeNone
			}
			return placeOnWay
		}
		if e != elems[i] {
			return placeNone
		}
	}
	return placeInside
}

// foldPath splits a path into elements as the most lenient host file system
// would compare them: in any case, without characters that HFS+ ignores,
// without the dots, spaces and stream names that Windows drops.
func foldPath(name string) []string {
	var out []string
	for rest := name; rest != ""; {
		var elem string
		elem, rest = next(rest)
		if elem = foldName(elem); elem != "" {
			out = append(out, elem)
		}
	}
	return out
}

func foldName(elem string) string {
	plain := true
	for i := 0; i < len(elem); i++ {
		if c := elem[i]; c >= 0x80 || c >= 'A' && c <= 'Z' || c == ':' || c == '~' || c == ' ' {
			plain = false
		}
	}
	if plain && !strings.HasSuffix(elem, ".") {
		return elem
	}
	elem, _, _ = strings.Cut(elem, ":")
	elem = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		least := r // the folding that Go calls simple joins K, k and the Kelvin sign
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return unicode.ToLower(least)
	}, elem)
	elem = ligatures.Replace(strings.TrimRight(elem, ". "))
	if strings.HasPrefix(elem, "git~") { // the 8.3 name of .git
		return ".git"
	}
	return elem
}

// ligatures are the letters that fold to more than one, as APFS folds them.
var ligatures = strings.NewReplacer("\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl", "\ufb03", "ffi", "\ufb04", "ffl", "\ufb05", "st", "\ufb06", "st", "\u00df", "ss", "\u1e9e", "ss")

// guard refuses a change to name that could take effect in a place.
func (p *Protect) guard(name string, allowOnWay bool) syscall.Errno {
	switch p.match(name) {
	case placeInside:
		return syscall.EPERM
	case placeOnWay:
		if !allowOnWay {
			return syscall.EPERM
		}
	}
	return 0
}

// Open refuses to open a protected place for a change, and to make or write a
// file where a folder on the way to one belongs: a file ".git" sends git to
// hooks elsewhere.
func (p *Protect) Open(name string, flag int, perm fs.FileMode) (File, error) {
	if mutates(flag) {
		if fi, err := p.FS.Lstat(name); err == nil && fi.IsDir() && !exclusive(flag) {
			return nil, pathErr("open", name, syscall.EISDIR)
		}
		if e := p.guard(name, false); e != 0 {
			return nil, pathErr("open", name, e)
		}
	}
	return p.FS.Open(name, flag, perm)
}

// Mkdir makes a folder that is not protected.
func (p *Protect) Mkdir(name string, perm fs.FileMode) error {
	if e := p.guard(name, true); e != 0 {
		return pathErr("mkdir", name, p.taken(name, e))
	}
	return p.FS.Mkdir(name, perm)
}

// taken prefers saying that name exists: mkdir -p relies on it.
func (p *Protect) taken(name string, e syscall.Errno) syscall.Errno {
	if _, err := p.FS.Lstat(name); err == nil {
		return syscall.EEXIST
	}
	return e
}

// Symlink makes a symlink that is not protected, nor on the way to a place.
func (p *Protect) Symlink(target, name string) error {
	if e := p.guard(name, false); e != 0 {
		return linkErr("symlink", target, name, p.taken(name, e))
	}
	return p.FS.Symlink(target, name)
}

// Remove removes what is not protected.
func (p *Protect) Remove(name string) error {
	if e := p.guard(name, true); e != 0 {
		return pathErr("remove", name, p.missing(name, e))
	}
	return p.FS.Remove(name)
}

// Rmdir removes an empty folder that is not protected.
func (p *Protect) Rmdir(name string) error {
	if e := p.guard(name, true); e != 0 {
		return pathErr("rmdir", name, p.missing(name, e))
	}
	return p.FS.Rmdir(name)
}

// missing prefers saying that name does not exist.
func (p *Protect) missing(name string, e syscall.Errno) syscall.Errno {
	if _, err := p.FS.Lstat(name); err != nil {
		return errnoOf(err)
	}
	return e
}

// Rename moves what neither is nor becomes protected, or on the way.
func (p *Protect) Rename(from, to string) error {
	if e := p.either(from, to); e != 0 {
		return linkErr("rename", from, to, p.missing(from, e))
	}
	return p.FS.Rename(from, to)
}

// Link links what neither is nor becomes protected: a second name of a
// protected file would be a way to write it.
func (p *Protect) Link(from, to string) error {
	if e := p.either(from, to); e != 0 {
		return linkErr("link", from, to, p.missing(from, e))
	}
	return p.FS.Link(from, to)
}

func (p *Protect) either(from, to string) syscall.Errno {
	if e := p.guard(from, false); e != 0 {
		return e
	}
	return p.guard(to, false)
}

// Chmod changes the mode of what is not protected: making a sample hook
// executable arms it.
func (p *Protect) Chmod(name string, mode fs.FileMode) error {
	if e := p.guard(name, true); e != 0 {
		return pathErr("chmod", name, p.missing(name, e))
	}
	return p.FS.Chmod(name, mode)
}

// Chtimes sets the times of what is not protected.
func (p *Protect) Chtimes(name string, atime, mtime time.Time) error {
	if e := p.guard(name, true); e != 0 {
		return pathErr("chtimes", name, p.missing(name, e))
	}
	return p.FS.Chtimes(name, atime, mtime)
}
