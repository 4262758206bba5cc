package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/donax-sh/donax/policy"
)

// A projection turns the facts of an action into what may be recorded of them.
type projection struct {
	m     *masker
	known *known
	rec   *record
}

// project fills in rec's input: the action as rules see it, without claims,
// with secrets masked and with what is long cut. The action itself is not
// changed.
func (m *masker) project(rec *record, a policy.Action, k *known) {
	p := &projection{m: m, known: k, rec: rec}
	if len(a.Principal.Claims) > 0 { // they may say anything of a person
		a.Principal.Claims = nil
		rec.Erased = append(rec.Erased, "/input/principal/claims")
	}
	a.Terminal.Cwd = p.text("/input/terminal/cwd", a.Terminal.Cwd)
	a.Session.Client.Name = p.text("/input/session/client/name", a.Session.Client.Name)
	a.Session.Client.Version = p.text("/input/session/client/version", a.Session.Client.Version)
	switch {
	case a.Command != nil:
		c := *a.Command
		p.raw(c.Text)
		c.Text, c.Cwd = p.text("/input/command/text", c.Text), p.text("/input/command/cwd", c.Cwd)
		c.Args, c.Params = p.args("/input/command/args", c.Args), p.list("/input/command/params", c.Params)
		c.Env = p.list("/input/command/env", c.Env)
		c.Calls = nil // all of it is in the text
		if len(a.Command.Calls) > 0 {
			rec.Erased = append(rec.Erased, "/input/command/calls")
		}
		a.Command = &c
	case a.Exec != nil:
		x := *a.Exec
		x.Args, x.Cwd = p.args("/input/exec/args", x.Args), p.text("/input/exec/cwd", x.Cwd)
		x.Assigns, x.Ancestors = p.list("/input/exec/assigns", x.Assigns), p.list("/input/exec/ancestors", x.Ancestors)
		if rec.Masked != nil || rec.Erased != nil {
			p.raw(strings.Join(a.Exec.Args, "\x00"))
		}
		a.Exec = &x
	case a.File != nil:
		f := *a.File
		f.Path, f.Requested, f.To = p.text("/input/file/path", f.Path), p.text("/input/file/requested", f.Requested), p.text("/input/file/to", f.To)
		a.File = &f
	case a.Net != nil:
		n := *a.Net
		n.Host, n.Path, n.Method = p.text("/input/net/host", n.Host), p.text("/input/net/path", n.Path), p.text("/input/net/method", n.Method)
		a.Net = &n
	case a.Tool != nil:
		t := *a.Tool
		t.Name, t.Server = p.text("/input/tool/name", t.Name), p.text("/input/tool/server", t.Server)
		t.Arguments, _ = m.walk(t.Arguments, k, 0).(map[string]any)
		a.Tool = &t
	case a.Module != nil:
		x := *a.Module
		x.Source, x.Imports = p.text("/input/module/source", x.Source), p.list("/input/module/imports", x.Imports)
		a.Module = &x
	}
	rec.Input = a
}

// raw records the hash of a text that is not recorded as it is.
func (p *projection) raw(s string) {
	if _, what := p.m.text(s, p.known); what == "" && p.rec.Masked == nil {
		return
	}
	sum := sha256.Sum256([]byte(s))
	if p.rec.Custom == nil {
		p.rec.Custom = map[string]any{}
	}
	p.rec.Custom["raw_sha256"] = hex.EncodeToString(sum[:])
}

func (p *projection) text(at, s string) string {
	out, what := p.m.text(s, p.known)
	p.note(at, what)
	return out
}

func (p *projection) note(at, what string) {
	switch what {
	case "masked":
		p.rec.Masked = append(p.rec.Masked, at)
	case "cut":
		p.rec.Erased = append(p.rec.Erased, at)
	}
}

// list masks each of list, which is shared with whoever runs: it is copied
// when something changes.
func (p *projection) list(at string, list []string) []string {
	out, copied := list, false
	if len(list) > maxItems {
		out = list[:maxItems:maxItems]
		p.note(at, "cut")
	}
	for i, s := range out {
		t, what := p.m.text(s, p.known)
		if what == "" {
			continue
		}
		if !copied {
			out, copied = append([]string(nil), out...), true
		}
		out[i] = t
		p.note(fmt.Sprintf("%s/%d", at, i), what)
	}
	return out
}

// args is list for the arguments of a program: what follows an option whose
// name says that a secret comes is one.
func (p *projection) args(at string, args []string) []string {
	out := p.list(at, args)
	copied := false
	for i := 1; i < len(out); i++ {
		flag := out[i-1]
		if len(flag) < 2 || flag[0] != '-' || out[i] == masked {
			continue
		}
		_, _, pair := strings.Cut(out[i], ":")
		if !secretFlag().MatchString(flag) && !(pair && userFlag().MatchString(flag)) {
			continue
		}
		if !copied {
			out, copied = append([]string(nil), out...), true
		}
		out[i] = masked
		p.note(fmt.Sprintf("%s/%d", at, i), "masked")
	}
	return out
}
