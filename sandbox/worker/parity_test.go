package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"
)

// here is the sandbox of config without workers, with a network or none.
func here(t testing.TB, engine policy.Engine, limits sandbox.Limits, network ...sandbox.Network) *sandbox.Session {
	t.Helper()
	rt, err := wasm.New(wasm.Config{CacheDir: cacheDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	bin, err := vfs.NewStatic(sandbox.BinFiles(append(rt.Programs(), hostile()...)), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ns, err := vfs.NewMount(append(memory(),
		vfs.MountPoint{Path: "/bin", FS: bin, Mode: vfs.ReadOnlyMount},
		vfs.MountPoint{Path: "/dev", FS: dev, Mode: vfs.ReadWrite})...)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sandbox.Config{FS: ns, Programs: append(rt.Programs(), hostile()...), Policy: engine, Limits: limits, Dir: "/workspace"}
	if len(network) > 0 {
		cfg.Network = network[0]
	}
	s, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func doHere(ctx context.Context, s *sandbox.Session, line string) (r result) {
	c, err := s.Inspect(ctx, policy.Command{Text: line})
	if err != nil {
		r.fail = err
		return r
	}
	var out, errw bytes.Buffer
	r.status, r.fail = s.Run(ctx, c, strings.NewReader("in\n"), &out, &errw)
	r.out, r.err = out.String(), errw.String()
	return r
}

// noRm denies a program and a folder, and asks about nothing else twice.
func noRm(_ context.Context, a policy.Action) (policy.Decision, error) {
	deny := func(msg string) (policy.Decision, error) {
		return policy.Decision{ID: "d1", Reasons: []policy.Reason{{Msg: msg, Rule: "r", Hint: "do not"}}}, nil
	}
	switch {
	case a.Exec != nil && a.Exec.Name == "rm":
		return deny("nothing is removed")
	case a.Exec != nil && a.Exec.Name == "wc":
		return policy.Decision{Effect: policy.Allow, Warnings: []policy.Reason{{Msg: "counting"}}}, nil
	case a.File != nil && strings.HasPrefix(a.File.Path, "/workspace/secret"):
		return deny("secret")
	}
	return policy.Decision{Effect: policy.Allow}, nil
}

// TestParity runs lines one after another in a worker and in this process:
// nobody can tell the difference.
func TestParity(t *testing.T) {
	t.Parallel()
	limits := sandbox.Limits{Timeout: 20 * time.Second, Memory: 64 << 20, Session: 128 << 20, Output: 1 << 20}
	c := config(t)
	c.Policy, c.Setup.Limits = policy.EngineFunc(noRm), limits
	p, s := pool(t, c), here(t, policy.EngineFunc(noRm), limits)
	ctx := as(t.Context(), "a")
	for _, line := range []string{
		"echo hi; echo no >&2; exit 7",
		"cat; cat", "read x; echo got $x", "head -c 1; cat",
		"mkdir -p a/b; cd a; echo 1 > b/f; ln -s b c; cat c/f; ls -l c; readlink c; ls -R /workspace",
		"ln a/b/f hard; cat hard; stat -c '%h %s %F' hard a/b/f a; [ a/b/f -ef hard ] && echo same",
		"cp -r a a2; mv a2 a3; ls a3; chmod 600 hard; stat -c %a hard; touch -d 2020-01-02 hard; date -r hard",
		"seq 100000 > big; wc -c < big; tail -n 1 big; head -c 300000 big | sha256sum; sort -rn big | head -3",
		"for i in $(seq 700); do : > many-$i; done; ls | wc -l; echo many-* | wc -w; find . -name 'many-*' | wc -l; find . -name 'many-7*' -exec echo {} +",
		"echo x > secret1; cat secret1; echo y >> big; tail -1 big; echo z > /nope/x; cat nothing",
		"rm big; echo $?; xargs rm <<< big; $'\\x72m' big; sh -c 'rm big'; find big -exec rm {} \\;",
		"exec 3>fd; echo a >&3; echo b >&3; exec 3>&-; cat fd; exec 4<fd; read -u 4 l; echo $l; cat <&4",
		"truncate -s 5 fd; od -c fd; : > fd; stat -c %s fd; dd 2>/dev/null; echo abc | tee t1 t2; cmp t1 t2 && echo like",
		"(sleep 0.01; echo late) & wait; echo done; trap 'echo bye' EXIT",
		"f(){ f; }; f", "x=aaaa; while :; do x=$x$x; done", "yes", "while :; do :; done &  sleep 0; kill $!; echo k",
		"echo ((", "if", "echo a | while read l; do echo \"<$l>\"; done; echo ${PIPESTATUS[@]}",
		"cd /nope; pwd; cd /; pwd; ls; ls /bin | head -3; type ls; command -v nothing; nothing", "echo $PATH $HOME $PWD $USER $$ $PPID",
		"seq 3 | awk '{s+=$1} END {print s}'; echo '{\"a\":[1,2]}' | jq -c .a; echo ab | sed s/a/b/",
		"cat /dev/null; echo x > /dev/full; head -c 3 /dev/zero | od -c; echo out > /dev/stdout; cat /dev/stdin",
		"tar cf x.tar a; tar tf x.tar; gzip -k x.tar; gunzip -c x.tar.gz | cmp - x.tar && echo same",
		"yes | head -3; env -i A=1 env; printf '%s\\n' a b | xargs -n 1 echo",
		strings.Repeat("(", 300), "echo \x00", strings.Repeat("a", 2<<20), "cat secret*; echo $(< secret1)", "rmdir a; rmdir a/b; mkdir a; echo $?",
	} {
		got, want := do(ctx, p, line), doHere(ctx, s, line)
		show := func(err error) string {
			if err == nil {
				return ""
			}
			return err.Error()
		}
		if got.out != want.out || got.err != want.err || got.status != want.status || show(got.fail) != show(want.fail) {
			t.Errorf("%.80q in a worker\n%.300q %.300q %d %v\nwithout\n%.300q %.300q %d %v", line, got.out, got.err, got.status, got.fail, want.out, want.err, want.status, want.fail)
		}
	}
}

// TestFacts compares what a parse shows, in a worker and in this process.
func TestFacts(t *testing.T) {
	t.Parallel()
	p, s := pool(t, config(t)), here(t, policy.AllowAll{}, sandbox.Limits{})
	for _, c := range []policy.Command{
		{Text: "A=1 rm -rf \"$x\" > out 2>&1 | xargs ls; for i in *; do eval 'cat x'; done &"},
		{Args: []string{"ls", "-l", "a b"}, Environ: []string{"A=b"}, Limits: policy.Limits{TimeoutMS: 5}},
		{Text: "if", Params: []string{"1"}}, {Text: "cd /; $(x)", Cwd: "/tmp", Name: "n", Script: true},
		{Text: "x", Cwd: "/nope"}, {Text: "x", Cwd: "rel"}, {Text: "x", Environ: []string{"=x"}}, {Args: []string{"a\x00"}},
	} {
		got, gerr := p.Inspect(as(t.Context(), "a"), c)
		want, werr := s.Inspect(t.Context(), c)
		if gerr != nil || werr != nil {
			if gerr == nil || werr == nil || gerr.Error() != werr.Error() {
				t.Errorf("%+v: %v, want %v", c, gerr, werr)
			}
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%+v:\n%s", c, diff)
		}
	}
}

// TestShellScripts runs the sandbox's own scripts, whose answers are bash's, in
// workers.
func TestShellScripts(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../testdata/script/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no scripts", err)
	}
	c := config(t)
	c.Setup.Env = []string{"HOME=/workspace"}
	p := pool(t, c)
	for _, name := range names {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(ar.Comment), "pending:") {
			continue
		}
		clear(t, c.Mounts[0].FS, "/")
		clear(t, c.Mounts[1].FS, "/")
		files := map[string]string{}
		for _, f := range ar.Files {
			files[f.Name] = string(f.Data)
		}
		script, stdin, want := files["script"], files["stdin"], files["want"]
		delete(files, "script")
		delete(files, "stdin")
		delete(files, "want")
		for name, data := range files {
			put(t, c.Mounts[1].FS, "/"+name, data)
		}
		ctx := as(t.Context(), "a")
		cmd, err := p.Inspect(ctx, policy.Command{Text: script})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var out, errw bytes.Buffer
		status, err := p.Run(ctx, cmd, strings.NewReader(stdin), &out, &errw)
		if got := report(out.String(), status); got != want {
			t.Errorf("%s: %v\n%swant\n%sstderr\n%s", name, err, got, want, &errw)
		}
	}
}

// report is stdout and the status, as a want section has them.
func report(out string, status int) string {
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "<no newline>\n"
	}
	return fmt.Sprintf("%s[%d]\n", out, status)
}

// clear removes everything below a folder.
func clear(t *testing.T, fsys vfs.FS, dir string) {
	t.Helper()
	d, err := fsys.Open(dir, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	list, err := d.ReadDir(-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			clear(t, fsys, name)
			err = fsys.Rmdir(name)
		} else {
			err = fsys.Remove(name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// put writes a file, and makes the folder that it is in.
func put(t *testing.T, fsys vfs.FS, name, data string) {
	t.Helper()
	if dir := path.Dir(name); dir != "/" {
		if err := fsys.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	f, err := fsys.Open(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
}
