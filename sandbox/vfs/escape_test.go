package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
)

const canary = "CANARY_FILE_b41f"

// escape is the host that the cases of the security corpus start from: ws is
// mounted, everything beside it is not to be seen.
type escape struct {
	t          *testing.T
	ws, secret string
	m          *vfs.Mount
}

func newEscape(t *testing.T, mode vfs.MountMode) *escape {
	t.Helper()
	base := t.TempDir()
	e := &escape{t: t, ws: filepath.Join(base, "ws"), secret: filepath.Join(base, "secret")}
	for _, dir := range []string{e.ws, e.secret, e.ws + "-secret", filepath.Join(e.ws, "sub")} {
		e.host(os.Mkdir(dir, 0o755))
	}
	for _, f := range []string{filepath.Join(e.secret, "canary.txt"), filepath.Join(e.ws+"-secret", "canary.txt")} {
		e.host(os.WriteFile(f, []byte(canary), 0o644))
	}
	e.host(os.WriteFile(filepath.Join(e.ws, "f"), []byte("keep"), 0o644))
	e.host(os.Symlink("../secret/canary.txt", filepath.Join(e.ws, "link-out")))
	e.host(os.Symlink("../secret", filepath.Join(e.ws, "dir-out")))
	e.host(os.Symlink(filepath.Join(e.secret, "canary.txt"), filepath.Join(e.ws, "abs-out")))
	e.host(os.Symlink("../secret/new.txt", filepath.Join(e.ws, "new-out")))
	p, root, err := vfs.HostMount(vfs.HostConfig{Source: e.ws, Path: "/workspace", Mode: mode})
	e.host(err)
	t.Cleanup(func() { root.Close() })
	e.m, err = vfs.NewMount(p, vfs.MountPoint{Path: "/tmp", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.ReadWrite})
	e.host(err)
	before := hostTree(t, e.secret)
	t.Cleanup(func() {
		if after := hostTree(t, e.secret); after != before {
			t.Errorf("the outside changed:\n%s\nwas:\n%s", after, before)
		}
	})
	return e
}

