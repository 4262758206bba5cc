package approve_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/approve"
)

func rm(change func(*policy.Action)) policy.Action {
	a := policy.Action{Kind: policy.KindExec, Exec: &policy.Exec{Name: "rm", Args: []string{"x"}, Cwd: "/w", SHA256: "s", Ancestors: []string{}, Assigns: []string{}}}
	a.Session.ID, a.Principal.Sub = "s1", "p"
	change(&a)
	return a
}

var asks = policy.Decision{Effect: policy.Ask, Reasons: []policy.Reason{{Msg: "sure?", Rule: "r"}}}

// person counts how often it is asked.
type person struct {
	says policy.Approval
	n    int
}

func (p *person) ask(context.Context, policy.Action, policy.Decision) (policy.Approval, error) {
	p.n++
	return p.says, nil
}

func book(t *testing.T, c approve.Config) *approve.Book {
	t.Helper()
	b, err := approve.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Threats: PO-6.
func TestApprovalsAreExact(t *testing.T) {
	for _, file := range []string{"", filepath.Join(t.TempDir(), "approvals")} {
		p := &person{says: policy.ApprovedForSession}
		ask := book(t, approve.Config{Mode: approve.AskOnce, File: file}).Wrap(p.ask)
		asked := func(change func(*policy.Action)) int {
			before := p.n
			if _, err := ask(context.Background(), rm(change), asks); err != nil {
				t.Error(err)
			}
			return p.n - before
		}
		same := func(*policy.Action) {}
		if asked(same) != 1 || asked(same) != 0 {
			t.Error("the same action is asked again")
		}
		if asked(func(a *policy.Action) { a.Usage.Execs, a.Terminal.ID, a.Exec.Background = 9, "t2", true }) != 0 {
			t.Error("counters, the terminal or & matter")
		}
		for name, change := range map[string]func(*policy.Action){
			"args": func(a *policy.Action) { a.Exec.Args = []string{"x", "y"} }, "split": func(a *policy.Action) { a.Exec.Args = []string{"x "} },
			"cwd": func(a *policy.Action) { a.Exec.Cwd = "/y" }, "hash": func(a *policy.Action) { a.Exec.SHA256 = "y" }, "parent": func(a *policy.Action) { a.Exec.Ancestors = []string{"find"} },
			"session": func(a *policy.Action) { a.Session.ID = "s2" }, "principal": func(a *policy.Action) { a.Principal.Sub = "p2" }, "tenant": func(a *policy.Action) { a.Principal.Tenant = "t" },
			"byte": func(a *policy.Action) { a.Exec.Args = []string{"\xff"} }, "other byte": func(a *policy.Action) { a.Exec.Args = []string{"\xfe"} }, "rune": func(a *policy.Action) { a.Exec.Args = []string{"\ufffd"} },
			"command": func(a *policy.Action) {
				a.Kind, a.Exec, a.Command = policy.KindCommand, nil, &policy.Command{Text: "rm x", Environ: []string{"A=1"}}
			},
			"value": func(a *policy.Action) {
				a.Kind, a.Exec, a.Command = policy.KindCommand, nil, &policy.Command{Text: "rm x", Environ: []string{"A=2"}}
			},
		} {
			if asked(change) != 1 {
				t.Errorf("another %s is not asked", name)
			}
		}
		p.says = policy.Refused
		no := func(a *policy.Action) { a.Exec.Name = "no" }
		if asked(no) != 1 || asked(no) != 1 {
			t.Error("a no is remembered")
		}
		p.says = policy.ApprovedAlways
		if asked(func(a *policy.Action) { a.Exec.Name = "mv" }) != 1 || asked(func(a *policy.Action) { a.Exec.Name, a.Session.ID = "mv", "s9" }) != 0 {
			t.Error("always does not hold in another session")
		}
		p.says = policy.ApprovedOnce
		once := func(a *policy.Action) { a.Exec.Name = "once" }
		if asked(once) != 1 || asked(once) != 1 {
			t.Error("once holds twice")
		}
	}
}

func TestModes(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "a")
	p := &person{says: policy.ApprovedAlways}
	a := rm(func(*policy.Action) {})
	if _, err := book(t, approve.Config{Mode: approve.AskOnce, File: file}).Wrap(p.ask)(ctx, a, asks); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[approve.Mode]struct {
		said  policy.Approval
		asked int
		err   error
	}{
		approve.Block: {err: approve.ErrBlocked}, "": {err: approve.ErrBlocked}, approve.Trust: {said: policy.ApprovedOnce},
		approve.AskOnce: {said: policy.ApprovedForSession}, approve.AskAlways: {said: policy.ApprovedAlways, asked: 1},
	} {
		p := &person{says: policy.ApprovedAlways}
		said, err := book(t, approve.Config{Mode: mode, File: file}).Wrap(p.ask)(ctx, a, asks)
		if said != want.said || p.n != want.asked || !errors.Is(err, want.err) {
			t.Errorf("%q: said %v, asked %d times, %v", mode, said, p.n, err)
		}
	}
	if _, err := book(t, approve.Config{Mode: approve.AskOnce}).Wrap(nil)(ctx, a, asks); !errors.Is(err, policy.ErrNobody) {
		t.Error(err)
	}
	if _, err := approve.New(approve.Config{Mode: "maybe"}); err == nil {
		t.Error("an unknown mode is accepted")
	}
}

