package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/donax-sh/donax/policy"
)

type tokenEntry struct {
	sum [sha256.Size]byte
	who Identity
}

func parseTokens(b []byte) ([]tokenEntry, error) {
	b = bytes.TrimSpace(b)
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
		Terms  int            `json:"terminals"`
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
		case r.Terms < 0:
			return nil, fmt.Errorf("entry %d: negative terminals", i)
		case seen[e.sum]:
			return nil, fmt.Errorf("entry %d: the token is there twice", i)
		}
		seen[e.sum] = true
		e.who = Identity{Rate: r.Rate, Terminals: r.Terms, Principal: policy.Principal{
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