func (e *escape) host(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// hidden fails unless err is one of the errnos, names what was asked for and
// nothing of the host.
func (e *escape) hidden(err error, allowed ...syscall.Errno) {
	e.t.Helper()
	if err == nil {
		e.t.Error("no error")
		return
	}
	checkError(e.t, err)
	if strings.Contains(err.Error(), filepath.Dir(e.ws)) || strings.Contains(err.Error(), canary) {
		e.t.Errorf("error tells of the host: %v", err)
	}
	for _, a := range allowed {
		if errno(err) == a {
			return
		}
	}
	e.t.Errorf("error %v, want one of %v", err, allowed)
}

func (e *escape) noRead(name string) {
	e.t.Helper()
	s, err := read(e.m, name)
	if strings.Contains(s, canary) {
		e.t.Errorf("%s gave the canary away", name)
	}
	e.hidden(err, syscall.ENOENT, syscall.EPERM, syscall.EACCES)
}

func (e *escape) noWrite(name string, flag int) {
	e.t.Helper()
	f, err := e.m.Open(name, flag, 0o644)
	if err == nil {
		f.Close()
	}
	e.hidden(err, syscall.ENOENT, syscall.EPERM, syscall.EACCES, syscall.EROFS)
}

// Threats: FS-1.
func TestCase001GuestSymlinkRead(t *testing.T) {
	e := newEscape(t, vfs.ReadWrite)
	for _, target := range []string{"../secret/canary.txt", "sub/../../secret/canary.txt", "/etc/hostname", "..", "/", "./..", "a/../../x"} {
		e.hidden(e.m.Symlink(target, "/workspace/g1"), syscall.EPERM)
		e.noRead("/workspace/g1")
	}
	// A link that is harmless where it is made must not be carried to where it
	// is not: by a rename, by a hard link, or inside a folder.
	want(t, e.m.Mkdir("/workspace/sub/deep", 0o755), 0)
	want(t, e.m.Symlink("../../x", "/workspace/sub/deep/l"), 0)
	e.hidden(e.m.Rename("/workspace/sub/deep/l", "/workspace/l"), syscall.EPERM)
	e.hidden(e.m.Link("/workspace/sub/deep/l", "/workspace/l"), syscall.EPERM)
	e.hidden(e.m.Rename("/workspace/sub/deep", "/workspace/deep"), syscall.EPERM)
	want(t, e.m.Mkdir("/workspace/sub/other", 0o755), 0)
	want(t, e.m.Rename("/workspace/sub/deep", "/workspace/sub/other/deep"), 0)
}

// Threats: FS-1.
func TestCase002WriteThroughOutwardSymlink(t *testing.T) {
	for _, mode := range []vfs.MountMode{vfs.ReadWrite, vfs.ReadOnlyMount, vfs.CopyOnWrite} {
		e := newEscape(t, mode)
		for _, name := range []string{"/workspace/new-out", "/workspace/link-out", "/workspace/abs-out", "/workspace/dir-out/x"} {
			e.noWrite(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
			e.noWrite(name, os.O_RDWR)
			e.noWrite(name, os.O_WRONLY|os.O_APPEND)
		}
		e.hidden(e.m.Chmod("/workspace/link-out", 0o777), syscall.ENOENT)
		e.hidden(e.m.Chtimes("/workspace/link-out", time.Unix(0, 0), time.Unix(0, 0)), syscall.ENOENT)
		e.hidden(e.m.Mkdir("/workspace/dir-out/d", 0o755), syscall.ENOENT)
		e.hidden(e.m.Remove("/workspace/dir-out/canary.txt"), syscall.ENOENT)
		e.hidden(e.m.Rename("/workspace/f", "/workspace/dir-out/f"), syscall.ENOENT)
		e.hidden(e.m.Symlink("x", "/workspace/dir-out/l"), syscall.ENOENT)
	}
}

// In memory a link may say anything: it leads to the namespace's own names.
func TestCase002LinkInCow(t *testing.T) {
	e := newEscape(t, vfs.CopyOnWrite)
	want(t, e.m.Symlink("../../../../../tmp/new.txt", "/workspace/g2"), 0)
	write(t, e.m, "/workspace/g2", "inside")
	if s, err := read(e.m, "/tmp/new.txt"); s != "inside" {
		t.Error(s, err)
	}
}

// Threats: FS-2.
func TestCase003PlantedSymlink(t *testing.T) {
	for _, mode := range []vfs.MountMode{vfs.ReadOnlyMount, vfs.ReadWrite, vfs.CopyOnWrite} {
		e := newEscape(t, mode)
		for _, name := range []string{"link-out", "dir-out/canary.txt", "abs-out", "dir-out/../canary.txt", "dir-out/.", "sub/../link-out"} {
			e.noRead("/workspace/" + name)
		}
		_, err := list(e.m, "/workspace/dir-out")
		e.hidden(err, syscall.ENOENT)
		if target, err := e.m.Readlink("/workspace/dir-out"); target != "../secret" {
			t.Error(target, err)
		}
	}
}

// Threats: FS-3.
func TestCase005SiblingPrefix(t *testing.T) {
	e := newEscape(t, vfs.ReadWrite)
	for _, name := range []string{"/workspace/../ws-secret/canary.txt", "/workspace-secret/canary.txt", "/workspace/../../ws-secret/canary.txt", "/ws-secret/canary.txt"} {
		_, err := read(e.m, name)
		e.hidden(err, syscall.ENOENT)
	}
	// The part itself takes no name but a canonical one.
	root := openRoot(t, e.ws)
	for _, name := range []string{"/../secret/canary.txt", "../secret/canary.txt", "/sub/../../secret/canary.txt", "/.", "//f", "f", "/f/", "/f\x00"} {
		_, err := root.Open(name, os.O_RDONLY, 0)
		e.hidden(err, syscall.EINVAL)
	}
}

// Threats: FS-4.
func TestCase007HardLink(t *testing.T) {
	e := newEscape(t, vfs.ReadWrite)
	e.hidden(e.m.Link("/workspace/dir-out/canary.txt", "/workspace/hl"), syscall.ENOENT)
	e.hidden(e.m.Link("/etc/hostname", "/workspace/h2"), syscall.ENOENT)
	e.hidden(e.m.Link("/workspace/link-out", "/workspace/hl"), syscall.EPERM) // the link itself, which leads out
	e.hidden(e.m.Link("/workspace/f", "/tmp/f"), syscall.EXDEV)
	fi, err := os.Stat(filepath.Join(e.secret, "canary.txt"))
	e.host(err)
	if n := nlink(fi); n > 1 {
		t.Errorf("the outside file has %d links", n)
	}
	e.noRead("/workspace/hl")
}

func TestCase010ArchiveMembers(t *testing.T) {
	for _, mode := range []vfs.MountMode{vfs.ReadWrite, vfs.CopyOnWrite} {
		e := newEscape(t, mode)
		if err := e.m.Symlink("../secret", "/workspace/x"); err != nil {
			e.hidden(err, syscall.EPERM)
		}
		e.noWrite("/workspace/x/new.txt", os.O_WRONLY|os.O_CREATE)
		e.noWrite("/workspace/../up.txt", os.O_WRONLY|os.O_CREATE)
		e.noWrite("/abs.txt", os.O_WRONLY|os.O_CREATE)
	}
}

// Threats: FS-6.
func TestCase011ReadOnlyMount(t *testing.T) {
	e := newEscape(t, vfs.ReadOnlyMount)
	before := hostTree(t, e.ws)
	for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_APPEND} {
		_, err := e.m.Open("/workspace/f", flag, 0o644)
		e.hidden(err, syscall.EROFS)
	}
	_, err := e.m.Open("/workspace/f", os.O_RDONLY|os.O_TRUNC, 0)
	e.hidden(err, syscall.EINVAL)
	_, err = e.m.Open("/workspace/new", os.O_WRONLY|os.O_CREATE, 0o644)
	e.hidden(err, syscall.EROFS)
	f, err := e.m.Open("/workspace/f", os.O_RDONLY, 0)
	e.host(err)
	defer f.Close()
	_, err = f.Write([]byte("x"))
	e.hidden(err, syscall.EBADF)
	e.hidden(f.Truncate(0), syscall.EINVAL)
	e.hidden(e.m.Link("/workspace/f", "/tmp/f"), syscall.EXDEV)
	e.hidden(e.m.Rename("/workspace/f", "/tmp/f"), syscall.EXDEV)
	for _, err := range []error{
		e.m.Link("/workspace/f", "/workspace/g"), e.m.Rename("/workspace/f", "/workspace/g"),
		e.m.Remove("/workspace/f"), e.m.Rmdir("/workspace/sub"), e.m.Mkdir("/workspace/n", 0o755),
		e.m.Symlink("f", "/workspace/n"), e.m.Chmod("/workspace/f", 0o777),
		e.m.Chtimes("/workspace/f", time.Unix(0, 0), time.Unix(0, 0)),
	} {
		e.hidden(err, syscall.EROFS)
	}
	if after := hostTree(t, e.ws); after != before {
		t.Errorf("changed:\n%s\nwas:\n%s", after, before)
	}
}

func TestCase013WorkingDirectory(t *testing.T) {
	e := newEscape(t, vfs.ReadWrite)
	for name, want := range map[string]syscall.Errno{
		"/workspace/\x00": syscall.EINVAL, "/workspace/dir-out": syscall.ENOENT, "rel": syscall.EINVAL, "": syscall.ENOENT,
		"/proc/self/cwd": syscall.ENOENT, "/workspace/f/.": syscall.ENOTDIR,
	} {
		_, err := e.m.Stat(name)
		e.hidden(err, want)
	}
	l, err := e.m.Resolve("/workspace/../..", true)
	if err != nil || l.Path != "/" {
		t.Error(l.Path, err)
	}
}

// Threats: FS-8.
func TestCase015LaterExecutedPlaces(t *testing.T) {
	e := newEscape(t, vfs.ReadWrite)
	for _, dir := range []string{"vendor/sub/.git/hooks", "tools"} {
		e.host(os.MkdirAll(filepath.Join(e.ws, dir), 0o755))
	}
	e.host(os.WriteFile(filepath.Join(e.ws, "vendor/sub/.git/config"), []byte("[core]\n"), 0o644))
	e.host(os.WriteFile(filepath.Join(e.ws, "vendor/sub/.git/hooks/pre-push.sample"), []byte("#!"), 0o644))
	before := hostTree(t, e.ws)
	create := func(name string) error {
		f, err := e.m.Open("/workspace/"+name, os.O_WRONLY|os.O_CREATE, 0o755)
		if err == nil {
			f.Close()
		}
		return err
	}
	for _, name := range []string{
		"vendor/sub/.git/hooks/pre-commit", ".envrc", "vendor/.envrc", ".bashrc", "sub/.profile", ".zshrc", ".bash_profile",
		".gitconfig", ".mcp.json", ".ENVRC", ".Bashrc", ".env\u200crc", ".envrc.", ".ba\u017fhrc", ".gitcon\ufb01g", ".pro\ufb01le", ".git", "tools/.git", ".vscode", ".husky", ".claude",
	} {
		e.hidden(create(name), syscall.EPERM)
		if yes, _ := e.m.Protected("/workspace/" + name); !yes {
			t.Errorf("%s is not marked as protected", name)
		}
		e.hidden(e.m.Symlink("tools", "/workspace/"+name), syscall.EPERM)
		e.hidden(e.m.Rename("/workspace/f", "/workspace/"+name), syscall.EPERM)
		e.hidden(e.m.Rename("/workspace/tools", "/workspace/"+name), syscall.EPERM)
		e.hidden(e.m.Link("/workspace/f", "/workspace/"+name), syscall.EPERM)
	}
	for _, name := range []string{".husky", ".claude", ".codex", "sub/.husky", "vendor/sub/.git/modules"} {
		e.hidden(e.m.Mkdir("/workspace/"+name, 0o755), syscall.EPERM)
	}
	config := "/workspace/vendor/sub/.git/config"
	for _, flag := range []int{os.O_WRONLY | os.O_APPEND, os.O_RDWR, os.O_WRONLY | os.O_TRUNC} {
		_, err := e.m.Open(config, flag, 0)
		e.hidden(err, syscall.EPERM)
	}
	e.hidden(e.m.Link(config, "/workspace/alias"), syscall.EPERM)
	e.hidden(e.m.Rename(config, "/workspace/alias"), syscall.EPERM)
	e.hidden(e.m.Rename("/workspace/vendor/sub/.git", "/workspace/g"), syscall.EPERM)
	e.hidden(e.m.Remove(config), syscall.EPERM)
	e.hidden(e.m.Chmod("/workspace/vendor/sub/.git/hooks/pre-push.sample", 0o755), syscall.EPERM)
	if after := hostTree(t, e.ws); after != before {
		t.Errorf("changed:\n%s\nwas:\n%s", after, before)
	}

	// Folders on the way can be made, and filled with what does not run.
	want(t, e.m.Mkdir("/workspace/.git", 0o755), 0)
	e.hidden(e.m.Mkdir("/workspace/.git/hooks", 0o755), syscall.EPERM)
	e.hidden(create(".git/config"), syscall.EPERM)
	want(t, create(".git/index"), 0)
	want(t, e.m.Mkdir("/workspace/.vscode", 0o755), 0)
	e.hidden(create(".vscode/tasks.json"), syscall.EPERM)
	want(t, create(".vscode/extensions.json"), 0)
	want(t, create(".gitignore"), 0)
	// A whole project can be moved.
	want(t, e.m.Rename("/workspace/vendor", "/workspace/vendor2"), 0)

	// The default does not stand in the way of a cow mount, which never
	// reaches the host.
	cow := newEscape(t, vfs.CopyOnWrite)
	write(t, cow.m, "/workspace/.envrc", "x")
	if _, err := os.Lstat(filepath.Join(cow.ws, ".envrc")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a cow write reached the host")
	}
}

// What is mounted may itself be the first part of a place.
//
// Threats: FS-8.
func TestCase015MountedGitFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".git")
	if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, root, err := vfs.HostMount(vfs.HostConfig{Source: dir, Path: "/g", Mode: vfs.ReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	m, err := vfs.NewMount(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/g/hooks/pre-commit", "/g/config"} {
		_, err := m.Open(name, os.O_WRONLY|os.O_CREATE, 0o755)
		want(t, err, syscall.EPERM)
	}
	write(t, m, "/g/sub-config", "free")
	_, err = m.Open("/g/description/config", os.O_WRONLY|os.O_CREATE, 0o755)
	want(t, err, syscall.ENOENT)
}

func TestCase026SessionsShareNothing(t *testing.T) {
	a, b := mount(t, vfs.NewMem(vfs.MemConfig{})), mount(t, vfs.NewMem(vfs.MemConfig{}))
	write(t, a, "/x", "SECRET_A")
	if names, err := list(b, "/"); len(names) != 0 || err != nil {
		t.Error(names, err)
	}
}

// Every way to change a file comes to one gate: what a policy is asked about
// is the canonical path, whatever links and dots led there.
func TestCase094EffectsHaveCanonicalPaths(t *testing.T) {
	m := mount(t, vfs.NewMem(vfs.MemConfig{}))
	want(t, m.Mkdir("/keep", 0o755), 0)
	want(t, m.Mkdir("/w", 0o755), 0)
	write(t, m, "/keep/f", "kept")
	want(t, m.Symlink("/keep", "/w/k"), 0)
	want(t, m.Symlink("../w/k/f", "/w/f"), 0)
	for _, name := range []string{"/keep/f", "/w/k/f", "/w/f", "/w/../keep/./f", "/w/k/../keep/f", "//keep//f"} {
		l, err := m.Resolve(name, true)
		if err != nil || l.Path != "/keep/f" || l.Requested != name {
			t.Errorf("%s: %s %v", name, l.Path, err)
		}
	}
	for name, want := range map[string]string{"/w/f": "/w/f", "/w/k/f": "/keep/f", "/w/k": "/w/k", "/w/k/new": "/keep/new", "/w/k/": "/w/k"} {
		l, err := m.ResolveEntry(name)
		if err != nil || l.Path != want {
			t.Errorf("entry %s: %s %v", name, l.Path, err)
		}
	}
	// A link put there after the question does not lead the answer astray.
	l, err := m.Resolve("/w/new", true)
	if err != nil {
		t.Fatal(err)
	}
	want(t, m.Symlink("/keep/f", "/w/new"), 0)
	_, err = l.Open(os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	want(t, err, syscall.ELOOP)
	if s, _ := read(m, "/keep/f"); s != "kept" {
		t.Error("written through a link that was not asked about")
	}
}
