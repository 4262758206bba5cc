package audit

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
)

const (
	masked    = "[masked]"
	minText   = 4 // bytes; shorter texts hold no secret
	minSecret = 6 // bytes of a text that is masked wherever it occurs: shorter ones are words
	maxDepth  = 32

	maxText  = 16 << 10 // bytes of one text in a record
	maxItems = 256      // members of one list
)

// A pattern finds secrets by what stands before them, or by how they look. It
// is tried only where one of its hints occurs, in lower case: most texts are
// short and have none.
type pattern struct {
	hints []string
	re    func() *regexp.Regexp // what its groups match is masked; without groups, all of it
	fits  func(secret string) bool
}

// A masker makes secrets unreadable before they reach the log. It is best
// effort: a secret that looks like any other word is recorded.
type masker struct {
	patterns []pattern
	secrets  []string

	mu        sync.Mutex
	terminals map[string]*known // guarded by mu
}

// known is what must not be recorded of one terminal.
type known struct {
	secrets  []string
	patterns []pattern

	since   time.Time // when the command was admitted
	started bool      // it runs; guarded by masker.mu
}

// An admitted command of which a person is asked may never start: what is known
// of it is dropped after neverStarts, as soon as there are many.
const (
	neverStarts = 15 * time.Minute
	manyKnown   = 1024
)

func newMasker(expressions, secrets []string) (*masker, error) {
	m := &masker{patterns: builtin(), terminals: map[string]*known{}}
	for _, s := range secrets {
		if len(s) >= minSecret {
			m.secrets = append(m.secrets, s)
		}
	}
	for _, e := range expressions {
		re, err := regexp.Compile(e)
		if err != nil {
			return nil, fmt.Errorf("audit: a mask is no regular expression: %w", err)
		}
		m.patterns = append(m.patterns, pattern{re: func() *regexp.Regexp { return re }})
	}
	return m, nil
}

// NewMask returns what hides secrets in a text as the log does: what the
// regular expressions match, the given secrets, and what looks like one. It is
// best effort.
func NewMask(expressions, secrets []string) (func(string) string, error) {
	m, err := newMasker(expressions, secrets)
	if err != nil {
		return nil, err
	}
	return func(s string) string { s, _ = m.text(s, nil); return s }, nil
}

// lazily compiles an expression when it is first used. All of them at the start
// would take a tenth of the time that a line takes from cold.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

func builtin() []pattern {
	secretName := `[A-Za-z0-9_.-]*(?:api_?-?key|secret|token|passw(?:or)?d|passphrase|pwd|credentials?|private_?-?key|access_?-?key|auth)`
	return []pattern{
		{hints: []string{"authorization"}, re: lazily(`(?i)authorization["']?\s*[:=]\s*["']?([^"'\r\n]+)`)},
		{hints: []string{"bearer", "basic"}, re: lazily(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{4,})`)},
		{hints: []string{"cookie"}, re: lazily(`(?i)\bcookie["']?\s*[:=]\s*["']?([^"'\r\n]+)`)},
		{hints: []string{"://"}, re: lazily(`[A-Za-z][A-Za-z0-9+.-]*://(?:[^/\s:@"']*:([^/\s@"']+)|([^/\s:@"']{8,}))@`)},
		// A parameter of a URL: by its name, or because a machine seems to have made its value.
		{hints: []string{"?", "&"}, re: lazily(`(?i)[?&#;](?:[\w.%-]*(?:key|sig|signature|secret|token|code|passw(?:or)?d|pass|pwd|auth|credential|session|sid|jwt))=([^&#\s"'<>|;]+)`)},
		{hints: []string{"?", "&"}, re: lazily(`[?&#;][\w.%-]+=([^&#\s"'<>|;]{12,})`), fits: random},
		{hints: []string{"key", "secret", "token", "passw", "passphrase", "pwd", "credential", "auth"},
			re: lazily(`(?i)` + secretName + `["']?\s*[=:]\s*(?:"([^"]+)"|'([^']+)'|([^\s&;|<>"'$(]{4,}))`)},
		{hints: []string{"--pass", "--token", "--secret", "--api", "--auth", "--credential", "--private"},
			re: lazily(`(?i)--` + secretName + `\s+(?:"([^"]+)"|'([^']+)'|([^\s&;|<>"'$(-][^\s&;|<>"'$(]{3,}))`)},
		{hints: []string{"ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "sk-", "sk_", "xox", "akia", "asia", "eyj", "aiza", "tok-", "tok_", "npm_", "hf_"},
			re: lazily(`\b(?:gh[posu]_[A-Za-z0-9]{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|sk-[\w-]{8,}|sk_(?:live|test)_\w{8,}|xox[abeprs]-[\w-]{8,}|A[KS]IA[A-Z0-9]{12,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|AIza[\w-]{16,}|tok[-_][\w-]{4,}|npm_\w{16,}|hf_\w{16,})`)},
		{hints: []string{"private key"}, re: lazily(`-----BEGIN [A-Z ]*PRIVATE KEY-----([\s\S]*?)(?:-----END|$)`)},
		// The value of a variable that looks as if a machine had made it.
		{hints: []string{"="}, re: lazily(`(?:^|[\s;&|(])[A-Za-z_]\w*=["']?([A-Za-z0-9+_.=~-]{8,})`), fits: random},
	}
}

// random reports whether s has both letters and digits, as few words have.
func random(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
}

// remember keeps what a command that was admitted must not show: the values of
// its variables, and what its policy redacts.
func (m *masker) remember(terminal string, c *policy.Command, d policy.Decision) {
	k := secretsOf(c, d)
	if terminal == "" || k == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.terminals) >= manyKnown {
		maps.DeleteFunc(m.terminals, func(_ string, k *known) bool { return !k.started && time.Since(k.since) > neverStarts })
	}
	m.terminals[terminal] = k
}

