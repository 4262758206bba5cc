package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/shell"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// A Foreseen is one action that a line would lead to, as far as its text and
// the files as they are now show it.
type Foreseen struct {
	Action  policy.Action // what the policy would be asked
	Open    []string      // fields of its facts that are only known when it happens
	Refused string        // why it fails although a policy allows it: a read-only mount, a host that is not on the list
	Later   string        // instead of an Action: what cannot be told before it happens
}

// Uses is what a program does with its arguments.
type Uses struct {
	Files    []FileUse
	Requests []Request
	Links    bool // it may make symlinks or move folders, so that paths lead elsewhere afterwards
	More     bool // it may use more than this
}

// A FileUse is what a program does with one file.
type FileUse struct {
	Op   string // read, list, write (which also makes it), copy (which also sets the mode of what it made), mkdir, touch, remove, rename, link, symlink or chmod
	Path string // of a symlink its text
	To   string // of rename, link and symlink
}

// UsesOf tells what a program of the sandbox is known to do. name is the
// canonical one, dynamic are the indexes of computed arguments, also of one
// behind the last, and isFolder looks at the files.
type UsesOf func(name string, args []string, dynamic []int, isFolder func(string) bool) Uses

// Foresee returns what c, which [Session.Inspect] has completed, would ask the
// policy after the command itself was admitted. It goes the way of
// [Session.Run] (the same look-up of programs, the same resolution of paths,
// the same reading of URLs), asked by an engine that notes the questions and
// lets nothing happen but looking. What a policy then says of such an action
// is what it says when the line runs.
func (s *Session) Foresee(ctx context.Context, c policy.Command, uses UsesOf) ([]Foreseen, error) {
	r := newRun(ctx, s, c, nil, nil)
	defer r.close()
	sc, err := s.script(r, c, nil)
	if err != nil {
		return nil, err
	}
	list, complete, err := parse(ctx, sc.text, r.limits)
	if err != nil {
		return nil, err
	}
	w := newWalker(ctx, r.limits)
	w.stmts(list, complete)
	f := &foresight{engine: r.policy, run: r, ctx: ctx, dir: sc.dir, env: sc.env, uses: uses, walker: &w, mounts: c.Mounts}
	r.policy = f
	if w.features["unparsed"] {
		f.later("the rest of the text, which is no shell syntax: decided when it runs")
	}
	f.settle()
	rounds := 1
	if w.features["loop"] || w.features["function"] || w.features["background"] || w.features["pipe"] {
		rounds = 2 // what comes last may change what the first finds: go through it again, knowing that
	}
	told := len(f.list)
	for range rounds {
		f.list, f.dir = f.list[:told], sc.dir
		for i, call := range w.calls {
			f.call(call)
			if i == 0 {
				f.dir = f.next
			}
		}
	}
	return f.list, nil
}

// A foresight is one Foresee. As an engine it notes what is asked.
type foresight struct {
	engine policy.Engine
	run    *run
	ctx    context.Context
	env    []string
	uses   UsesOf
	walker *walker
	mounts []policy.MountRule

	dir, next string // the working folder of the first call, and of those that follow
	lost      bool   // the working folder is not known
	shadowed  bool   // names may lead elsewhere than they do now
	changed   bool   // files may have come or gone
	linked    bool   // paths may lead elsewhere

	open map[policy.Kind][]string // what is not known of the actions asked about
	list []Foreseen
}

// Decide implements [policy.Engine].
func (f *foresight) Decide(ctx context.Context, a policy.Action) (policy.Decision, error) {
	f.list = append(f.list, Foreseen{Action: a, Open: f.open[a.Kind]})
	looks := a.Kind == policy.KindExec || a.File != nil && (a.File.Op == "read" || a.File.Op == "list")
	if !looks {
		return policy.Decision{}, nil // nothing may happen
	}
	return f.engine.Decide(ctx, a)
}

func (f *foresight) later(format string, args ...any) {
	f.list = append(f.list, Foreseen{Later: fmt.Sprintf(format, args...)})
}

