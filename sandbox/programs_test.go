package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// A fake is a program of the tests.
type fake struct {
	name string
	run  func(ctx context.Context, p *sandbox.Proc) error
}

func (f fake) Run(ctx context.Context, p *sandbox.Proc) error { return f.run(ctx, p) }

func (f fake) Usage() sandbox.Usage {
	return sandbox.Usage{Name: f.name, Kind: "box", SHA256: "sha256 of " + f.name}
}

func fakes() []sandbox.Program {
	return []sandbox.Program{
		fake{"cat", cat}, fake{"rm", rm}, fake{"xargs", xargs}, fake{"env", env}, fake{"cp", cp}, fake{"mv", mv},
		fake{"ln", ln}, fake{"chmod", chmod}, fake{"true_", func(context.Context, *sandbox.Proc) error { return nil }},
		fake{"head1", head1}, fake{"sleep", sleep}, fake{"yes", yes}, fake{"upper", upper}, fake{"sort", sorted}, fake{"wc", wc}, fake{"date", showArgs}, fake{"touch", touch}, fake{"awk", showArgs}, fake{"mkdir", mkdir},
		fake{"sed", sed}, fake{"panics", func(context.Context, *sandbox.Proc) error { panic("secret /srv/x.go") }},
	}
}

func abs(p *sandbox.Proc, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return p.Dir + "/" + name
}

func complain(p *sandbox.Proc, name string, err error) error {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err
	}
	fmt.Fprintf(p.Stderr, "%s: %s: %v\n", p.Args[0], name, no)
	return sandbox.ExitCode(1)
}

