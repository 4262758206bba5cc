package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/donax-sh/donax/sandbox/shell"
)

// boxMagic begins the text of the virtual file /bin/NAME. A file that holds
// it, under whatever name, is the program NAME: a copy, a link or a renamed
// file keeps its identity.
const boxMagic = "#!donax-box "

// BinFiles returns the files that belong into /bin, name to text, as
// vfs.NewStatic takes them: one for each program, for the shells, and for the
// builtins that are commands elsewhere too, so that xargs echo works. Without
// them in the session's files /bin/NAME still runs, but is not to be listed
// or copied.
func BinFiles(programs []Program) map[string]string {
	files := map[string]string{}
	for _, p := range programs {
		for _, alias := range p.Usage().Aliases {
			files[alias] = BinFile(p.Usage().Name)
		}
	}
	add := func(name string) { files[name] = BinFile(name) }
	for _, p := range programs {
		add(p.Usage().Name)
	}
	for _, name := range append([]string{"bash", "sh"}, builtinCommands...) {
		add(name)
	}
	return files
}

// BinFile returns the text of the file that is the program of a name.
func BinFile(name string) string { return boxMagic + name + "\n" }

var builtinCommands = []string{"[", "echo", "false", "printf", "pwd", "test", "true"}

// known reports whether a name is a program, or one of the session's own.
func (s *Session) known(name string) bool {
	return isShell(name) || slices.Contains(builtinCommands, name) || s.program(name) != nil
}

// program returns the program of a name, or nil. What is looked up can stand
// in for nothing that the session has.
func (s *Session) program(name string) Program {
	p := s.programs[name]
	if p == nil && s.cfg.Lookup != nil && !isShell(name) && !slices.Contains(builtinCommands, name) {
		p = s.cfg.Lookup(name)
	}
	return p
}

// A target is what a command's name leads to.
type target struct {
	name    string // canonical
	kind    string
	sha256  string
	args    []string // with the words that #! adds
	program Program  // nil: a shell
	shell   shell.Invocation
	text    string // that the shell runs
}

// find looks a command up in the files, never on the host, and tells what it
// is from its content.
func (h *host) find(ctx context.Context, c *command) (target, error) {
	at, err := c.path, error(nil)
	if at == "" {
		if at, err = h.lookPath(c, c.args[0]); err != nil {
			return target{}, err
		}
	}
	file := c.args[0] // what a script sees as $0
	if !strings.Contains(file, "/") {
		file = at
	}
	return h.identify(ctx, c, joinPath(c.dir, at), file)
}

// lookPath finds the file of a command. The path is relative when the name,
// or the folder in PATH, is.
func (h *host) lookPath(c *command, name string) (string, error) {
	notFound := &ExecError{Name: name, Msg: "command not found", Status: StatusNotFound, Err: syscall.ENOENT}
	if strings.Contains(name, "/") {
		if err := h.executable(joinPath(c.dir, name)); err != nil {
			err.Name = name
			return "", err
		}
		return name, nil
	}
	if name == "" || name == "." || name == ".." || strings.ContainsRune(name, 0) {
		return "", notFound
	}
	var found *ExecError
	dirs, set := lookupEnv(c.env, "PATH")
	if !set {
		dirs = defaultPath // as execvp does: env -i CMD finds its command
	}
	for _, dir := range strings.Split(dirs, ":") {
		at := strings.TrimSuffix(cmp.Or(dir, "."), "/") + "/" + name
		err := h.executable(joinPath(c.dir, at))
		if err == nil {
			return at, nil
		}
		if err.Status == StatusDenied && !errors.Is(err, syscall.EISDIR) && found == nil {
			found = err // bash names a file that it may not run only when nothing better comes
			found.Name = at
		}
	}
	if found != nil {
		return "", found
	}
	return "", notFound
}

// executable stats a file that is about to run. Programs are there although
// no file system shows them as files.
func (h *host) executable(at string) *ExecError {
	fi, err := h.session.fs.Stat(at)
	e := &ExecError{Name: at, Status: StatusDenied}
	switch {
	case errors.Is(err, fs.ErrNotExist) && h.virtual(at) != "":
		return nil
	case errors.Is(err, fs.ErrNotExist):
		e.Status, e.Msg, e.Err = StatusNotFound, "No such file or directory", syscall.ENOENT
	case err != nil:
		e.Msg, e.Err = reason(err), errnoOf(err)
	case fi.IsDir():
		e.Msg, e.Err = "Is a directory", syscall.EISDIR
	case !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0:
		e.Msg, e.Err = "Permission denied", syscall.EACCES
	default:
		return nil
	}
	return e
}

