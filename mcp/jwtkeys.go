package mcp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
)

// A jwtKey is one public key of a JWKS (RFC 7517).
type jwtKey struct {
	alg    string // the one algorithm that it is used with (RFC 7518, RFC 8037)
	public crypto.PublicKey
}

const (
	minRSA = 2048 // bits of a modulus
	maxRSA = 8192 // beyond, one check costs too much
)

// A jwk is a key as a JWKS spells it.
type jwk struct {
	Kty string `json:"kty"`
	Use string `json:"use"`
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	Crv string `json:"crv"`
	N   string `json:"n"`
	E   string `json:"e"`
	X   string `json:"x"`
	Y   string `json:"y"`
	D   string `json:"d"` // of a private key
	K   string `json:"k"` // of a symmetric one
}

// parseJWKS reads a key set, by kid. Keys for other purposes and of other
// kinds are left out; one that is secret is an error, for it must not lie in
// a file of public keys, and a symmetric one could be taken for a public one.
func parseJWKS(b []byte) (map[string]jwtKey, error) {
	if bad := scan(b); bad != nil { // its words never quote a key
		return nil, bad
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(b, &set); err != nil || set.Keys == nil {
		return nil, errors.New(`not a JSON object with "keys"`)
	}
	keys := map[string]jwtKey{}
	for i, raw := range set.Keys {
		var k jwk
		if json.Unmarshal(raw, &k) != nil {
			return nil, fmt.Errorf("key %d: a member has the wrong type", i)
		}
		switch {
		case k.Kty == "oct" || k.K != "" || k.D != "":
			return nil, fmt.Errorf("key %d is secret: only public keys belong here", i)
		case k.Use != "" && k.Use != "sig":
			continue
		}
		key, err := k.public()
		switch {
		case err != nil:
			return nil, fmt.Errorf("key %d: %w", i, err)
		case key.public == nil || k.Alg != "" && k.Alg != key.alg:
			continue
		case k.Kid == "":
			return nil, fmt.Errorf("key %d has no kid", i)
		case keys[k.Kid].public != nil:
			return nil, fmt.Errorf("key %d: the kid is there twice", i)
		}
		keys[k.Kid] = key
	}
	if len(keys) == 0 {
		return nil, errors.New("no key for RS256, ES256 or EdDSA")
	}
	return keys, nil
}

// public returns the key, or none of a kind that is not used here.
func (k *jwk) public() (jwtKey, error) {
	bad := func(what string) (jwtKey, error) { return jwtKey{}, errors.New(what) }
	switch {
	case k.Kty == "RSA":
		n, err1 := base64.RawURLEncoding.Strict().DecodeString(k.N)
		e, err2 := base64.RawURLEncoding.Strict().DecodeString(k.E)
		if err1 != nil || err2 != nil || len(e) == 0 || len(e) > 4 {
			return bad("no RSA key")
		}
		key := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
		if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
			return bad(fmt.Sprintf("an RSA key of %d bits: %d to %d are taken", bits, minRSA, maxRSA))
		}
		if key.E < 3 || key.E%2 == 0 || key.E > 1<<31-1 {
			return bad("an RSA key with an unusable exponent")
		}
		return jwtKey{"RS256", key}, nil
	case k.Kty == "EC" && k.Crv == "P-256":
		x, err1 := base64.RawURLEncoding.Strict().DecodeString(k.X)
		y, err2 := base64.RawURLEncoding.Strict().DecodeString(k.Y)
		if err1 != nil || err2 != nil || len(x) != 32 || len(y) != 32 {
			return bad("no P-256 key")
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
		if err != nil { // the point is not on the curve
			return bad("no P-256 key")
		}
		return jwtKey{"ES256", key}, nil
	case k.Kty == "OKP" && k.Crv == "Ed25519":
		x, err := base64.RawURLEncoding.Strict().DecodeString(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return bad("no Ed25519 key")
		}
		return jwtKey{"EdDSA", ed25519.PublicKey(x)}, nil
	}
	return jwtKey{}, nil
}

// verifies reports whether sig is the key's signature of text.
func (k jwtKey) verifies(text, sig []byte) bool {
	sum := sha256.Sum256(text)
	switch pub := k.public.(type) {
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(pub, crypto.SHA256, sum[:], sig) == nil
	case *ecdsa.PublicKey:
		if len(sig) != 64 {
			return false
		}
		return ecdsa.Verify(pub, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
	case ed25519.PublicKey:
		return ed25519.Verify(pub, text, sig)
	}
	return false
}
