package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/spf13/cobra"
)

// httpFlags are the flags of serve that are about HTTP.
type httpFlags struct {
	addr        string
	tokenFile   string
	jwt         mcp.JWTConfig
	cert, key   string
	behindProxy bool
	hosts       []string
	origins     []string
}

func (f *httpFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.addr, "http", "", "serve streamable HTTP at `ADDR`, like 127.0.0.1:8417, path /mcp; needs --token-file or --jwks-file")
	fl.StringVar(&f.tokenFile, "token-file", "", "bearer tokens in `FILE`: one bare token, or JSON with several and their principals")
	fl.StringVar(&f.jwt.JWKS, "jwks-file", "", "take JWTs signed by a key in `FILE` (a JWK set), too; needs --jwt-issuer and --jwt-audience")
	fl.StringVar(&f.jwt.Issuer, "jwt-issuer", "", "what iss of a JWT must be, `URL`")
	fl.StringVar(&f.jwt.Audience, "jwt-audience", "", "what aud of a JWT must name, `NAME`")
	fl.StringVar(&f.cert, "tls-cert", "", "certificate `FILE` (PEM) for HTTPS")
	fl.StringVar(&f.key, "tls-key", "", "its private key `FILE` (PEM)")
	fl.BoolVar(&f.behindProxy, "behind-proxy", false, "allow an address off loopback without TLS: a proxy in front adds it")
	fl.StringArrayVar(&f.hosts, "allow-host", nil, "`NAME` by which clients may reach the server beside localhost (repeatable)")
	fl.StringArrayVar(&f.origins, "allow-origin", nil, "`ORIGIN` of web pages that may call (repeatable)")
}

// check refuses what would be unsafe by accident.
func (f *httpFlags) check() error {
	if f.addr == "" {
		if f.tokenFile != "" || f.jwt.JWKS != "" || f.jwt.Issuer != "" || f.jwt.Audience != "" || f.cert != "" || f.key != "" || f.behindProxy || len(f.hosts)+len(f.origins) > 0 {
			return usageError("--http 127.0.0.1:8417", "--token-file and its neighbours are for --http, which was not given")
		}
		return nil
	}
	if f.tokenFile == "" && f.jwt.JWKS == "" {
		return usageError("(umask 077; openssl rand -hex 32 > token) && donax serve --http "+f.addr+" --token-file token", "--http needs --token-file or --jwks-file: nobody is served without a token")
	}
	if jwt := f.jwt; (jwt.JWKS == "") != (jwt.Issuer == "") || (jwt.JWKS == "") != (jwt.Audience == "") {
		// A key alone says nothing: its issuer signs tokens for others, too.
		return usageError("--jwks-file keys.json --jwt-issuer https://id.example --jwt-audience donax", "--jwks-file, --jwt-issuer and --jwt-audience belong together")
	}
	if (f.cert == "") != (f.key == "") {
		return usageError("--tls-cert cert.pem --tls-key key.pem", "--tls-cert and --tls-key belong together")
	}
	if err := checkKeyFile(f.key); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return usageError("--http 127.0.0.1:8417", "--http %q: %v", f.addr, err)
	}
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	if !loopback && f.cert == "" && !f.behindProxy {
		// A bearer token in clear text is anybody's on the way.
		return usageError("--tls-cert cert.pem --tls-key key.pem, or --behind-proxy", "--http %q is not on loopback and has no TLS", f.addr)
	}
	return nil
}

// checkKeyFile refuses a private key that every user of the machine can read.
func checkKeyFile(name string) error {
	if name == "" || runtime.GOOS == "windows" {
		return nil
	}
	fi, err := os.Stat(name)
	if err != nil {
		return usageError("ls "+name, "--tls-key: %v", err)
	}
	if fi.Mode().Perm()&0o007 != 0 {
		return usageError("chmod 600 "+name, "--tls-key %s: mode %04o lets every user read it", name, fi.Mode().Perm())
	}
	return nil
}

// auth is the authenticator of the token files: a token in the form of a JWT
// is taken for one where those are configured.
func (f *httpFlags) auth(log *slog.Logger) (mcp.Authenticator, error) {
	var a anyAuth
	var err error
	if f.tokenFile != "" {
		if a.tokens, err = mcp.OpenTokens(f.tokenFile, func(err error) { log.Error("nobody is let in by a token of the file", "error", err) }); err != nil {
			return nil, usageError("chmod 600 "+f.tokenFile, "--token-file: %v", err)
		}
	}
	if f.jwt.JWKS != "" {
		f.jwt.Log = func(err error) { log.Error("nobody is let in by a JWT", "error", err) }
		if a.jwts, err = mcp.OpenJWTs(f.jwt); err != nil {
			return nil, usageError("--jwks-file keys.json", "--jwks-file: %v", err)
		}
	}
	return a, nil
}

// anyAuth takes tokens of both kinds.
type anyAuth struct {
	tokens *mcp.Tokens // may be nil
	jwts   *mcp.JWTs   // may be nil
}

// Authenticate implements mcp.Authenticator.
func (a anyAuth) Authenticate(r *http.Request) (mcp.Identity, error) {
	if a.jwts != nil && (a.tokens == nil || mcp.IsJWT(r)) {
		return a.jwts.Authenticate(r)
	}
	return a.tokens.Authenticate(r)
}

// Health implements mcp.Sick.
func (a anyAuth) Health() error {
	var errs []error
	if a.tokens != nil {
		errs = append(errs, a.tokens.Health())
	}
	if a.jwts != nil {
		errs = append(errs, a.jwts.Health())
	}
	return errors.Join(errs...)
}

// drainTime is how long requests may take to end at a shutdown.
const drainTime = 5 * time.Second

// Connections that may be open: in all, and of one address.
const (
	maxConns     = 4096
	maxHostConns = 2048
)

// serve serves until ctx ends, then lets requests finish.
func (f *httpFlags) serve(ctx context.Context, server *mcp.Server, log *slog.Logger) error {
	auth, err := f.auth(log)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", f.addr)
	if err != nil {
		return &exitError{exitFault, &hint{err, "another port"}}
	}
	perHost := maxHostConns
	if f.behindProxy {
		perHost = 0 // the proxy is the one host
	}
	ln = mcp.LimitConns(ln, maxConns, perHost)
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	draining := make(chan struct{})
	srv := mcp.NewHTTPServer(server.Handler(base, mcp.HTTPConfig{
		Auth: auth, AllowedHosts: f.hosts, AllowedOrigins: f.origins, Draining: draining,
	}))
	log.Info("serving MCP", "address", ln.Addr().String(), "path", "/mcp", "tls", f.cert != "")
	ended := make(chan error, 1)
	go func() {
		if f.cert != "" {
			ended <- srv.ServeTLS(ln, f.cert, f.key)
		} else {
			ended <- srv.Serve(ln)
		}
	}()
	select {
	case err := <-ended:
		return &exitError{exitFault, fmt.Errorf("serve: %w", err)}
	case <-ctx.Done():
	}
	close(draining)
	stop, done := context.WithTimeout(base, drainTime)
	defer done()
	if err := srv.Shutdown(stop); err != nil && !errors.Is(err, http.ErrServerClosed) {
		log.Warn("connections were cut", "error", err)
	}
	cancel()
	return server.Close()
}
