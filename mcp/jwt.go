package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
)

// JWTConfig configures [OpenJWTs]. All but Log is required.
type JWTConfig struct {
	JWKS     string      // file with the issuer's public keys (RFC 7517); nobody else may be able to write it
	Issuer   string      // what iss must be
	Audience string      // what aud must name
	Log      func(error) // gets the error of a later read of the file; may be nil
}

// JWTs is an [Authenticator] that takes signed tokens (RFC 7519) of one
// issuer: RS256, ES256 or EdDSA by a key that the file has under the token's
// kid, with exp, and within exp and nbf up to half a minute. The principal is
// sub, tenant, roles (a list or words), scope (words) or scp (a list), and
// all claims; its Auth is "jwt".
//
// The file is read again when it changes; while it cannot be read, or is
// wrong, nobody is let in. A token is good until it expires: to take it back
// earlier, take its key out of the file.
type JWTs struct {
	keys watched[map[string]jwtKey]
	c    JWTConfig
}

const (
	maxJWKS = 1 << 20
	maxJWT  = 16 << 10
	leeway  = 30 * time.Second // between the issuer's clock and this one
)

// OpenJWTs reads the key file.
func OpenJWTs(c JWTConfig) (*JWTs, error) {
	switch {
	case c.Issuer == "":
		return nil, errors.New("an issuer is needed: a token of any other must be refused")
	case c.Audience == "":
		return nil, errors.New("an audience is needed: a token for another service must be refused")
	}
	j := &JWTs{c: c, keys: watched[map[string]jwtKey]{
		what: "key file", path: c.JWKS, max: maxJWKS, parse: parseJWKS, log: c.Log,
		forbid: 0o022, why: "lets others write it; chmod go-w it",
	}}
	if err := j.keys.Reload(); err != nil {
		return nil, err
	}
	return j, nil
}

// IsJWT reports whether the bearer token of r has the form of a JWT.
func IsJWT(r *http.Request) bool {
	token, err := bearer(r)
	return err == nil && strings.Count(token, ".") == 2
}

// Authenticate implements [Authenticator].
func (j *JWTs) Authenticate(r *http.Request) (Identity, error) {
	keys, err := j.keys.current()
	if err != nil {
		return Identity{}, err
	}
	token, err := bearer(r)
	if err != nil {
		return Identity{}, err
	}
	claims, err := verifyJWT(keys, token)
	if err != nil {
		return Identity{}, fmt.Errorf("jwt: %w", err)
	}
	p, err := j.principal(claims, time.Now())
	if err != nil {
		return Identity{}, fmt.Errorf("jwt: %w", err)
	}
	return Identity{Principal: p}, nil
}

// Health implements [Sick].
func (j *JWTs) Health() error {
	if _, err := j.keys.current(); err != nil {
		return errors.New("the key set cannot be used, so nobody is let in by a JWT; the server's log says why")
	}
	return nil
}

// verifyJWT checks form and signature and returns the claims.
func verifyJWT(keys map[string]jwtKey, token string) (map[string]any, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(token) > maxJWT {
		return nil, errors.New("not three parts, or too long")
	}
	var raw [3][]byte
	for i, p := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.Strict().DecodeString(p); err != nil {
			return nil, errors.New("not base64url")
		}
	}
	var header struct {
		Alg  string          `json:"alg"`
		Kid  string          `json:"kid"`
		Typ  string          `json:"typ"`
		Crit json.RawMessage `json:"crit"`
	}
	if scan(raw[0]) != nil || json.Unmarshal(raw[0], &header) != nil {
		return nil, errors.New("the header is no JSON object")
	}
	typ := strings.TrimPrefix(strings.ToLower(header.Typ), "application/")
	key, known := keys[header.Kid]
	switch {
	case header.Crit != nil:
		return nil, errors.New("it has critical extensions, of which none is known")
	case typ != "" && typ != "jwt" && typ != "at+jwt":
		return nil, fmt.Errorf("its type is %.40q", header.Typ) // such as one that says who somebody is, and gives no access
	case !known:
		return nil, fmt.Errorf("no key has the kid %.80q", header.Kid)
	case header.Alg != key.alg:
		// The key decides. A token that names none, or HS256 over a public key, would let everybody in.
		return nil, fmt.Errorf("alg is %.20q where the key is for %s", header.Alg, key.alg)
	case !key.verifies([]byte(parts[0]+"."+parts[1]), raw[2]):
		return nil, errors.New("the signature is wrong")
	}
	var claims map[string]any
	if scan(raw[1]) != nil || json.Unmarshal(raw[1], &claims) != nil || claims == nil {
		return nil, errors.New("the claims are no JSON object")
	}
	return claims, nil
}

// principal checks the claims and says whom they name.
func (j *JWTs) principal(claims map[string]any, now time.Time) (policy.Principal, error) {
	exp, ok := claimTime(claims["exp"])
	nbf, nbfOK := claimTime(claims["nbf"])
	sub, _ := claims["sub"].(string)
	tenant, _ := claims["tenant"].(string)
	roles, rolesOK := claimWords(claims["roles"])
	scopes, scopesOK := claimWords(claims["scope"])
	scp, scpOK := claimWords(claims["scp"])
	iss, _ := claims["iss"].(string)
	switch {
	case iss != j.c.Issuer:
		return policy.Principal{}, errors.New("another issuer")
	case !isFor(claims["aud"], j.c.Audience):
		return policy.Principal{}, errors.New("for another audience")
	case !ok:
		return policy.Principal{}, errors.New("no exp")
	case now.After(exp.Add(leeway)):
		return policy.Principal{}, errors.New("expired")
	case claims["nbf"] != nil && (!nbfOK || now.Add(leeway).Before(nbf)):
		return policy.Principal{}, errors.New("not valid yet")
	case sub == "":
		return policy.Principal{}, errors.New("no sub")
	case claims["tenant"] != nil && tenant == "":
		return policy.Principal{}, errors.New("tenant is no string")
	case !rolesOK || !scopesOK || !scpOK:
		return policy.Principal{}, errors.New("roles, scope or scp are no words")
	}
	return policy.Principal{Sub: sub, Tenant: tenant, Auth: "jwt", Roles: roles, Scopes: append(scopes, scp...), Claims: claims}, nil
}

// claimTime reads a NumericDate.
func claimTime(v any) (time.Time, bool) {
	f, ok := v.(float64)
	if !ok || f <= 0 || f >= math.MaxInt32*100 {
		return time.Time{}, false
	}
	return time.Unix(int64(f), 0), true
}

// claimWords reads a list of strings, or words in one string.
func claimWords(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return strings.Fields(v), true
	case []any:
		var out []string
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}

// isFor reports whether aud, a string or a list of them, names want.
func isFor(aud any, want string) bool {
	switch v := aud.(type) {
	case string:
		return v == want
	case []any:
		return slices.Contains(v, any(want))
	}
	return false
}