// virtual returns the program that a path means when no file is there.
func (h *host) virtual(at string) string {
	dir, name := path.Split(path.Clean(at))
	if (dir == "/bin/" || dir == "/usr/bin/") && h.session.known(name) {
		return name
	}
	return ""
}

func isShell(name string) bool { return name == "sh" || name == "bash" }

// identify tells from a file's content what runs when it is started.
func (h *host) identify(ctx context.Context, c *command, at, file string) (target, error) {
	args := c.args
	e := &ExecError{Name: args[0], Status: StatusDenied, Err: syscall.ENOEXEC}
	head, err := h.head(at)
	if errors.Is(err, fs.ErrNotExist) && h.virtual(at) != "" {
		return h.named(ctx, c, h.virtual(at), args)
	}
	if errors.Is(err, fs.ErrPermission) { // in a worker: reading it as a script says why
		return h.scriptFile(ctx, c, "bash", nil, at, append([]string{file}, args[1:]...))
	}
	if err != nil {
		e.Msg, e.Err = reason(err), errnoOf(err)
		return target{}, e
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case bytes.HasPrefix(head, []byte(boxMagic)):
		name := string(line[len(boxMagic):])
		if !h.session.known(name) {
			e.Msg = "this sandbox has no program " + quote(name)
			return target{}, e
		}
		return h.named(ctx, c, name, args)
	case bytes.HasPrefix(head, []byte("\x00asm")):
		return h.module(ctx, c, at)
	case !bytes.HasPrefix(head, []byte("#!")):
		// A file that is no text must not be fed to the shell.
		if bytes.IndexByte(line, 0) >= 0 {
			e.Msg = "cannot execute binary file: Exec format error"
			return target{}, e
		}
		return h.scriptFile(ctx, c, "bash", nil, at, append([]string{file}, args[1:]...))
	}
	words := strings.Fields(string(line[2:]))
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		if len(words) > 0 && words[0] == "-S" {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return h.scriptFile(ctx, c, "bash", nil, at, append([]string{file}, args[1:]...))
	}
	name := path.Base(words[0])
	if isShell(name) && h.session.program(name) == nil {
		return h.scriptFile(ctx, c, name, words[1:], at, append([]string{file}, args[1:]...))
	}
	if h.session.program(name) == nil {
		e.Msg, e.Status = "cannot execute: required file not found: "+words[0], StatusNotFound
		if line := Absent(words[0]); line != "" {
			e.Msg += "\n" + line
		}
		return target{}, e
	}
	return h.named(ctx, c, name, append(append(words[:len(words):len(words)], file), args[1:]...))
}

// named makes the target for a program or shell.
func (h *host) named(ctx context.Context, c *command, name string, args []string) (target, error) {
	if p := h.session.program(name); p != nil {
		u := p.Usage()
		return target{name: u.Name, kind: u.Kind, sha256: u.SHA256, args: args, program: p}, nil
	}
	if !isShell(name) {
		text := "builtin " + name + ` "$@"`
		t := target{name: name, kind: "shell", sha256: digest(text), args: args, text: text}
		t.shell.Config = shell.Config{Name: "bash", Params: args[1:]}
		return t, nil
	}
	return h.shellTarget(ctx, c, name, args)
}

// head reads the start of a file, without asking the file policy: the exec
// itself is asked about.
func (h *host) head(at string) ([]byte, error) {
	f, err := h.session.fs.Open(at, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, 512)
	n, err := io.ReadFull(f, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return buf[:n], nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// getenv returns the last value of a variable.
func getenv(env []string, name string) string {
	v, _ := lookupEnv(env, name)
	return v
}

func lookupEnv(env []string, name string) (value string, set bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// defaultPath is where commands are looked for when there is no PATH.
const defaultPath = "/bin"

// joinPath makes a name absolute. It leaves ".." alone: where that leads is
// for the files to say, which know the symlinks.
func joinPath(dir, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}
