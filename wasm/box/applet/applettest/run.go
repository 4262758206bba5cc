package applettest

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"
)

// A Runner runs single commands.
type Runner struct {
	Name string // "native", "gnu", "wasm": what "@ no NAME" means

	// Run runs one command to its end.
	Run func(t testing.TB, inv Invocation) Result

	// Missing returns "" or why the runner cannot run the command: its
	// archives are skipped then. Nil means that it can run all.
	Missing func(command string) string

	update bool
}

// Invocation is a command to run.
type Invocation struct {
	Args  []string // with the command's name
	Dir   string   // the working directory, a folder of the host
	Env   []string
	Stdin *os.File // a file or a pipe
}

// Result is what a command did.
type Result struct {
	Stdout, Stderr []byte
	Status         int
}

// Modified is when the files of an archive were last changed.
var Modified = time.Date(2024, 3, 5, 6, 7, 8, 0, time.UTC)

// Env is the environment of all cases.
func Env(dir string) []string {
	return []string{"HOME=" + dir, "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH"), "PWD=" + dir, "TERM=xterm", "TZ=UTC0", "USER=user"}
}

var update = flag.Bool("update", false, "write what the GNU tools do into the cases")

// Run runs the cases of all commands, root/*/testdata/*.txtar, of which a test
// named by its command is made.
func Run(t *testing.T, root string, r Runner) {
	files, err := filepath.Glob(filepath.Join(root, "*", "testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases under %s: %v", root, err)
	}
	r.update = *update && r.Name == "gnu"
	for _, file := range files {
		if file, err = filepath.Abs(file); err != nil {
			t.Fatal(err)
		}
		command := filepath.Base(filepath.Dir(filepath.Dir(file)))
		t.Run(command+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { r.file(t, file) })
	}
}

// scratch makes the folder of one archive, with its links resolved. The cases
// record folders of 4096 bytes, as the sandbox and most disks have them; a tmpfs,
// which /tmp is on many machines, tells another size, so /var/tmp is the second try.
func scratch(t *testing.T) string {
	dir := t.TempDir()
	if info, err := os.Stat(dir); err == nil && info.Size() != 4096 {
		if other, err := os.MkdirTemp("/var/tmp", "donax-cases-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(other) })
			if err := os.Chmod(other, 0o755); err != nil { // "..", as t.TempDir has it
				t.Fatal(err)
			}
			dir = other
		}
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// file runs one archive.
func (r Runner) file(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "cases" })
	if at < 0 {
		t.Fatalf("%s: no cases", file)
	}
	steps, tail, err := parseScript(string(ar.Files[at].Data))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if r.Missing != nil {
		for _, s := range steps {
			if slices.Contains(s.except, r.Name) {
				continue
			}
			stages, err := parseLine(s.command)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, st := range stages {
				if why := r.Missing(st.args[0]); why != "" {
					t.Skip(why)
				}
			}
		}
	}
	dir := scratch(t)
	if err := lay(dir, ar.Files); err != nil {
		t.Fatal(err)
	}
	changed := false
	for i := range steps {
		s := &steps[i]
		if slices.Contains(s.except, r.Name) {
			continue
		}
		got := r.step(t, dir, file, s)
		if got == s.want {
			continue
		}
		// What the GNU tools cannot tell is recorded from this code.
		if r.update || *update && r.Name == "native" && slices.Contains(s.except, "gnu") {
			s.want, changed = got, true
			continue
		}
		t.Errorf("%s: $ %s\ngot:\n%swant:\n%s", filepath.Base(file), s.command, got, s.want)
	}
	if changed {
		ar.Files[at].Data = []byte(formatScript(steps, tail))
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lay makes an archive's files in dir.
func lay(dir string, files []txtar.File) error {
	var made []string
	for _, f := range files {
		if f.Name == "cases" {
			continue
		}
		name, target, link := strings.Cut(f.Name, " -> ")
		name, perm, hasPerm := strings.Cut(name, " ")
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, "/") {
			mode = 0o755
		}
		if hasPerm {
			bits, err := strconv.ParseUint(perm, 8, 12)
			if err != nil {
				return err
			}
			mode = fs.FileMode(bits)
		}
		full := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(target, full)
		case strings.HasSuffix(name, "/"):
			err = errors.Join(os.MkdirAll(full, 0o755), os.Chmod(full, mode))
		default:
			err = errors.Join(os.WriteFile(full, f.Data, 0o644), os.Chmod(full, mode))
		}
		if err != nil {
			return err
		}
		made = append(made, name)
	}
	if len(made) == 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ts := unix.NsecToTimespec(Modified.UnixNano())
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// step runs a pipeline, one stage after the other.
func (r Runner) step(t *testing.T, dir, file string, s *step) outcome {
	stages, err := parseLine(s.command)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var out outcome
	var data []byte // what the stage before wrote
	for i, st := range stages {
		inv := Invocation{Args: st.args, Dir: dir, Env: Env(dir)}
		if st.in != "" {
			if inv.Stdin, err = os.Open(filepath.Join(dir, st.in)); err != nil {
				t.Fatal(err)
			}
		} else {
			inv.Stdin = pipe(t, data)
		}
		res := r.Run(t, inv)
		inv.Stdin.Close()
		data = res.Stdout
		if st.errToOut {
			data = append(bytes.Clone(data), res.Stderr...)
			res.Stderr = nil
		}
		if out.stderr == "" {
			out.stderr = firstLine(res.Stderr, st.args[0])
		}
		if st.out != "" {
			flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
			if st.appendTo {
				flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
			}
			f, err := os.OpenFile(filepath.Join(dir, st.out), flags, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Write(data)
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			data = nil
		}
		if i == len(stages)-1 {
			out.stdout, out.status = string(data), res.Status
		}
	}
	out.stdout = strings.ReplaceAll(out.stdout, dir, "/DIR")
	out.stderr = strings.ReplaceAll(out.stderr, dir, "/DIR")
	return out
}

// pipe returns the end to read of a pipe that holds data.
func pipe(t *testing.T, data []byte) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w.Write(data)
		w.Close()
	}()
	return r
}
