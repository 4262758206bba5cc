package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
)

// Tokens is an [Authenticator] that knows the bearer tokens of a file.
//
// The file holds one token on a line of its own, whose principal is
// {Sub: "token", Roles: [OperatorRole]}; or a JSON array of objects:
//
//	[{"token": "...", "sub": "alice", "tenant": "", "roles": [], "scopes": [], "claims": {}, "rate": 10, "terminals": 4}]
//
// where "sha256", the token's digest in hex, may stand for "token", rate is
// requests a second and terminals the commands that run at a time. The file
// must not be readable by others. It is read again when it changes; while it
// cannot be read, or is wrong, nobody is let in.
type Tokens struct{ watched[[]tokenEntry] }

const (
	maxTokenFile   = 1 << 20
	minToken       = 20 // characters: fewer can be guessed
	bareTokenOwner = "token"
)

// OpenTokens reads the token file at path. log gets the error of a later
// read; it may be nil.
func OpenTokens(path string, log func(error)) (*Tokens, error) {
	t := &Tokens{watched[[]tokenEntry]{
		what: "token file", path: path, max: maxTokenFile, parse: parseTokens, log: log,
		forbid: 0o077, why: "lets others read it; chmod 600 it",
	}}
	if err := t.Reload(); err != nil {
		return nil, err
	}
	return t, nil
}

// Authenticate implements [Authenticator].
func (t *Tokens) Authenticate(r *http.Request) (Identity, error) {
	list, err := t.current()
	if err != nil {
		return Identity{}, err
	}
	token, err := bearer(r)
	if err != nil {
		return Identity{}, err
	}
	sum := sha256.Sum256([]byte(token))
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

// Health implements [Sick].
func (t *Tokens) Health() error {
	if _, err := t.current(); err != nil {
		return errors.New("the token file cannot be used, so nobody is let in by a token of it; the server's log says why")
	}
	return nil
}

// bearer returns the one bearer token of a request.
func bearer(r *http.Request) (string, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return "", errors.New("no token, or several")
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", errors.New("not a bearer token")
	}
	return strings.TrimSpace(token), nil
}
