package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
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