func cat(ctx context.Context, p *sandbox.Proc) error {
	if len(p.Args) == 1 {
		return copyOut(p, p.Stdin)
	}
	for _, a := range p.Args[1:] {
		f, err := p.FS.Open(abs(p, a), os.O_RDONLY, 0)
		if err != nil {
			return complain(p, a, err)
		}
		err = copyOut(p, f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func copyOut(p *sandbox.Proc, r io.Reader) error {
	_, err := io.Copy(p.Stdout, r)
	return writeError(err)
}

func writeError(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return sandbox.ExitCode(141)
	}
	return err
}

func rm(ctx context.Context, p *sandbox.Proc) error {
	for _, a := range p.Args[1:] {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if err := p.FS.Remove(abs(p, a)); err != nil {
			return complain(p, a, err)
		}
	}
	return nil
}

func mkdir(ctx context.Context, p *sandbox.Proc) error {
	for _, a := range p.Args[1:] {
		if err := p.FS.Mkdir(abs(p, a), 0o755); err != nil {
			return complain(p, a, err)
		}
	}
	return nil
}

func xargs(ctx context.Context, p *sandbox.Proc) error {
	b, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	return spawned(p, p.Spawn(ctx, sandbox.Child{Args: append(p.Args[1:], strings.Fields(string(b))...)}))
}

func env(ctx context.Context, p *sandbox.Proc) error {
	args, vars := p.Args[1:], p.Env
	for len(args) > 0 && strings.Contains(args[0], "=") {
		vars, args = append(vars, args[0]), args[1:]
	}
	if len(args) == 0 {
		for _, kv := range vars {
			fmt.Fprintln(p.Stdout, kv)
		}
		return nil
	}
	return spawned(p, p.Spawn(ctx, sandbox.Child{Args: args, Env: vars, Stdin: p.Stdin}))
}

// spawned is what a program does with the error of Spawn.
func spawned(p *sandbox.Proc, err error) error {
	var code sandbox.ExitCode
	if errors.Is(err, syscall.ENOENT) {
		fmt.Fprintf(p.Stderr, "%s: %v\n", p.Args[0], err)
	}
	if errors.As(err, &code) {
		return code
	}
	return err
}

func cp(ctx context.Context, p *sandbox.Proc) error {
	in, err := p.FS.Open(abs(p, p.Args[1]), os.O_RDONLY, 0)
	if err != nil {
		return complain(p, p.Args[1], err)
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := p.FS.Open(abs(p, p.Args[2]), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fi.Mode().Perm())
	if err != nil {
		return complain(p, p.Args[2], err)
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

func mv(ctx context.Context, p *sandbox.Proc) error {
	if err := p.FS.Rename(abs(p, p.Args[1]), abs(p, p.Args[2])); err != nil {
		return complain(p, p.Args[1], err)
	}
	return nil
}

func ln(ctx context.Context, p *sandbox.Proc) error {
	var err error
	if p.Args[1] == "-s" {
		err = p.FS.Symlink(p.Args[2], abs(p, p.Args[3]))
	} else {
		err = p.FS.Link(abs(p, p.Args[1]), abs(p, p.Args[2]))
	}
	if err != nil {
		return complain(p, p.Args[1], err)
	}
	return nil
}

func chmod(ctx context.Context, p *sandbox.Proc) error {
	mode := fs.FileMode(0o755)
	if p.Args[1] == "-x" {
		mode = 0o644
	}
	for _, a := range p.Args[2:] {
		if err := p.FS.Chmod(abs(p, a), mode); err != nil {
			return complain(p, a, err)
		}
	}
	return nil
}

// head1 prints the first line of its stdin.
func head1(ctx context.Context, p *sandbox.Proc) error {
	b := make([]byte, 1)
	for {
		n, err := p.Stdin.Read(b)
		if n == 1 {
			if _, err := p.Stdout.Write(b); err != nil {
				return writeError(err)
			}
			if b[0] == '\n' {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sleep without an argument sleeps until its context ends.
func sleep(ctx context.Context, p *sandbox.Proc) error {
	if len(p.Args) == 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	d, err := time.ParseDuration(p.Args[1] + "s")
	if err != nil {
		return err
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func yes(ctx context.Context, p *sandbox.Proc) error {
	for {
		if _, err := io.WriteString(p.Stdout, "y\n"); err != nil {
			return writeError(err)
		}
	}
}

func upper(ctx context.Context, p *sandbox.Proc) error {
	b, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	_, err = p.Stdout.Write([]byte(strings.ToUpper(string(b))))
	return writeError(err)
}

func showArgs(ctx context.Context, p *sandbox.Proc) error {
	fmt.Fprintf(p.Stdout, "%q\n", p.Args)
	return nil
}

// sed knows s/^/TEXT/ only.
func sed(ctx context.Context, p *sandbox.Proc) error {
	text := strings.TrimSuffix(strings.TrimPrefix(p.Args[1], "s/^/"), "/")
	b, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		if _, err := io.WriteString(p.Stdout, text+line); err != nil {
			return writeError(err)
		}
	}
	return nil
}

// newSession makes a session with /workspace, /tmp and /bin as the product
// has them.
func newSession(t testing.TB, engine policy.Engine, change func(*sandbox.Config)) *sandbox.Session {
	t.Helper()
	return newSessionFS(t, newFS(t), engine, change)
}

func newFS(t testing.TB) *vfs.Mount {
	t.Helper()
	bin, err := vfs.NewStatic(sandbox.BinFiles(fakes()), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := vfs.NewMount(
		vfs.MountPoint{Path: "/workspace", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.CopyOnWrite},
		vfs.MountPoint{Path: "/tmp", FS: vfs.NewMem(vfs.MemConfig{}), Mode: vfs.CopyOnWrite},
		vfs.MountPoint{Path: "/bin", FS: bin, Mode: vfs.ReadOnlyMount},
		vfs.MountPoint{Path: "/dev", FS: dev, Mode: vfs.ReadOnlyMount},
	)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newSessionFS(t testing.TB, fsys vfs.FS, engine policy.Engine, change func(*sandbox.Config)) *sandbox.Session {
	t.Helper()
	cfg := sandbox.Config{FS: fsys, Programs: fakes(), Policy: engine, Dir: "/workspace"}
	if change != nil {
		change(&cfg)
	}
	s, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func writeFile(t testing.TB, fsys vfs.FS, name, text string, mode fs.FileMode) {
	t.Helper()
	f, err := fsys.Open(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err == nil {
		_, err = io.WriteString(f, text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, fsys vfs.FS, name string) (string, bool) {
	t.Helper()
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), true
}

func sorted(ctx context.Context, p *sandbox.Proc) error {
	b, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(string(b)))
	slices.Sort(lines)
	_, err = io.WriteString(p.Stdout, strings.Join(lines, ""))
	return writeError(err)
}

// wc knows -l and -c of its stdin.
func wc(ctx context.Context, p *sandbox.Proc) error {
	b, err := io.ReadAll(p.Stdin)
	if err != nil {
		return err
	}
	n := len(b)
	if p.Args[1] == "-l" {
		n = strings.Count(string(b), "\n")
	}
	_, err = fmt.Fprintln(p.Stdout, n)
	return writeError(err)
}

func touch(ctx context.Context, p *sandbox.Proc) error {
	for _, a := range p.Args[1:] {
		f, err := p.FS.Open(abs(p, a), os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return complain(p, a, err)
		}
		f.Close()
	}
	return nil
}