// settle finds out what the text says of things that change while it runs.
func (f *foresight) settle() {
	w := f.walker
	f.next = f.dir
	moves := 0
	for _, c := range w.calls {
		switch c.Name {
		case "cd", "pushd", "popd":
			if c.shell {
				moves++
			}
		case "alias", "hash", "enable", "shopt", "unalias":
			f.shadowed = f.shadowed || c.shell
		}
		f.shadowed = f.shadowed || slices.Contains(c.Assigns, "PATH") || slices.ContainsFunc(c.Args, func(s string) bool { return strings.HasPrefix(s, "PATH") })
	}
	straight := !slices.ContainsFunc([]string{"subshell", "pipe", "background", "cmdsubst", "procsubst", "function", "loop", "eval"}, func(s string) bool { return w.features[s] })
	if moves > 0 {
		first := w.calls[0]
		f.lost = true
		if moves == 1 && straight && first.Name == "cd" && len(first.Args) == 1 && len(first.Dynamic) == 0 && !strings.HasPrefix(first.Args[0], "-") {
			at := path.Clean(joinPath(f.dir, first.Args[0]))
			if fi, err := f.run.session.fs.Stat(at); err == nil && fi.IsDir() {
				f.next, f.lost = at, false
			}
		}
	}
	if w.vague {
		f.lost, f.shadowed, f.changed, f.linked = true, true, true, true
	}
}

var (
	execFields = []string{"name", "args", "kind", "sha256", "cwd", "depth", "ancestors", "assigns", "background"}
	fileFields = []string{"op", "path", "requested", "to", "mount"}
)

// call foresees one simple command.
func (f *foresight) call(c seen) {
	if c.computed {
		f.later("a command whose name is computed, line %d: decided when it runs", c.Line)
	}
	lost := f.lost || c.moved
	f.open = map[policy.Kind][]string{policy.KindNet: {"ip", "bytes"}}
	if f.linked || lost {
		f.open[policy.KindFile] = fileFields
	}
	for _, r := range c.Redirects {
		f.redirect(r)
	}
	if c.Name == "" {
		return
	}
	if c.shell && f.walker.defines[c.Name] {
		f.later("%s, line %d: a function of the line", c.Name, c.Line)
		return
	}
	var open []string
	if len(c.Dynamic) > 0 || c.more {
		open = append(open, "args")
		if isShell(baseName(c.Name)) {
			open = append(open, "sha256")
		}
	}
	if lost {
		open = append(open, "cwd")
	}
	if f.walker.features["background"] {
		open = append(open, "background")
	}
	if strings.Contains(strings.Join(c.via, ""), "/") {
		open = append(open, "ancestors")
	}
	if f.shadowed || strings.Contains(c.Name, "/") && (f.changed || lost && !path.IsAbs(c.Name)) {
		open = execFields
	}
	f.open[policy.KindExec] = open
	h := &host{run: f.run, pid: virtualPID, depth: len(c.via), ancestors: c.via, mounts: []policy.MountRule{{Path: "/", Mode: policy.MountRO}}} // nothing changes, whatever is asked
	cmd := &command{args: append([]string{c.Name}, c.Args...), env: f.env, dir: f.dir, assigns: c.Assigns}
	if c.shell && shell.IsBuiltin(c.Name) {
		f.builtin(h, cmd)
		return
	}
	t, err := h.find(f.ctx, cmd)
	var denied *policy.DeniedError
	switch {
	case errors.As(err, &denied): // a module: it was asked about
		return
	case err != nil:
		f.later("%s, line %d: %s as things are now", c.Name, c.Line, reasonOf(err))
		f.changed, f.linked = true, true
		return
	}
	if t.program == nil && t.shell.Stdin {
		f.open[policy.KindExec] = append(f.open[policy.KindExec], "sha256")
		f.later("%s, line %d: the commands that it reads", c.Name, c.Line)
		f.changed, f.linked = true, true
	}
	d, _ := h.admit(f.ctx, t.facts(cmd), nil)
	if c.hides {
		f.later("%s, line %d: what else it starts", c.Name, c.Line)
	}
	f.effects(h, cmd, t, c, policy.StrictestMounts(append(slices.Clone(f.mounts), d.Mounts...)))
}

func reasonOf(err error) string {
	var e *ExecError
	if errors.As(err, &e) {
		return e.Msg
	}
	return "it cannot be started"
}

