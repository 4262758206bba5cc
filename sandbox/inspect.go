package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox/shell"
	"mvdan.cc/sh/v3/syntax"
)

// Inspect completes c with the facts that its text shows, for admission: the
// text itself (quoted, when Args is an argv), Calls, Features, Static, the
// names in Env and the Limits in force. Nothing runs. What the text does not
// show is decided when it happens, as exec and file actions. A text that ends
// in a syntax error is not refused, because the lines before it run: it is
// not Static and has the feature "unparsed".
//
// The error is a [*ParseError], a [*LimitError], the context's, or says what
// is wrong with c.
func (s *Session) Inspect(ctx context.Context, c policy.Command) (policy.Command, error) {
	return s.inspect(ctx, c, nil)
}

// inspect is Inspect, for a shell that goes on from st if there is one.
func (s *Session) inspect(ctx context.Context, c policy.Command, st *shell.State) (policy.Command, error) {
	if len(c.Args) > 0 {
		text, err := quoteArgs(c.Args)
		if err != nil {
			return c, err
		}
		c.Text = text
	}
	c.Env = []string{}
	for _, kv := range c.Environ {
		if err := checkVar(kv); err != nil {
			return c, err
		}
	}
	for _, kv := range mergeEnv(s.cfg.Env, c.Environ) { // also those of the session: a policy may take them away
		name, _, _ := strings.Cut(kv, "=")
		c.Env = append(c.Env, name)
	}
	switch {
	case c.Cwd == "" && st != nil:
		c.Cwd = st.Dir() // which need not be there any more
	case c.Cwd == "":
		c.Cwd = s.cfg.Dir
		fallthrough
	default:
		if err := s.checkDir(ctx, c.Cwd); err != nil {
			return c, fmt.Errorf("cwd: %w", err) // the field that whoever asked has to mend
		}
	}
	limits := s.cfg.Limits.lowered(c.Limits)
	c.Limits = limits.policy()
	c.Params, c.Args = nonNil(c.Params), nonNil(c.Args)
	list, complete, err := parse(ctx, c.Text, limits)
	if err != nil {
		return c, err
	}
	w := newWalker(ctx, limits)
	w.stmts(list, complete)
	if w.err != nil {
		return c, w.err
	}
	c.Calls = make([]policy.Call, len(w.calls))
	for i := range w.calls {
		c.Calls[i] = w.calls[i].Call
	}
	// What was defined before, no text of this line shows.
	c.Static = w.static && s.cfg.RC == "" && (st == nil || !st.Renames())
	c.Features = make([]string, 0, len(w.features))
	for k := range w.features {
		c.Features = append(c.Features, k)
	}
	slices.Sort(c.Features)
	return c, nil
}

// quoteArgs writes an argv as a command line.
func quoteArgs(args []string) (string, error) {
	var b strings.Builder
	for i, a := range args {
		if strings.ContainsRune(a, 0) {
			return "", fmt.Errorf("argument %d holds a NUL byte", i)
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quote(a))
	}
	return b.String(), nil
}

// quote writes s as one word of the shell. Words that look like syntax
// (keywords, assignments) are quoted too, so that they stay words.
func quote(s string) string {
	plain := s != "" && !syntax.IsKeyword(s)
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("_-./,:+@%", c) >= 0
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