// TestFileIsThePersons edits the file as a person does.
// Threats: PO-8.
func TestFileIsThePersons(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "approvals")
	var told error
	b := book(t, approve.Config{Mode: approve.AskOnce, File: file, Report: func(err error) { told = err }})
	p := &person{says: policy.ApprovedForSession}
	ask := b.Wrap(p.ask)
	a := rm(func(*policy.Action) {})
	try := func() (policy.Approval, error) { return ask(ctx, a, asks) }
	if _, err := try(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), `"args":["x"]`) || strings.Count(string(text), "\n") != 1 {
		t.Fatalf("%s %v", text, err)
	}
	// Laid out anew, with a remark, and meant for every session.
	edited := "# mine\n\n" + strings.Replace(strings.ReplaceAll(string(text), ":", ": "), `"s1"`, `"*"`, 1)
	edited = strings.Replace(edited, ": 0", ":0", 1)
	edited = strings.TrimSpace(replaceTime(edited)) // without its last newline, as some editors leave it
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	a = rm(func(a *policy.Action) { a.Session.ID = "s2" })
	if _, err := try(); err != nil || p.n != 1 {
		t.Errorf("asked %d times, %v", p.n, err)
	}
	a = rm(func(a *policy.Action) { a.Exec.Name = "mv" })
	if _, err := try(); err != nil {
		t.Error(err)
	}
	list, err := approve.Read(file)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	if n, err := approve.Revoke(file, list[0].ID()); n != 1 || err != nil {
		t.Error(n, err)
	}
	a, p.n = rm(func(a *policy.Action) { a.Session.ID = "s2" }), 0
	if _, err := try(); err != nil || p.n != 1 {
		t.Errorf("revoked, and asked %d times, %v", p.n, err)
	}
	if text, _ := os.ReadFile(file); !strings.HasPrefix(string(text), "# mine\n") {
		t.Errorf("the remark is gone: %s", text)
	}
	for name, spoil := range map[string]func() error{
		"a broken line": func() error { return os.WriteFile(file, []byte("{\"session\": 1}\n"), 0o600) },
		"a misspelling": func() error { return os.WriteFile(file, []byte(strings.Replace(edited, "facts", "fact", 1)), 0o600) },
		"open to others": func() error {
			if runtime.GOOS == "windows" {
				return os.WriteFile(file, []byte("x"), 0o600)
			}
			return errors.Join(os.WriteFile(file, []byte(edited), 0o600), os.Chmod(file, 0o666))
		},
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		told, p.n = nil, 0
		if said, err := try(); said != policy.Refused || err == nil || told == nil || p.n != 0 {
			t.Errorf("%s: said %v %v, told %v, asked %d times", name, said, err, told, p.n)
		}
		if _, err := approve.New(approve.Config{Mode: approve.AskOnce, File: file}); err == nil {
			t.Errorf("%s: opened", name)
		}
		_ = os.Chmod(file, 0o600)
	}
}

// replaceTime undoes the spaces that were put into the time.
func replaceTime(s string) string {
	i := strings.Index(s, `"at": "`)
	j := i + strings.Index(s[i:], `",`)
	return s[:i+7] + strings.ReplaceAll(s[i+7:j], ": ", ":") + s[j:]
}