// builtin foresees a builtin: only what runs text is asked about.
func (f *foresight) builtin(h *host, c *command) {
	rest := c.args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	x := policy.Exec{Name: c.args[0], Args: c.args[1:], Kind: "shell", Cwd: c.dir}
	switch c.args[0] {
	case "eval":
		x.SHA256 = digest(strings.Join(rest, " "))
	case "source", ".":
		f.later("%s: the commands in the file", c.args[0])
		if len(rest) == 0 {
			return
		}
		f.open[policy.KindExec] = append(f.open[policy.KindExec], "sha256")
		if text, err := h.readFile(f.ctx, c, joinPath(c.dir, rest[0])); err == nil {
			x.SHA256 = digest(string(text))
		}
	default:
		return
	}
	_, _ = h.admit(f.ctx, x, nil)
}

// redirect foresees one redirection, which the shell opens.
func (f *foresight) redirect(r policy.Redirect) {
	if r.Target == "" && !strings.Contains(r.Op, "<<") {
		f.later("a file whose name is computed: decided when it is opened")
		return
	}
	op := ""
	switch r.Op {
	case "<":
		op = "read"
	case ">", ">>", ">|", "&>", "&>>":
		op = "write"
	case "<>":
		op = "both"
	case ">&", "<&":
		if strings.Trim(r.Target, "0123456789-") != "" {
			op = "write"
		}
	}
	if op != "" {
		h := &host{run: f.run, pid: virtualPID, mounts: []policy.MountRule{{Path: "/", Mode: policy.MountRO}}}
		f.file(h, "shell", f.mounts, FileUse{Op: op, Path: r.Target})
	}
}

// effects foresees what a program does.
func (f *foresight) effects(h *host, cmd *command, t target, c seen, mounts []policy.MountRule) {
	switch {
	case t.program == nil && t.shell.File != "":
		f.later("%s: the commands in the file", c.Name)
		f.changed, f.linked = true, true
		return
	case t.program == nil:
		return // its text was walked, or read from its input
	}
	isFolder := func(name string) bool {
		fi, err := f.run.session.fs.Stat(joinPath(cmd.dir, name))
		return err == nil && fi.IsDir()
	}
	u := Uses{More: true, Links: true}
	if t.kind == "box" {
		var dynamic []int
		for _, i := range c.Dynamic { // of a script they stand behind the words of its first line
			dynamic = append(dynamic, i+len(t.args)-len(cmd.args))
		}
		if c.more {
			dynamic = append(dynamic, len(t.args)-1)
		}
		u = f.uses(t.name, t.args[1:], dynamic, isFolder)
	}
	for _, use := range u.Files {
		f.file(h, t.name, mounts, use)
	}
	for _, r := range u.Requests {
		f.request(h, t.name, r)
	}
	if u.More || len(c.Dynamic) > 0 || c.more {
		f.later("%s, line %d: what else it opens", t.name, c.Line)
	}
	f.changed = f.changed || u.More || u.Links || len(c.Dynamic) > 0 || c.more
	f.linked = f.linked || u.Links
}

