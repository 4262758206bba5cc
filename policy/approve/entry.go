package approve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
)

// AnySession is the session of an approval that holds in every session.
const AnySession = "*"

// An Entry is one approval: one line of JSON in the file. It holds for exactly
// its facts, whoever edits them.
type Entry struct {
	At        time.Time       `json:"at"` // when it was given
	Session   string          `json:"session"`
	Principal Principal       `json:"principal"`
	Action    policy.Kind     `json:"action"`
	Facts     json.RawMessage `json:"facts"`          // of the action, as a policy sees them, and what else makes it the same
	Rule      string          `json:"rule,omitempty"` // that asked; for people
}

// Principal is whom an approval was given to.
type Principal struct {
	Sub    string `json:"sub"`
	Tenant string `json:"tenant"`
	Auth   string `json:"auth"`
}

// newEntry makes the entry for an action. exact is false when the facts cannot
// be written down exactly, because a name or argument is no text: such an
// action is never remembered, or one approval would hold for others.
func newEntry(a policy.Action, d policy.Decision) (e Entry, exact bool) {
	e = Entry{
		Session: a.Session.ID, Action: a.Kind,
		Principal: Principal{a.Principal.Sub, a.Principal.Tenant, a.Principal.Auth},
	}
	if len(d.Reasons) > 0 {
		e.Rule = d.Reasons[0].Rule
	}
	var facts any
	switch {
	case a.Command != nil:
		c := a.Command
		var env string
		if len(c.Environ) > 0 { // values change what runs, and must not stand in a file
			sum := sha256.Sum256(fmt.Appendf(nil, "%q", c.Environ))
			env = hex.EncodeToString(sum[:])
		}
		facts = struct {
			*policy.Command
			Name   string `json:"name,omitempty"`
			Script bool   `json:"script,omitempty"`
			Values string `json:"env_sha256,omitempty"`
		}{c, c.Name, c.Script, env}
	case a.Exec != nil:
		x := *a.Exec
		x.Background = false
		facts = x
	case a.File != nil:
		facts = a.File
	case a.Net != nil:
		facts = a.Net
	case a.Tool != nil:
		facts = a.Tool
	case a.Module != nil:
		facts = a.Module
	case a.Output != nil:
		facts = a.Output
	default:
		return e, false
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(facts); err != nil {
		return e, false
	}
	e.Facts = bytes.TrimSpace(text.Bytes())
	// encoding/json writes U+FFFD itself as it is, and this for a byte that is no UTF-8.
	return e, !bytes.Contains(e.Facts, []byte(`\ufffd`))
}

// key names what an entry is for, and nothing else of it.
func (e Entry) key() string {
	return fmt.Sprintf("%q %q %q %s", e.Session, e.Principal, e.Action, canonical(e.Facts))
}

// ID names an entry for people: 10 hex digits of what it is for.
func (e Entry) ID() string {
	sum := sha256.Sum256([]byte(e.key()))
	return hex.EncodeToString(sum[:])[:10]
}

// canonical writes JSON with sorted keys and without space, so that facts are
// the same however a person has laid them out.
func canonical(text json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(text)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(text)
	}
	return string(out)
}

// parse reads one line of the file.
func parse(line []byte) (e Entry, err error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, fmt.Errorf("no approval: %w", err)
	}
	switch {
	case dec.More():
		return e, errors.New("more than one approval on a line")
	case e.Session == "" || e.Principal.Sub == "" || e.Action == "" || !strings.HasPrefix(string(e.Facts), "{"):
		return e, errors.New("session, principal, action or facts is missing")
	}
	return e, nil
}

// What puts what was approved into one line, safe for a terminal.
func (e Entry) What() string {
	a := policy.Action{Kind: e.Action}
	var err error
	into := func(facts any) { err = json.Unmarshal(e.Facts, facts) }
	switch e.Action {
	case policy.KindCommand:
		a.Command = &policy.Command{}
		into(a.Command)
	case policy.KindExec:
		a.Exec = &policy.Exec{}
		into(a.Exec)
	case policy.KindFile:
		a.File = &policy.File{}
		into(a.File)
	case policy.KindNet:
		a.Net = &policy.Net{}
		into(a.Net)
	case policy.KindTool:
		a.Tool = &policy.Tool{}
		into(a.Tool)
	case policy.KindModule:
		a.Module = &policy.Module{}
		into(a.Module)
	case policy.KindOutput:
		a.Output = &policy.Output{}
		into(a.Output)
	}
	if err != nil {
		return policy.Plain(string(e.Action) + " " + string(e.Facts))
	}
	return policy.Plain(string(e.Action)) + " " + policy.Describe(a)
}
