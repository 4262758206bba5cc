package mcp

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Tokens is an [Authenticator] that knows the bearer tokens of a file.
//
// The file holds one token on a line of its own, whose principal is
// {Sub: "token", Roles: [OperatorRole]}; or a JSON array of objects:
//
//	[{"token": "...", "sub": "alice", "tenant": "", "roles": [], "scopes": [], "claims": {}, "rate": 10}]
//
// where "sha256", the token's digest in hex, may stand for "token". The file
// must not be readable by others. It is read again when it changes; while it
// cannot be read, or is wrong, nobody is let in.
type Tokens struct {
	path string
	log  func(error)

	mu      sync.Mutex
	checked time.Time
	stamp   stamp
	list    []tokenEntry
	err     error
}

type tokenEntry struct {
	sum [sha256.Size]byte
	who Identity
}

// stamp tells whether a file has changed.
type stamp struct {
	mod  time.Time
	size int64
	file os.FileInfo
}

const (
	maxTokenFile   = 1 << 20
	minToken       = 20 // characters: fewer can be guessed
	recheckTokens  = time.Second
	bareTokenOwner = "token"
)

// OpenTokens reads the token file at path. log gets the error of a later
// read; it may be nil.
func OpenTokens(path string, log func(error)) (*Tokens, error) {
	t := &Tokens{path: path, log: log}
	t.reload(time.Now())
	if t.err != nil {
		return nil, t.err
	}
	return t, nil
}

// Reload reads the file again, whether it has changed or not.
func (t *Tokens) Reload() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reload(time.Now())
	return t.err
}

func (t *Tokens) reload(now time.Time) {
	t.checked = now
	list, st, err := readTokens(t.path)
	t.list, t.stamp, t.err = list, st, err // list is nil when err is not: nobody is let in
}

// current returns the tokens, read again if the file has changed.
func (t *Tokens) current(now time.Time) ([]tokenEntry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.checked) >= recheckTokens {
		t.checked = now
		info, err := os.Stat(t.path)
		if err != nil || t.err != nil || !os.SameFile(info, t.stamp.file) || !info.ModTime().Equal(t.stamp.mod) || info.Size() != t.stamp.size {
			before := t.err
			t.reload(now)
			if t.err != nil && t.log != nil && (before == nil || before.Error() != t.err.Error()) {
				t.log(t.err)
			}
		}
	}
	return t.list, t.err
}

// Authenticate implements [Authenticator].
func (t *Tokens) Authenticate(r *http.Request) (Identity, error) {
	list, err := t.current(time.Now())
	if err != nil {
		return Identity{}, err
	}
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return Identity{}, errors.New("no token, or several")
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return Identity{}, errors.New("not a bearer token")
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	found := -1
	for i := range list { // all of them, and each in constant time: how long it takes tells nothing
		if subtle.ConstantTimeCompare(sum[:], list[i].sum[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return Identity{}, errors.New("unknown token")
	}
	return list[found].who, nil
}

func readTokens(path string) ([]tokenEntry, stamp, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, stamp{}, fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of the file that is read, not of one put in its place
	if err != nil {
		return nil, stamp{}, fmt.Errorf("token file: %w", err)
	}
	st := stamp{info.ModTime(), info.Size(), info}
	if !info.Mode().IsRegular() {
		return nil, st, fmt.Errorf("token file %s: not a regular file", path)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, st, fmt.Errorf("token file %s: mode %04o lets others read it; chmod 600 it", path, mode)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return nil, st, fmt.Errorf("token file: %w", err)
	}
	if len(b) > maxTokenFile {
		return nil, st, fmt.Errorf("token file %s: longer than %d bytes", path, maxTokenFile)
	}
	list, err := parseTokens(bytes.TrimSpace(b))
	if err != nil {
		return nil, st, fmt.Errorf("token file %s: %w", path, err)
	}
	return list, st, nil
}

func parseTokens(b []byte) ([]tokenEntry, error) {
	if len(b) == 0 {
		return nil, errors.New("empty")
	}
	if b[0] != '[' {
		if bytes.ContainsAny(b, " \t\r\n{") {
			return nil, errors.New("neither one token on one line nor a JSON array")
		}
		e, err := newToken(string(b), "")
		e.who.Principal = policy.Principal{Sub: bareTokenOwner, Auth: "bearer", Roles: []string{OperatorRole}}
		return []tokenEntry{e}, err
	}
	var raw []struct {
		Token  string         `json:"token"`
		SHA256 string         `json:"sha256"`
		Sub    string         `json:"sub"`
		Tenant string         `json:"tenant"`
		Roles  []string       `json:"roles"`
		Scopes []string       `json:"scopes"`
		Claims map[string]any `json:"claims"`
		Rate   float64        `json:"rate"`
	}
	if bad := scan(b); bad != nil { // its words never quote a token
		return nil, bad
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&raw); err != nil {
		return nil, errors.New("a member is unknown or has the wrong type")
	}
	var list []tokenEntry
	seen := map[[sha256.Size]byte]bool{}
	for i, r := range raw {
		e, err := newToken(r.Token, r.SHA256)
		switch {
		case err != nil:
			return nil, fmt.Errorf("entry %d: %w", i, err)
		case r.Sub == "":
			return nil, fmt.Errorf("entry %d: no sub", i)
		case r.Rate < 0:
			return nil, fmt.Errorf("entry %d: negative rate", i)
		case seen[e.sum]:
			return nil, fmt.Errorf("entry %d: the token is there twice", i)
		}
		seen[e.sum] = true
		e.who = Identity{Rate: r.Rate, Principal: policy.Principal{
			Sub: r.Sub, Tenant: r.Tenant, Auth: "bearer", Roles: r.Roles, Scopes: r.Scopes, Claims: r.Claims,
		}}
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil, errors.New("no tokens")
	}
	return list, nil
}

func newToken(token, digest string) (tokenEntry, error) {
	var e tokenEntry
	switch {
	case (token == "") == (digest == ""):
		return e, errors.New("exactly one of token and sha256 is needed")
	case token != "":
		if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
			return e, fmt.Errorf("a token has at least %d characters and no space; try: openssl rand -hex 32", minToken)
		}
		e.sum = sha256.Sum256([]byte(token))
	default:
		b, err := hex.DecodeString(digest)
		if err != nil || copy(e.sum[:], b) != len(e.sum) || len(b) != len(e.sum) {
			return e, errors.New("sha256 is not 64 hex digits")
		}
	}
	return e, nil
}