// start says that the command of a terminal runs, until forget.
func (m *masker) start(terminal string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.terminals[terminal]; k != nil {
		k.started = true
	}
}

// secretsOf returns what must not be shown of a command; nil for nothing.
func secretsOf(c *policy.Command, d policy.Decision) *known {
	k := &known{since: time.Now()}
	for _, kv := range c.Environ {
		if _, v, _ := strings.Cut(kv, "="); len(v) >= minSecret {
			k.secrets = append(k.secrets, v)
		}
	}
	for _, r := range d.Redact {
		if re, err := regexp.Compile(r.Pattern); err == nil { // checked where it was loaded
			k.patterns = append(k.patterns, pattern{re: func() *regexp.Regexp { return re }})
		}
	}
	if len(k.secrets)+len(k.patterns) == 0 {
		return nil
	}
	return k
}

func (m *masker) forget(terminal string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.terminals, terminal)
}

// known returns what is remembered of a terminal; nil for nothing.
func (m *masker) known(terminal string) *known {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.terminals[terminal]
}

// text masks and shortens one text. It is "" when s may be recorded as it is,
// or else says what was done: "masked" or "cut".
func (m *masker) text(s string, k *known) (string, string) {
	if len(s) < minText {
		return s, ""
	}
	in := s
	lower := strings.ToLower(s)
	if k != nil {
		for _, secret := range k.secrets {
			s = strings.ReplaceAll(s, secret, masked)
		}
		for _, p := range k.patterns {
			s = p.mask(s)
		}
	}
	for _, secret := range m.secrets {
		s = strings.ReplaceAll(s, secret, masked)
	}
	for _, p := range m.patterns {
		if p.hinted(lower) {
			s = p.mask(s)
		}
	}
	what := ""
	if s != in {
		what = "masked"
	}
	if len(s) > maxText {
		what, s = "cut", strings.ToValidUTF8(s[:maxText], "")+fmt.Sprintf("[... %d bytes more]", len(s)-maxText)
	}
	return s, what
}

func (p pattern) hinted(lower string) bool {
	for _, h := range p.hints {
		if strings.Contains(lower, h) {
			return true
		}
	}
	return p.hints == nil
}

func (p pattern) mask(s string) string {
	found := p.re().FindAllStringSubmatchIndex(s, -1)
	if found == nil {
		return s
	}
	var b strings.Builder
	from := 0
	for _, m := range found {
		spans := m[2:]
		if len(spans) == 0 {
			spans = m
		}
		for i := 0; i < len(spans); i += 2 {
			a, z := spans[i], spans[i+1]
			if a < from || a == z || p.fits != nil && !p.fits(s[a:z]) || s[a:z] == masked {
				continue
			}
			b.WriteString(s[from:a])
			b.WriteString(masked)
			from = z
		}
	}
	b.WriteString(s[from:])
	return b.String()
}

// walk masks the texts of a free-form value.
func (m *masker) walk(v any, k *known, depth int) any {
	if depth > maxDepth {
		return masked
	}
	switch v := v.(type) {
	case string:
		s, _ := m.text(v, k)
		return s
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			if s, ok := e.(string); ok && s != "" && secretFlag().MatchString("--"+name) {
				e = masked
			}
			out[name] = m.walk(e, k, depth+1)
		}
		return out
	case []any:
		out := make([]any, 0, min(len(v), maxItems))
		for _, e := range v[:min(len(v), maxItems)] {
			out = append(out, m.walk(e, k, depth+1))
		}
		return out
	case []string:
		out := make([]string, 0, min(len(v), maxItems))
		for _, e := range v[:min(len(v), maxItems)] {
			s, _ := m.text(e, k)
			out = append(out, s)
		}
		return out
	}
	return v
}

// secretFlag is an option whose value is the next argument.
var secretFlag = lazily(`(?i)^--?[a-z0-9_.-]*(?:api_?-?key|secret|token|passw(?:or)?d|passphrase|pwd|credentials?|private_?-?key|access_?-?key|auth)$`)

// userFlag is one whose value is a name and a password.
var userFlag = lazily(`^(?:-u|--user|--proxy-user|-U)$`)
