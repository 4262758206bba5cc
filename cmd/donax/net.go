package main

import (
	"crypto/x509"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/egress"
	"github.com/spf13/pflag"
)

// netFlags are the flags about the network.
type netFlags struct {
	allow   []string
	secrets []string
	ca      string
	limit   size
}

func (f *netFlags) add(fl *pflag.FlagSet) {
	f.limit = size(egress.DefaultLimits.Response)
	fl.StringArrayVar(&f.allow, "allow-net", nil, "let curl and wget reach `HOST[:PORT]`: a name, *.NAME, an address or network, or * for all that is public (repeatable; with --policy both must allow)")
	fl.StringArrayVar(&f.secrets, "net-secret", nil, "add a header to requests to a host, unseen by the line: `HOST[:PORT]=HEADER:env:VAR` or HOST=HEADER:file:PATH (repeatable)")
	fl.StringVar(&f.ca, "ca", "", "trust the certificates in `FILE` (PEM), too")
	fl.Var(&f.limit, "net-limit", "bytes of one response or upload, like 16MiB; those of a line together may have 16 times as many")
}

// network returns what makes the requests of a sandbox; nil when nothing
// could be allowed.
func (f *netFlags) network(policies bool) (sandbox.Network, error) {
	if len(f.allow) == 0 && !policies {
		if len(f.secrets) > 0 {
			return nil, usageError("--allow-net HOST", "--net-secret: no host may be reached")
		}
		return nil, nil
	}
	cfg := egress.Config{Limits: egress.Limits{Request: int64(f.limit), Response: int64(f.limit)}}
	for _, s := range f.allow {
		r, err := egress.ParseRule(s)
		if err != nil {
			return nil, usageError("--allow-net example.com", "--allow-net %v", err)
		}
		cfg.Allow = append(cfg.Allow, r)
	}
	for _, s := range f.secrets {
		secret, err := parseSecret(s)
		if err != nil {
			return nil, err
		}
		cfg.Secrets = append(cfg.Secrets, secret)
	}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, usageError("ls "+f.ca, "--ca: %v", err)
		}
		if cfg.Roots, err = x509.SystemCertPool(); err != nil {
			cfg.Roots = x509.NewCertPool()
		}
		if !cfg.Roots.AppendCertsFromPEM(pem) {
			return nil, usageError("head "+f.ca, "--ca %s: there is no certificate in it", f.ca)
		}
	}
	e, err := egress.New(cfg)
	if err != nil {
		return nil, usageError("--net-secret api.example.com=Authorization:env:API_AUTH", "--net-secret: %v", err)
	}
	return e, nil
}

// parseSecret reads HOST[:PORT]=HEADER:env:VAR and HOST[:PORT]=HEADER:file:PATH.
// No error shows more of it than its host: whoever mistakes it may have put
// the secret itself there.
func parseSecret(flag string) (egress.Secret, error) {
	try := "--net-secret api.example.com=Authorization:env:API_AUTH"
	hostport, rest, ok := strings.Cut(flag, "=")
	header, from, ok2 := strings.Cut(rest, ":")
	kind, name, ok3 := strings.Cut(from, ":")
	if !ok || !ok2 || !ok3 {
		return egress.Secret{}, usageError(try, "--net-secret %s=...: want HOST=HEADER:env:VAR or HOST=HEADER:file:PATH", hostport)
	}
	s := egress.Secret{Host: strings.ToLower(strings.Trim(hostport, "[]")), Header: header}
	if host, port, err := net.SplitHostPort(hostport); err == nil {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 {
			return s, usageError(try, "--net-secret %s=...: %q is no port", hostport, port)
		}
		s.Host = strings.ToLower(host)
	}
	switch kind {
	case "env":
		if s.Value, ok = os.LookupEnv(name); !ok {
			return s, usageError(try, "--net-secret %s=...: donax itself has no such variable", hostport)
		}
	case "file":
		b, err := os.ReadFile(name)
		if err != nil {
			return s, usageError(try, "--net-secret %s=...: %v", hostport, err)
		}
		s.Value = strings.TrimRight(string(b), "\r\n")
	default:
		return s, usageError(try, "--net-secret %s=...: want env or file after the header", hostport)
	}
	return s, nil
}
