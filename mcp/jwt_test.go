package mcp_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/mcp"
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// issuer signs tokens with keys of all kinds.
type issuer struct {
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
	ed  ed25519.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	var err1, err2, err3 error
	i.rsa, err1 = rsa.GenerateKey(rand.Reader, 2048)
	i.ec, err2 = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, i.ed, err3 = ed25519.GenerateKey(rand.Reader)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	return i
}

// jwks is the key set, with one key that is for something else.
func (i *issuer) jwks(t *testing.T) string {
	point, err := i.ec.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"keys":[{"kty":"RSA","kid":"r","alg":"RS256","use":"sig","n":%q,"e":"AQAB"},{"kty":"EC","crv":"P-256","kid":"e","x":%q,"y":%q},`+
		`{"kty":"OKP","crv":"Ed25519","kid":"d","x":%q},{"kty":"RSA","kid":"enc","use":"enc","n":"AQ","e":"AQAB"},{"kty":"EC","crv":"P-521","kid":"p"}]}`,
		b64(i.rsa.N.Bytes()), b64(point[1:33]), b64(point[33:]), b64(i.ed.Public().(ed25519.PublicKey)))
}

func (i *issuer) sign(t *testing.T, header string, claims any) string {
	t.Helper()
	body, err := json.Marshal(claims)
	if s, ok := claims.(string); ok {
		body = []byte(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := b64([]byte(header)) + "." + b64(body)
	var h struct{ Alg, Kid string }
	_ = json.Unmarshal([]byte(header), &h) // some are broken on purpose
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	switch {
	case h.Alg == "HS256": // as one who takes the public key for a secret
		m := hmac.New(sha256.New, i.rsa.N.Bytes())
		m.Write([]byte(text))
		sig = m.Sum(nil)
	case h.Kid == "e":
		r, s, err := ecdsa.Sign(rand.Reader, i.ec, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		sig = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case h.Kid == "d":
		sig = ed25519.Sign(i.ed, []byte(text))
	case h.Alg != "none":
		if sig, err = rsa.SignPKCS1v15(rand.Reader, i.rsa, crypto.SHA256, sum[:]); err != nil {
			t.Fatal(err)
		}
	}
	return text + "." + b64(sig)
}

// Threats: HT-1.
func TestJWT(t *testing.T) {
	iss := newIssuer(t)
	path := filepath.Join(t.TempDir(), "jwks.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(iss.jwks(t))
	var logged []string
	j, err := mcp.OpenJWTs(mcp.JWTConfig{JWKS: path, Issuer: "https://id.example", Audience: "donax", Log: func(err error) { logged = append(logged, err.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token string) string {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		who, err := j.Authenticate(r)
		if err != nil {
			return err.Error()
		}
		p := who.Principal
		return fmt.Sprintf("%s/%s %s %v %v %v", p.Tenant, p.Sub, p.Auth, p.Roles, p.Scopes, p.Claims["team"])
	}
	now := time.Now().Unix()
	base := map[string]any{
		"iss": "https://id.example", "aud": []any{"other", "donax"}, "sub": "alice", "exp": now + 60, "nbf": now - 60,
		"tenant": "t1", "roles": []any{"dev"}, "scope": "run read", "team": "blue",
	}
	with := func(name string, v any) map[string]any {
		c := maps.Clone(base)
		if c[name] = v; v == nil {
			delete(c, name)
		}
		return c
	}
	const good = "t1/alice jwt [dev] [run read] blue"
	for _, c := range []struct {
		header string
		claims any
		want   string
	}{
		{`{"alg":"RS256","kid":"r","typ":"JWT"}`, base, good},
		{`{"alg":"ES256","kid":"e","typ":"at+jwt"}`, base, good},
		{`{"alg":"EdDSA","kid":"d"}`, base, good},
		{`{"alg":"RS256","kid":"r"}`, with("aud", "donax"), good},
		{`{"alg":"RS256","kid":"r"}`, with("exp", now-10), good}, // within the leeway
		{`{"alg":"none","kid":"r"}`, base, "where the key is for RS256"},
		{`{"alg":"None","kid":"r"}`, base, "where the key is for RS256"},
		{`{"kid":"r"}`, base, "where the key is for RS256"},
		{`{"alg":"HS256","kid":"r"}`, base, "where the key is for RS256"},
		{`{"alg":"RS512","kid":"r"}`, base, "where the key is for RS256"},
		{`{"alg":"ES256","kid":"r"}`, base, "where the key is for RS256"},
		{`{"alg":"RS256","kid":"e"}`, base, "where the key is for ES256"},
		{`{"alg":"RS256","kid":"enc"}`, base, "no key has the kid"},
		{`{"alg":"RS256"}`, base, "no key has the kid"},
		{`{"alg":"RS256","kid":"../r"}`, base, "no key has the kid"},
		{`{"alg":"RS256","kid":"r","crit":["b64"],"b64":false}`, base, "critical"},
		{`{"alg":"RS256","kid":"r","typ":"logout+jwt"}`, base, "its type is"},
		{`{"alg":"RS256","kid":"r","kid":"r"}`, base, "header"},
		{`{"alg":"RS256","kid":"r"}`, with("iss", "https://evil.example"), "issuer"},
		{`{"alg":"RS256","kid":"r"}`, with("iss", nil), "issuer"},
		{`{"alg":"RS256","kid":"r"}`, with("aud", "donax2"), "audience"},
		{`{"alg":"RS256","kid":"r"}`, with("aud", nil), "audience"},
		{`{"alg":"RS256","kid":"r"}`, with("aud", map[string]any{"donax": 1}), "audience"},
		{`{"alg":"RS256","kid":"r"}`, with("exp", now-120), "expired"},
		{`{"alg":"RS256","kid":"r"}`, with("exp", nil), "no exp"},
		{`{"alg":"RS256","kid":"r"}`, with("exp", "never"), "no exp"},
		{`{"alg":"RS256","kid":"r"}`, with("exp", 1e300), "no exp"},
		{`{"alg":"RS256","kid":"r"}`, with("nbf", now+120), "not valid yet"},
		{`{"alg":"RS256","kid":"r"}`, with("nbf", "now"), "not valid yet"},
		{`{"alg":"RS256","kid":"r"}`, with("sub", nil), "no sub"},
		{`{"alg":"RS256","kid":"r"}`, with("sub", 7), "no sub"},
		{`{"alg":"RS256","kid":"r"}`, with("tenant", 7), "tenant"},
		{`{"alg":"RS256","kid":"r"}`, with("roles", []any{1}), "no words"},
		{`{"alg":"RS256","kid":"r"}`, `{"sub":"alice","sub":"bob"}`, "claims"},
		{`{"alg":"RS256","kid":"r"}`, `null`, "claims"},
	} {
		if got := ask(iss.sign(t, c.header, c.claims)); got != c.want && (c.want == good || !strings.Contains(got, c.want)) {
			t.Errorf("%s %v: %s, want %s", c.header, c.claims, got, c.want)
		}
	}
	token := iss.sign(t, `{"alg":"RS256","kid":"r"}`, base)
	parts := strings.Split(token, ".")
	for _, bad := range []string{
		"", "a.b.c", parts[0] + "." + parts[1] + ".", parts[0] + "." + parts[1], token + ".x", token + "=", parts[0] + "." + b64([]byte(`{"sub":"eve"}`)) + "." + parts[2],
		iss.sign(t, `{"alg":"ES256","kid":"e"}`, base) + "AA", strings.Repeat("a", 20000) + ".b.c",
	} {
		if got := ask(bad); !strings.HasPrefix(got, "jwt: ") {
			t.Errorf("%.60s: %s", bad, got)
		}
	}
	// ES256 twice: a signature in another encoding, and one of zeros.
	ecToken := strings.Split(iss.sign(t, `{"alg":"ES256","kid":"e"}`, base), ".")
	if got := ask(ecToken[0] + "." + ecToken[1] + "." + b64(make([]byte, 64))); !strings.Contains(got, "signature") {
		t.Error(got)
	}

	// Another issuer's key of the same kid, a wrong file, no file: nobody gets in.
	write(newIssuer(t).jwks(t))
	if got := ask(token); !strings.Contains(got, "signature") {
		t.Errorf("with other keys: %s", got)
	}
	write("oops")
	if got := ask(token); !strings.Contains(got, "key file") {
		t.Errorf("with a bad file: %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := ask(token); !strings.Contains(got, "key file") || len(logged) != 2 {
		t.Errorf("without its file: %s, logged %q", got, logged)
	}
	write(iss.jwks(t))
	if got := ask(token); got != good {
		t.Errorf("right again: %s", got)
	}
}

func TestJWKS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jwks.json")
	short := new(big.Int).Lsh(big.NewInt(1), 1023)
	for _, c := range []struct {
		text, want string
		mode       os.FileMode
	}{
		{`{}`, "keys", 0o644},
		{`{"keys":[]}`, "no key for", 0o644},
		{`{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"a"}]}`, "secret", 0o644},
		{`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA","kid":"a"}]}`, "secret", 0o644},
		{`{"keys":[{"kty":"RSA","n":"` + b64(short.Bytes()) + `","e":"AQAB","kid":"a"}]}`, "1024 bits", 0o644},
		{`{"keys":[{"kty":"EC","crv":"P-256","x":"` + b64(make([]byte, 32)) + `","y":"` + b64(make([]byte, 32)) + `","kid":"a"}]}`, "no P-256 key", 0o644},
		{`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + b64(make([]byte, 32)) + `"}]}`, "no kid", 0o644},
		{`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + b64(make([]byte, 32)) + `","kid":"a"},{"kty":"OKP","crv":"Ed25519","x":"` + b64(make([]byte, 32)) + `","kid":"a"}]}`, "twice", 0o644},
		{`{"keys":[],"keys":[]}`, "duplicate", 0o644},
		{`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + b64(make([]byte, 32)) + `","kid":"a"}]}`, "lets others write", 0o666},
	} {
		os.Remove(path)
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := mcp.OpenJWTs(mcp.JWTConfig{JWKS: path, Issuer: "i", Audience: "a"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	for _, c := range []mcp.JWTConfig{{JWKS: path, Issuer: "i"}, {JWKS: path, Audience: "a"}, {JWKS: path + "x", Issuer: "i", Audience: "a"}} {
		if _, err := mcp.OpenJWTs(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

func FuzzJWT(f *testing.F) {
	for _, s := range []string{"a.b.c", "eyJhbGciOiJFZERTQSIsImtpZCI6ImEifQ.e30.AA", "..", "eyJhbGciOiJub25lIn0.e30."} {
		f.Add(s)
	}
	path := filepath.Join(f.TempDir(), "jwks.json")
	if err := os.WriteFile(path, []byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"`+b64(make([]byte, 32))+`","kid":"a"}]}`), 0o600); err != nil {
		f.Fatal(err)
	}
	j, err := mcp.OpenJWTs(mcp.JWTConfig{JWKS: path, Issuer: "i", Audience: "a"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header["Authorization"] = []string{"Bearer " + token}
		if who, err := j.Authenticate(r); err == nil {
			t.Errorf("%q is taken for %v", token, who)
		}
	})
}