// file foresees one use of a file.
func (f *foresight) file(h *host, by string, mounts []policy.MountRule, u FileUse) {
	from := len(f.list)
	g := h.filesOf(f.ctx, by, stdio{}).(*guard)
	at, to := path.Clean(joinPath(f.dir, u.Path)), path.Clean(joinPath(f.dir, u.To)) // by text, as shell and programs do
	if dir, name := path.Split(at); dir == "/dev/fd/" || dir == "/dev/" && strings.HasPrefix(name, "std") {
		return // a stream, which is no file
	}
	fi, err := g.fs.Stat(at)
	there := err == nil
	switch u.Op {
	case "read", "list", "both":
		flag := os.O_RDONLY
		if u.Op == "both" {
			flag = os.O_RDWR | os.O_CREATE
		}
		if u.Op == "list" && there && !fi.IsDir() {
			return // looking is not asked about
		}
		if file, err := g.Open(at, flag, 0o666); err == nil {
			_ = file.Close()
		}
	case "touch":
		if !there {
			_, _ = g.Open(at, os.O_WRONLY|os.O_CREATE, 0o666)
		}
		f.supposed(g, "chmod", at, "")
	case "write", "copy":
		_, _ = g.Open(at, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if u.Op == "copy" && (!there || f.changed) {
			f.supposed(g, "chmod", at, "")
		}
	case "mkdir":
		_ = g.Mkdir(at, 0o777)
	case "remove":
		_ = g.Remove(at)
	case "rename":
		_ = g.Rename(at, to)
	case "link":
		_ = g.Link(at, to)
	case "symlink":
		_ = g.Symlink(u.Path, to)
	case "chmod":
		_ = g.Chmod(at, 0)
	}
	if len(f.list) == from { // nothing is there yet: what it would be
		f.supposed(g, u.Op, at, to)
	}
	if f.changed {
		f.otherwise(from)
	}
	if u.Op == "rename" {
		src, here := place(g.fs, at)
		dst, other := place(g.fs, to)
		if here != other || g.ruled() && (f.changed || there && fi.IsDir()) {
			defer f.later("%s: the copy that it makes from %s to %s", by, src, dst)
		}
	}
	for i := range f.list[from:] {
		x := &f.list[from+i]
		if x.Action.File.Op != "read" && x.Action.File.Op != "list" {
			x.Refused = refusedChange(g.fs, mounts, *x.Action.File)
			f.changed = true
		}
	}
}

// supposed notes the question about a file that is not there, as it would be
// asked if it were.
func (f *foresight) supposed(g *guard, op, at, to string) {
	if slices.Contains([]string{"both", "mkdir", "symlink"}, op) {
		op = map[string]string{"both": "write", "mkdir": "create", "symlink": "link"}[op]
	}
	where, mount := place(g.fs, at)
	file := policy.File{Op: op, Path: where, Requested: at, Mount: mount}
	if op == "rename" || op == "link" {
		file.To, _ = place(g.fs, to)
	}
	_ = g.ask(file)
}

// place resolves as much of a name as there is.
func place(m *vfs.Mount, name string) (at, mount string) {
	name = path.Clean(name)
	if l, err := m.Resolve(name, true); err == nil {
		return l.Path, l.Mount
	}
	if name == "/" {
		return name, name
	}
	dir, mount := place(m, path.Dir(name))
	return joinPath(dir, path.Base(name)), mount
}

// otherwise adds, to the writes since from, what they are when the file comes
// or goes before.
func (f *foresight) otherwise(from int) {
	for _, x := range f.list[from:] {
		other := map[string]string{"create": "write", "write": "create"}[x.Action.File.Op]
		if other == "" {
			continue
		}
		file := *x.Action.File
		file.Op = other
		x.Action.File = &file
		f.list = append(f.list, x)
	}
}

// refusedChange says why the files would not take a change that the policy
// allows; "" when they would.
func refusedChange(m *vfs.Mount, rules []policy.MountRule, file policy.File) string {
	changed := []string{file.Path, file.To}
	if file.Op == "link" {
		changed = changed[1:]
	}
	for _, name := range changed {
		if name == "" {
			continue
		}
		dir := path.Dir(name)
		l, err := m.Resolve(dir, true)
		if at, mount := place(m, name); at == mount { // a mount point itself
			l, err = m.Resolve(name, true)
		}
		switch {
		case err != nil || l.Mount == "/dev":
		case l.Mode == vfs.ReadOnlyMount:
			return l.Mount + " is mounted ro: Read-only file system"
		case Lowered(rules, l.Mode, name):
			return "a mount rule of the policy takes it away: Read-only file system"
		}
	}
	return ""
}

// request foresees one request.
func (f *foresight) request(h *host, by string, r Request) {
	from := len(f.list)
	_, err := h.fetch(f.ctx, by, nil, r)
	var ne *NetError
	if len(f.list) > from || !errors.As(err, &ne) {
		return
	}
	n := &policy.Net{Method: strings.ToUpper(r.Method), By: by} // refused before anybody was asked
	if u, err := url.Parse(r.URL); err == nil {
		n.Scheme, n.Host, n.Path = u.Scheme, u.Hostname(), u.Path
		if n.Port, err = strconv.Atoi(u.Port()); err != nil {
			n.Port = map[string]int{"http": 80, "https": 443}[u.Scheme]
		}
	}
	f.list = append(f.list, Foreseen{Action: policy.Action{Kind: policy.KindNet, Subject: policy.SubjectFrom(f.ctx), Net: n}, Refused: ne.Msg})
}
